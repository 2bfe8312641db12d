// Commands of the terminal tool in a real sandbox, as jobs: nothing of them is left, and they outlive the gateway with the
// wall around them. Needs bubblewrap and the right to make namespaces.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { noGrant } from "../../src/core/grant.ts";
import type { ToolResult } from "../../src/core/journal.ts";
import { until } from "../process/stage.ts";
import { context, marksOf, newJobsHome } from "./jobs-stage.ts";
import { sandboxMissing } from "./sandbox-stage.ts";

const skip = await sandboxMissing();
const outputOf = (result: ToolResult) => (result.type === "ok" ? String(result.output) : assert.fail(result.why));
const daemon = "setsid sh -c 'trap \"\" TERM; sleep 600' >/dev/null 2>&1 & echo begun";

test("daemons, forks and deaf ones end with it: at the end, at the limit, and when the turn is stopped", {
  skip,
}, async (t) => {
  const one = newJobsHome(t, { choice: "bwrap" });
  const { terminal, workspace } = one;
  const left = (key: string) => marksOf(one, key);
  assert.match(outputOf(await terminal.run({ command: daemon }, context("k1"))), /^\[exit code 0 .*\nbegun$/);
  assert.deepEqual(await left("k1"), []);
  const command = `${daemon}; trap '' TERM; sleep 600; sleep 600`;
  assert.match(outputOf(await terminal.run({ command, timeoutSeconds: 1 }, context("k2"))), /time limit was over/);
  assert.deepEqual(await left("k2"), []);
  const stop = new AbortController();
  const waiting = { command: `${daemon}; touch there; sleep 600` };
  const running = terminal.run(waiting, context("k3", { signal: stop.signal }));
  await until(() => existsSync(join(workspace, "there")), Boolean, "it runs");
  stop.abort(Object.assign(new Error("broken off"), { why: "cancelled" }));
  await assert.rejects(running, /broken off/);
  assert.deepEqual(await left("k3"), []);
});

test("exit codes, output and folders are as without one", { skip }, async (t) => {
  const { terminal, workspace } = newJobsHome(t, { choice: "bwrap" });
  mkdirSync(join(workspace, "sub"));
  const commit = "git init -q . && git commit -qm x --allow-empty && git log --oneline | wc -l";
  const cases: readonly (readonly [input: object, says: RegExp])[] = [
    [{ command: "pwd; exit 3", cwd: "sub" }, /^\[exit code 3 after .*\/workspace\/sub$/s],
    [{ command: "echo a >/dev/stderr; echo b" }, /\]\na\nb$/],
    [{ command: "kill -KILL $$" }, /^\[exit code 137 \(as after SIGKILL/],
    [{ command: commit }, /\]\n1$/],
    [
      { command: "python3 -m venv v && v/bin/python -c 'import multiprocessing as m; print(m.Lock() is not None)'" },
      /\]\nTrue$/,
    ],
  ];
  for (const [input, says] of cases)
    assert.match(outputOf(await terminal.run(input, context(JSON.stringify(input)))), says);
  const hosts = context("hosts", { grant: { ...noGrant, hosts: ["example.org"] } });
  assert.match(
    outputOf(await terminal.run({ command: "curl -s http://localhost.example.net/; exit 4" }, hosts)),
    /exit code 4 .*\n.*no access to/s,
  );
});

test("a gateway that is killed leaves the command behind its wall, and the next one has its result", {
  skip,
}, async (t) => {
  const one = newJobsHome(t, { choice: "bwrap" });
  const { home, workspace, terminal } = one;
  writeFileSync(join(home, "control.token"), "PLANTED");
  const command = `touch up; until [ -e go ]; do sleep 0.05; done; cat ${home}/control.token; id -u; exit 6`;
  const driver = start(t, home, "k1", command);
  await until(() => existsSync(join(workspace, "up")), Boolean, "it runs");
  driver.kill("SIGKILL");
  await until(
    () => driver.exitCode ?? driver.signalCode,
    (end) => end !== null,
    "the gateway is dead",
  );
  assert.ok((await marksOf(one, "k1")).length > 0, "the command goes on");
  writeFileSync(join(workspace, "go"), "");
  const result = await terminal.check?.({ command }, context("k1"));
  assert.match(
    outputOf(result ?? assert.fail("it is not known")),
    /^\[exit code 6 .*\n.*No such file or directory\n1000\n/s,
  );
  assert.deepEqual(await marksOf(one, "k1"), []);
  assert.equal(readFileSync(join(home, "control.token"), "utf8"), "PLANTED");
});

function start(t: TestContext, home: string, key: string, command: string) {
  const words = [join(import.meta.dirname, "jobs-driver.ts"), home, "run", key, command];
  const child = spawn(process.execPath, words, { env: { ...process.env, DRIVER_SANDBOX: "bwrap" }, stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
  return child;
}
