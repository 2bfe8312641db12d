// What a supervisor is told by a real gateway: systemd through its own program, for which a stand-in on the path writes
// down every word; s6 through the descriptor it waits on.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { linesIn } from "../lines.ts";
import { client } from "./client.ts";
import { newHome, root, runGateway, start, environmentOf, endWhoeverServes, atEnd, until, stateOf } from "./stage.ts";

/** A folder for the path with a `systemd-notify` in it, and what it was told so far. */
function standIn(home: string): { readonly path: string; told(): readonly string[] } {
  const folder = join(dirname(home), "programs");
  const file = join(dirname(home), "told.txt");
  mkdirSync(folder);
  writeFileSync(join(folder, "systemd-notify"), `#!/bin/sh\nprintf '%s\\n' "$@" >> '${file}'\n`);
  chmodSync(join(folder, "systemd-notify"), 0o755);
  return {
    path: `${folder}${delimiter}${process.env["PATH"]}`,
    told: () => linesIn(file),
  };
}

async function heard(told: () => readonly string[], word: string): Promise<void> {
  await until(told, (all) => all.includes(word), `systemd hears ${word}`);
}

test("systemd hears READY with a status when it answers, signs of life, and STOPPING with the reason", async (t) => {
  const home = newHome(t);
  const { path, told } = standIn(home);
  const env = { PATH: path, NOTIFY_SOCKET: "/run/none", WATCHDOG_USEC: "300000" };
  const gateway = await runGateway(t, home, { env });
  await heard(told, "READY=1");
  assert.ok(told().includes("STATUS=running; web, terminal, api connected, 0 turns running"), told().join("\n"));
  await heard(told, "WATCHDOG=1");
  assert.ok(!told().includes("STOPPING=1"));
  await client(gateway).send("c1", "m1", "hello");
  assert.equal(await gateway.end(), 0);
  await heard(told, "STOPPING=1");
  assert.match(told().join("\n"), /^STATUS=(?:stopping|draining): it was asked to stop by SIGINT$/m);
  assert.equal(told().filter((one) => one === "READY=1").length, 1);
});

/** Under a shell that holds the other end of descriptor 3 and says when something came. */
function withReadiness(t: TestContext, home: string) {
  const fifo = join(dirname(home), "ready");
  const script = `mkfifo '${fifo}'; (read line < '${fifo}'; echo "heard a line") & exec 3> '${fifo}'; exec "$0" "$1" gateway run`;
  const env = { ...environmentOf(home), EVERTURN_READY_FD: "3" };
  const shell = start(t, "sh", ["-c", script, process.execPath, join(root, "src", "main.ts")], { cwd: root, env });
  atEnd(t, () => endWhoeverServes(home));
  return shell;
}

test("s6 hears of readiness on its descriptor, once it answers", async (t) => {
  const home = newHome(t);
  const shell = withReadiness(t, home);
  await until(shell.out, (said) => said.includes("heard a line"), "readiness is told");
  const { url } = stateOf(home);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  assert.equal(await shell.end(), 0);
});
