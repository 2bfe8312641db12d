// Commands that outlive the gateway, with real processes: killed in the middle, found again, ended by a stop.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ToolResult } from "../../src/core/journal.ts";
import { endJobs } from "../../src/host/jobs/end.ts";
import { jobId } from "../../src/host/jobs/folder.ts";
import { openJobs } from "../../src/host/jobs/jobs.ts";
import { withJobs } from "../../src/host/jobs/together.ts";
import { isAlive } from "../../src/host/identity.ts";
import { openProcesses } from "../../src/host/processes.ts";
import { type Started, environmentOf, root, start, until, within } from "../process/stage.ts";
import { type Home, context, marksOf, newJobsHome, stageTools } from "./jobs-stage.ts";

type Line = { readonly ready?: unknown; readonly checked?: string | null; readonly result?: ToolResult };

type Mode = "run" | "check" | "folder";

function driver(t: TestContext, home: string, mode: Mode, key: string, command: string, dieAfterMs?: number) {
  const death = dieAfterMs === undefined ? [] : [String(dieAfterMs)];
  const words = [join(root, "test", "agent", "jobs-driver.ts"), home, mode, key, command, ...death];
  const one = start(t, process.execPath, words, { env: environmentOf(home) });
  const lines = () =>
    one
      .out()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  return { ...one, lines };
}

type Driver = Started & { readonly lines: () => readonly Line[] };

async function resultOf(one: Driver): Promise<ToolResult> {
  assert.equal(await within(one.exit, `it did not end: ${one.err()}`), 0, one.err());
  const found = one.lines().findLast((line) => line.result !== undefined)?.result;
  return found ?? assert.fail(`no result: ${one.out()} ${one.err()}`);
}

const outputOf = (result: ToolResult) => (result.type === "ok" ? String(result.output) : assert.fail(result.why));

/** Says when it has begun, and counts how often it does. */
const counted = (rest: string) => `echo begun >>count; ${rest}`;
const countIn = ({ workspace }: Home) =>
  existsSync(join(workspace, "count")) ? readFileSync(join(workspace, "count"), "utf8").split("\n").length - 1 : 0;

const holderIn = (home: string, key: string) =>
  (JSON.parse(readFileSync(join(home, "jobs", jobId(key), "claim"), "utf8")) as { readonly pid: number }).pid;

test("killed in the middle of a command, the next one gets its true result, and it ran once", async (t) => {
  const one = newJobsHome(t);
  const command = counted("sleep 2; echo done; exit 3");
  const first = driver(t, one.home, "run", "k1", command);
  await until(
    () => countIn(one),
    (n) => n === 1,
    "the command runs",
  );
  await first.end("SIGKILL");
  const second = driver(t, one.home, "check", "k1", command);
  const output = outputOf(await resultOf(second));
  assert.match(output, /^\[exit code 3 after/);
  assert.match(output, /\ndone$/);
  assert.equal(second.lines().find((line) => "checked" in line)?.checked, "ok");
  assert.equal(countIn(one), 1);
});

test("killed after the command has ended, the result is still there", async (t) => {
  const one = newJobsHome(t);
  const command = counted("echo done");
  assert.match(outputOf(await resultOf(driver(t, one.home, "run", "k1", command))), /done/);
  assert.match(outputOf(await resultOf(driver(t, one.home, "check", "k1", command))), /done/);
  assert.equal(countIn(one), 1);
});

test("killed again and again while it runs, it still ran once", async (t) => {
  const one = newJobsHome(t);
  const command = counted("while [ ! -e go ]; do sleep 0.05; done; echo done");
  let mode: "run" | "check" = "run";
  for (let kills = 0; kills < 5; kills++) {
    const life = driver(t, one.home, mode, "k1", command);
    await until(
      () => countIn(one),
      (n) => n === 1,
      "the command runs",
    );
    // Later and later: while it loads, while it looks, while it waits.
    await until(
      () => life.lines().length,
      (n) => n >= Math.min(kills, 1),
      "it is at work",
    );
    await life.end("SIGKILL");
    mode = "check";
  }
  writeFileSync(join(one.workspace, "go"), "");
  assert.match(outputOf(await resultOf(driver(t, one.home, "check", "k1", command))), /\ndone$/);
  assert.equal(countIn(one), 1);
});

test("killed between the folder and the holder, it did not happen, and runs", async (t) => {
  const one = newJobsHome(t);
  const command = counted("echo done");
  const first = driver(t, one.home, "folder", "k1", command);
  await until(
    () => first.lines().length,
    (n) => n > 0,
    "the folder is there",
  );
  await first.end("SIGKILL");
  const second = driver(t, one.home, "check", "k1", command);
  assert.match(outputOf(await resultOf(second)), /done/);
  assert.equal(second.lines().find((line) => "checked" in line)?.checked, null);
  assert.equal(countIn(one), 1);
});

test("a holder that comes too late does nothing", async (t) => {
  const one = newJobsHome(t);
  const command = counted("echo done");
  const first = driver(t, one.home, "folder", "k1", command);
  await until(
    () => first.lines().length,
    (n) => n > 0,
    "the folder is there",
  );
  await first.end("SIGKILL");
  assert.equal(await one.jobs.find("k1"), null);
  const folder = join(one.home, "jobs", jobId("k1"));
  const late = start(t, process.execPath, [join(root, "bin", "hold.js"), folder], { env: environmentOf(one.home) });
  assert.equal(await within(late.exit, "it ends"), 0);
  assert.equal(countIn(one), 0);
  assert.equal(await one.jobs.find("k1"), null);
});

test("a holder that was killed leaves an honest unknown, and what it held is ended", async (t) => {
  const one = newJobsHome(t);
  const command = counted("echo so far; sleep 600; echo done");
  const first = driver(t, one.home, "run", "k1", command);
  await until(
    () => countIn(one),
    (n) => n === 1,
    "the command runs",
  );
  await until(
    async () => Buffer.from((await one.jobs.read(jobId("k1"), 0, 100)).bytes).toString(),
    (said) => said.includes("so far"),
    "its holder has kept its words",
  );
  await first.end("SIGKILL");
  process.kill(holderIn(one.home, "k1"), "SIGKILL");
  const result = await resultOf(driver(t, one.home, "check", "k1", command));
  assert.ok(result.type === "unknown", JSON.stringify(result));
  assert.match(result.why, /not known/);
  assert.match(result.why, /so far/);
  assert.deepEqual(await marksOf(one, "k1"), []);
  assert.equal(countIn(one), 1);
});

test("two who wait get the same, and two who start make one", async (t) => {
  const one = newJobsHome(t);
  const command = counted("sleep 0.3; echo done");
  const other = openJobs({ folder: join(one.home, "jobs") });
  const results = await Promise.all([
    one.terminal.run({ command }, context("k1")),
    stageTools(one.home, other).terminal.run({ command }, context("k1")),
    one.terminal.run({ command }, context("k1")),
  ]);
  for (const result of results) assert.match(outputOf(result), /^\[exit code 0 after [^\]]*\]\ndone$/);
  assert.equal(countIn(one), 1);
});

test("killed at any moment of a start, it happens once and its result is true", async (t) => {
  const one = newJobsHome(t);
  const moments = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144];
  const told: string[] = [];
  for (const ms of moments) {
    const key = `k${ms}`;
    const command = `echo begun >>count-${ms}; sleep 0.2; echo done`;
    const first = driver(t, one.home, "run", key, command, ms);
    assert.equal(await within(first.exit, "it dies"), "SIGKILL");
    const second = driver(t, one.home, "check", key, command);
    assert.match(outputOf(await resultOf(second)), /^\[exit code 0 [^\n]*\ndone$/, `after ${ms} ms`);
    assert.equal(readFileSync(join(one.workspace, `count-${ms}`), "utf8"), "begun\n", `after ${ms} ms it ran once`);
    told.push(`${ms} ms: ${second.lines().find((line) => "checked" in line)?.checked ?? "had not begun"}`);
  }
  t.diagnostic(told.join(", "));
});

// ------------------------------------------------------------------------------------------------------- how they end

/** Three generations, one of them deaf, and a daemon in a session of its own. */
const stubborn = `trap '' TERM; sh -c 'trap "" TERM; sleep 600' & setsid sleep 601 & ${counted("sleep 602")}; sleep 603`;

test("a stop ends them with all they started, also those of an earlier life; a restart spares them", async (t) => {
  const one = newJobsHome(t);
  const first = driver(t, one.home, "run", "k1", stubborn);
  await until(
    () => countIn(one),
    (n) => n === 1,
    "the command runs",
  );
  await first.end("SIGKILL");
  const holder = holderIn(one.home, "k1");
  const processes = withJobs(openProcesses(), join(one.home, "jobs"));
  assert.equal(await processes.killAll("all-but-jobs"), 0);
  assert.ok((await marksOf(one, "k1")).length >= 4, "a restart leaves them alone");
  const begun = performance.now();
  assert.equal(await processes.killAll("all"), 1);
  t.diagnostic(`ended in ${Math.round(performance.now() - begun)} ms`);
  assert.deepEqual(await marksOf(one, "k1"), []);
  assert.equal(isAlive({ pid: holder, startTime: null }), false);
  const output = outputOf(await resultOf(driver(t, one.home, "check", "k1", stubborn)));
  assert.match(output, /^\[killed by SIGKILL after .* \(the gateway was stopped\)/);
  assert.equal(await processes.killAll("all"), 0);
});

test("a daemon that outlived its command is ended by a stop", async (t) => {
  const one = newJobsHome(t);
  const command = "setsid sh -c 'touch away; exec sleep 600' & while [ ! -e away ]; do sleep 0.05; done; echo left";
  assert.match(outputOf(await one.terminal.run({ command }, context("k1"))), /left/);
  assert.equal((await marksOf(one, "k1")).length, 1, "it left the group, and goes on");
  assert.equal(await endJobs(join(one.home, "jobs"), "the gateway was stopped"), 1);
  assert.deepEqual(await marksOf(one, "k1"), []);
});

test("a turn that is stopped ends its command within a second; a gateway that stops leaves it to the next", async (t) => {
  const one = newJobsHome(t);
  for (const why of ["cancelled", "superseded", "shutdown"]) {
    const key = `k-${why}`;
    const stop = new AbortController();
    const command = `touch ${why}; sleep 600`;
    const running = one.terminal.run({ command }, context(key, { signal: stop.signal }));
    await until(() => existsSync(join(one.workspace, why)), Boolean, "the command runs");
    const begun = performance.now();
    stop.abort(Object.assign(new Error("broken off"), { why }));
    await assert.rejects(running, /broken off/);
    t.diagnostic(`${why}: ${Math.round(performance.now() - begun)} ms`);
    const left = await marksOf(one, key);
    assert.equal(left.length > 0, why === "shutdown", `${why}: ${JSON.stringify(left)}`);
  }
});

test("nothing is left of a gateway that was killed once `gateway stop` has run", async (t) => {
  const one = newJobsHome(t);
  const first = driver(t, one.home, "run", "k1", counted("sleep 600"));
  await until(
    () => countIn(one),
    (n) => n === 1,
    "the command runs",
  );
  await first.end("SIGKILL");
  const words = [join(root, "src", "main.ts"), "gateway", "stop", "--home", one.home];
  const stop = start(t, process.execPath, words, { env: environmentOf(one.home) });
  assert.equal(await within(stop.exit, "it ends"), 0, stop.err());
  assert.match(stop.out(), /No gateway is running .*\. A command that had outlived it was ended\./);
  assert.deepEqual(await marksOf(one, "k1"), []);
});
