// The folder as text, and its scripts run by a real shell; that s6 acts on it is proved in test/services.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { table } from "../testing/table.ts";
import type { Place } from "./kinds.ts";
import { s6Files, s6Service, s6State, shellWord } from "./s6.ts";

const place: Place = {
  home: "/data",
  name: "everturn",
  node: "/opt/node/bin/node",
  main: "/opt/everturn/dist/main.js",
  passOn: {},
  user: { name: "ann", uid: 1000, home: "/home/ann" },
};

function fileIn(drain: number, name: string, of: Place = place): string {
  return s6Files(of, "/scan/everturn", drain).find(({ path }) => path === `/scan/everturn/${name}`)?.text ?? "";
}

test("readiness by descriptor, a long-running process, the time of a stop", () => {
  assert.equal(fileIn(0, "notification-fd"), "3\n");
  assert.equal(fileIn(0, "type"), "longrun\n");
  assert.equal(fileIn(0, "timeout-kill"), "90000\n");
  assert.equal(fileIn(100, "timeout-kill"), "130000\n");
  const run = fileIn(0, "run");
  for (const line of ["EVERTURN_HOME='/data'", "EVERTURN_SUPERVISOR='s6'", "EVERTURN_READY_FD='3'"])
    assert.ok(run.includes(`export ${line}\n`), line);
  assert.match(run, /\nexec '\/opt\/node\/bin\/node' '\/opt\/everturn\/dist\/main\.js' gateway run\n$/);
});

table(
  "what the finish script makes of an end",
  [
    { name: "a planned stop stays down", code: 0, answer: 125 },
    { name: "a wrong configuration stays down", code: 78, answer: 125 },
    { name: "a home that another one serves stays down", code: 79, answer: 125 },
    { name: "a restart comes back", code: 75, answer: 0 },
    { name: "an unannounced signal comes back", code: 1, answer: 0 },
    { name: "a mistake of ours comes back", code: 70, answer: 0 },
    { name: "a kill comes back", code: 256, answer: 0 },
  ],
  ({ code, answer }) => {
    const { status } = spawnSync("sh", ["-c", fileIn(0, "finish"), "finish", String(code), "15"]);
    assert.equal(status, answer);
  },
);

test("whatever is in a path reaches the program as it is", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-s6-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const odd = `it's "odd" $HOME \`x\` %h \\ &;`;
  const program = join(folder, odd);
  writeFileSync(program, '#!/bin/sh\nprintf "%s|" "$EVERTURN_HOME" "$@"\n');
  chmodSync(program, 0o755);
  const run = fileIn(0, "run", { ...place, node: program, main: odd, home: odd });
  const { stdout } = spawnSync("sh", ["-c", run], { encoding: "utf8" });
  assert.equal(stdout, [odd, odd, "gateway", "run", ""].join("|"));
  assert.equal(shellWord("'"), "''\\'''");
});

test("commands", () => {
  const service = s6Service(place, "/run/service");
  assert.equal(service.label, "/run/service/everturn");
  assert.deepEqual(
    [service.start, service.stop, service.restart].map(([one]) => [one?.program, ...(one?.words ?? [])].join(" ")),
    ["s6-svc -u /run/service/everturn", "s6-svc -wD -d /run/service/everturn", "s6-svc -1u /run/service/everturn"],
  );
});

table(
  "what s6-svstat means",
  [
    { name: "runs", code: 0, out: "true\n", state: "running" },
    { name: "is down", code: 0, out: "false\n", state: "stopped" },
    { name: "nobody supervises it", code: 1, out: "", state: "missing" },
    { name: "no answer", code: 111, out: "", state: "unknown" },
  ] as const,
  ({ code, out, state }) => assert.equal(s6State({ code, out, err: "" }), state),
);
