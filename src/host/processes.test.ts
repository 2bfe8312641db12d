// Subprocesses of tools as real processes: polite ones, deaf ones, ones that leave children behind, and jobs.

import assert from "node:assert/strict";
import { type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isAlive } from "./identity.ts";
import { type ProcessRegistry, openProcesses } from "./processes.ts";
import { canBeWithin } from "../testing/quick.ts";

const isGone = (pid: number) => !isAlive({ pid, startTime: null });

async function until(what: string, isTrue: () => boolean): Promise<void> {
  const patience = performance.now() + 60_000;
  while (!isTrue()) {
    assert.ok(performance.now() < patience, what);
    await pause(5);
  }
}

function registry(t: TestContext, graceMs?: number): ProcessRegistry {
  const processes = openProcesses(graceMs === undefined ? {} : { graceMs });
  t.after(() => processes.killAll("all"));
  return processes;
}

/** A shell, with the numbers of all processes that it says it consists of. */
async function shell(
  on: ProcessRegistry,
  script: string,
  job = false,
): Promise<{ child: ChildProcess; pids: number[] }> {
  const child = on.spawn({
    program: "/bin/sh",
    words: ["-c", script],
    job,
    options: { stdio: ["ignore", "pipe", "ignore"] },
  });
  let said = "";
  child.stdout?.on("data", (data) => (said += data));
  await until(`"${script}" speaks`, () => said.includes("ready"));
  return {
    child,
    pids: said
      .split(/\s+/)
      .map(Number)
      .filter((pid) => pid > 0),
  };
}

test("a tool that ignores the request and forks is gone with its children, in bounded time", async (t) => {
  const on = registry(t, 50);
  const deaf = `trap '' TERM; echo $$; sh -c 'trap "" TERM; sleep 600 & echo $$ $! ready; wait' & sleep 600`;
  const { child, pids } = await shell(on, deaf);
  assert.ok(new Set(pids).size >= 3, `tool, child and grandchild: ${pids.join()}`);
  assert.ok(pids.every((pid) => !isGone(pid)));
  const begun = performance.now();
  assert.equal(await on.killAll("all"), 1);
  assert.ok(performance.now() - begun < 10_000);
  assert.deepEqual(
    pids.filter((pid) => !isGone(pid)),
    [],
  );
  assert.equal(child.signalCode, "SIGKILL");
  assert.equal(on.count, 0);
});

test("a polite tool ends by itself before the grace is over", async (t) => {
  const on = registry(t, 60_000);
  const { child } = await shell(on, `trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done`);
  const begun = performance.now();
  assert.equal(await on.killAll("all"), 1);
  assert.ok(performance.now() - begun < 30_000);
  assert.equal(child.exitCode, 7);
});

test("what a tool left behind when it ended is ended too", async (t) => {
  const on = registry(t, 50);
  const { child, pids } = await shell(on, `sh -c 'trap "" TERM; sleep 600' >/dev/null & echo $! ready`);
  if (child.exitCode === null) await once(child, "exit");
  const [orphan = 0] = pids;
  assert.equal(isGone(orphan), false);
  assert.equal(on.count, 1);
  assert.equal(await on.killAll("all"), 1);
  await until("the orphan is gone", () => isGone(orphan));
});

test("each leads a session of its own, apart from ours", async (t) => {
  const on = registry(t);
  const { child, pids } = await shell(on, "echo $$; ps -o pgid= -p $$; echo ready; sleep 600");
  assert.deepEqual(pids, [child.pid, child.pid]);
});

test("jobs are spared where the gateway comes back, and killed where it does not", async (t) => {
  const on = registry(t, 50);
  const job = await shell(on, "echo $$ ready; sleep 600", true);
  const tool = await shell(on, "echo $$ ready; sleep 600");
  assert.equal(await on.killAll("all-but-jobs"), 1);
  assert.ok(tool.pids.every(isGone));
  assert.ok(job.pids.every((pid) => !isGone(pid)));
  assert.equal(on.count, 1);
  assert.equal(await on.killAll("all"), 1);
  assert.ok(job.pids.every(isGone));
  assert.equal(await on.killAll("all"), 0);
});

test("one that has ended, or never began, is not counted", async (t) => {
  const on = registry(t);
  const done = on.spawn({ program: "/bin/sh", words: ["-c", "exit 3"] });
  const [code] = await once(done, "exit");
  assert.equal(code, 3);
  const missing = on.spawn({ program: "everturn-has-no-such-program", words: [] });
  const [error] = await once(missing, "error");
  assert.match(String(error), /ENOENT/);
  assert.equal(on.count, 0);
  assert.equal(await on.killAll("all"), 0);
});

test("many deaf ones are ended together, not one after the other", async (t) => {
  await canBeWithin(2_500, async () => {
    const on = registry(t, 300);
    const all = await Promise.all(
      Array.from({ length: 10 }, () => shell(on, `trap '' TERM; echo $$ ready; while :; do sleep 0.05; done`)),
    );
    const begun = performance.now();
    assert.equal(await on.killAll("all"), 10);
    const tookMs = performance.now() - begun;
    assert.ok(all.every(({ pids }) => pids.every(isGone)));
    return tookMs;
  });
});

test("on Windows a tree is ended by its number", async (t) => {
  const asked: number[] = [];
  const on = openProcesses({
    platform: "win32",
    killTree: (pid) => {
      asked.push(pid);
      process.kill(pid, "SIGKILL");
      return Promise.resolve();
    },
  });
  const child = on.spawn({ program: process.execPath, words: ["-e", "process.stdin.resume()"] });
  t.after(() => child.kill("SIGKILL"));
  assert.equal(await on.killAll("all"), 1);
  assert.deepEqual(asked, [child.pid]);
  const refused = openProcesses({ platform: "win32", killTree: () => Promise.reject(new Error("no such program")) });
  const other = refused.spawn({ program: process.execPath, words: ["-e", "process.stdin.resume()"] });
  const ended = once(other, "exit");
  assert.equal(await refused.killAll("all"), 1);
  await ended;
  assert.equal(other.signalCode, "SIGKILL");
});
