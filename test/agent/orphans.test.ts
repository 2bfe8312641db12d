// Commands without a sandbox that leave daemons behind which shed what they could be known by: their group, their session
// and their environment. A stop, and the end of the turn, find them all the same.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { endJobs } from "../../src/host/jobs/end.ts";
import { jobId, readStrays } from "../../src/host/jobs/folder.ts";
import { isAlive, startTimeOf } from "../../src/host/identity.ts";
import { atEnd, until } from "../process/stage.ts";
import { type Home, context, newJobsHome } from "./jobs-stage.ts";

const skip = process.platform === "linux" ? false : "only Linux tells of the processes of others";
const sleeper = "env -i setsid sh -c 'echo $$ >pid.draft; mv pid.draft pid; exec sleep 333'";

async function daemonOf(t: TestContext, { workspace }: Home) {
  const file = join(workspace, "pid");
  await until(() => existsSync(file), Boolean, "the daemon runs");
  const pid = Number(readFileSync(file, "utf8"));
  const one = { pid, startTime: startTimeOf(pid) };
  atEnd(t, () => isAlive(one) && process.kill(pid, "SIGKILL"));
  return one;
}

const jobsOf = ({ home }: Home) => join(home, "jobs");

/** The holder has looked since it left. */
async function isNoted(home: Home, key: string, pid: number): Promise<void> {
  await until(
    () => readStrays(join(jobsOf(home), jobId(key))),
    (all) => all.some((one) => one.pid === pid),
    "the holder has seen it",
  );
}

test("one that still speaks into the pipe of its command", { skip }, async (t) => {
  const home = newJobsHome(t);
  const command = `${sleeper} & while [ ! -e pid ]; do sleep 0.02; done`;
  assert.equal((await home.terminal.run({ command }, context("k1"))).type, "ok");
  const daemon = await daemonOf(t, home);
  assert.ok(isAlive(daemon), "it outlives its command");
  assert.equal(await endJobs(jobsOf(home), "the gateway was stopped"), 1);
  assert.equal(isAlive(daemon), false);
});

test("one that was seen below its command, which has ended since", { skip }, async (t) => {
  const home = newJobsHome(t);
  const command = `${sleeper} >/dev/null 2>&1 & while [ ! -e go ]; do sleep 0.05; done`;
  const running = home.terminal.run({ command }, context("k1"));
  const daemon = await daemonOf(t, home);
  await isNoted(home, "k1", daemon.pid);
  writeFileSync(join(home.workspace, "go"), "");
  await running;
  assert.ok(isAlive(daemon), "it outlives its command");
  assert.equal(await endJobs(jobsOf(home), "the gateway was stopped"), 1);
  assert.equal(isAlive(daemon), false);
});

test("one that was seen below its command, when the turn is stopped", { skip }, async (t) => {
  const home = newJobsHome(t);
  const command = `${sleeper} >/dev/null 2>&1 & sleep 334`;
  const running = home.terminal.run({ command }, context("k1"));
  const daemon = await daemonOf(t, home);
  await isNoted(home, "k1", daemon.pid);
  await home.terminal.drop?.({ command }, context("k1"));
  assert.equal(isAlive(daemon), false);
  assert.equal((await running).type, "ok");
});
