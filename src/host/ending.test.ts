// Ending a gateway from outside: what is done in which order, how long is waited, and when force is used. Time and the
// process are given, but for the last tests, which end real processes.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { table } from "../testing/table.ts";
import type { Run } from "./command.ts";
import {
  type EndRequest,
  type Ended,
  type Lookout,
  endGateway,
  killTree,
  meansFor,
  patienceFor,
  systemLookout,
  waitForEnd,
} from "./ending.ts";
import { type ProcessIdentity, startTimeOf } from "./identity.ts";
import { newMarker, writeMarker } from "./markers.ts";
import { canBeWithin } from "../testing/quick.ts";

const target: ProcessIdentity = { pid: 4711, startTime: 120 };

type Told = { readonly list: string[]; readonly lookout: Lookout; now(): number };

/** A process that ends at a moment of its own, or never; force ends it unless it is immortal. */
function stage(endsAtMs: number): Told & { end(): void } {
  const list: string[] = [];
  let now = 1_000;
  let end = 1_000 + endsAtMs;
  return {
    list,
    now: () => now - 1_000,
    end: () => (end = now),
    lookout: {
      isAlive(one) {
        assert.deepEqual(one, target, "it is looked at with its start time");
        return now < end;
      },
      now: () => now,
      async sleep(ms) {
        assert.ok(ms > 0 && ms <= 1_000, `slept ${ms} ms at once`);
        now += ms;
      },
    },
  };
}

table<{ name: string; pid: number; endsAtMs: number; patienceMs: number; answer: boolean; after: number }>(
  "waiting for the end",
  [
    {
      name: "S104 no number of a process: false at once",
      pid: 0,
      endsAtMs: 0,
      patienceMs: 500,
      answer: false,
      after: 0,
    },
    { name: "S104 a group is no process", pid: -4711, endsAtMs: 9e9, patienceMs: 500, answer: false, after: 0 },
    { name: "S104 half a number is none", pid: 1.5, endsAtMs: 9e9, patienceMs: 500, answer: false, after: 0 },
    { name: "S104 not a number", pid: Number.NaN, endsAtMs: 9e9, patienceMs: 500, answer: false, after: 0 },
    { name: "S105 gone already: true at once", pid: 4711, endsAtMs: 0, patienceMs: 500, answer: true, after: 0 },
    { name: "S105 gone without patience: true", pid: 4711, endsAtMs: 0, patienceMs: 0, answer: true, after: 0 },
    {
      name: "S105 gone after 95 ms: true within 20 ms of it",
      pid: 4711,
      endsAtMs: 95,
      patienceMs: 500,
      answer: true,
      after: 100,
    },
    {
      name: "S106 it outlives the patience: false",
      pid: 4711,
      endsAtMs: 9e9,
      patienceMs: 505,
      answer: false,
      after: 505,
    },
    { name: "S106 it ends just too late: false", pid: 4711, endsAtMs: 506, patienceMs: 505, answer: false, after: 505 },
    { name: "it ends at the last moment: true", pid: 4711, endsAtMs: 505, patienceMs: 505, answer: true, after: 505 },
  ],
  async ({ pid, endsAtMs, patienceMs, answer, after }) => {
    const { lookout, now } = stage(endsAtMs);
    assert.equal(await waitForEnd({ ...target, pid }, patienceMs, lookout), answer);
    assert.equal(now(), after);
  },
);

table<{ name: string; drainSeconds: number; ms: number }>(
  "S108 whoever waits outside waits max(30 s, drain + 10 s)",
  [
    { name: "S108 no drain", drainSeconds: 0, ms: 30_000 },
    { name: "S108 a short drain", drainSeconds: 19.5, ms: 30_000 },
    { name: "S108 a drain of 20 s", drainSeconds: 20, ms: 30_000 },
    { name: "S108 a drain of 20.5 s", drainSeconds: 20.5, ms: 30_500 },
    { name: "S108 a drain of an hour", drainSeconds: 3_600, ms: 3_610_000 },
  ],
  ({ drainSeconds, ms }) => assert.equal(patienceFor(drainSeconds), ms),
);

/** A request that writes down what is done, and when. */
function recorded(it: ReturnType<typeof stage>, own: Partial<EndRequest> = {}): EndRequest {
  const at = (what: string) => void it.list.push(`${what} at ${it.now()}`);
  return {
    target,
    patienceMs: 30_000,
    writeMarker: async () => at("marker"),
    ask: () => at("ask"),
    force: () => {
      at("force");
      it.end();
    },
    onTrouble: (what) => void it.list.push(what),
    ...own,
  };
}

const refuse = (what: string) => () => {
  throw new Error(what);
};

table<{ name: string; endsAtMs: number; own?: Partial<EndRequest>; ended: Ended; list: readonly string[] }>(
  "ending",
  [
    {
      name: "nobody is there: nothing is written, nobody is asked",
      endsAtMs: 0,
      ended: { type: "absent" },
      list: [],
    },
    {
      name: "a number that is none is never signalled",
      endsAtMs: 9e9,
      own: { target: { pid: 0, startTime: null } },
      ended: { type: "absent" },
      list: [],
    },
    {
      name: "the marker comes before the request, and force is not needed",
      endsAtMs: 400,
      ended: { type: "ended", waitedMs: 400 },
      list: ["marker at 0", "ask at 0"],
    },
    {
      name: "who has handed over in between is not asked: that would end another one, unannounced",
      endsAtMs: 9e9,
      own: { isStill: async () => false },
      ended: { type: "moved" },
      list: ["marker at 0"],
    },
    {
      name: "who still serves is asked, also when nobody can tell",
      endsAtMs: 400,
      own: { isStill: async () => refuse("EIO: broken")() as never },
      ended: { type: "ended", waitedMs: 400 },
      list: [
        "marker at 0",
        "who serves after the gateway with pid 4711 could not be found out (EIO: broken)",
        "ask at 0",
      ],
    },
    {
      name: "where the marker alone asks, nothing else is done",
      endsAtMs: 400,
      own: { ask: null },
      ended: { type: "ended", waitedMs: 400 },
      list: ["marker at 0"],
    },
    {
      name: "S107 a marker that cannot be written is told, and the wait goes on",
      endsAtMs: 12_000,
      own: { writeMarker: refuse("EACCES: permission denied"), ask: null },
      ended: { type: "ended", waitedMs: 12_000 },
      list: ["the marker for the gateway with pid 4711 could not be written (EACCES: permission denied)"],
    },
    {
      name: "S107 also a marker that fails later",
      endsAtMs: 12_000,
      own: { writeMarker: async () => refuse("ENOSPC: no space")() },
      ended: { type: "ended", waitedMs: 12_000 },
      list: ["the marker for the gateway with pid 4711 could not be written (ENOSPC: no space)", "ask at 0"],
    },
    {
      name: "a request that fails is told, and the marker gets its time",
      endsAtMs: 500,
      own: { ask: refuse("EPERM: not yours") },
      ended: { type: "ended", waitedMs: 500 },
      list: ["marker at 0", "the gateway with pid 4711 could not be asked to stop (EPERM: not yours)"],
    },
    {
      name: "a supervisor's command that lasts as long as the stop holds nobody",
      endsAtMs: 400,
      own: { ask: () => new Promise(() => undefined) },
      ended: { type: "ended", waitedMs: 400 },
      list: ["marker at 0"],
    },
    {
      name: "force only after the whole patience",
      endsAtMs: 9e9,
      ended: { type: "forced", waitedMs: 30_000 },
      list: ["marker at 0", "ask at 0", "force at 30000"],
    },
    {
      name: "where no force is wanted it survives",
      endsAtMs: 9e9,
      own: { force: null },
      ended: { type: "survived", waitedMs: 30_000 },
      list: ["marker at 0", "ask at 0"],
    },
    {
      name: "force that fails is told",
      endsAtMs: 9e9,
      own: { force: refuse("taskkill: access is denied") },
      ended: { type: "survived", waitedMs: 35_000 },
      list: [
        "marker at 0",
        "ask at 0",
        "the gateway with pid 4711 could not be ended by force (taskkill: access is denied)",
      ],
    },
  ],
  async ({ endsAtMs, own, ended, list }) => {
    const it = stage(endsAtMs);
    assert.deepEqual(await endGateway(recorded(it, own), it.lookout), ended);
    assert.deepEqual(it.list, list);
  },
);

test("whoever shows the drain hears of every look", async () => {
  const it = stage(100);
  const ticks: number[] = [];
  await endGateway(recorded(it, { onTick: (waitedMs) => void ticks.push(waitedMs) }), it.lookout);
  assert.deepEqual(ticks, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
});

/** Programs that are written down and answered by a rule. */
function programs(fails: (words: readonly string[]) => boolean) {
  const calls: string[] = [];
  const run: Run = async (program, words) => {
    calls.push([program, ...words].join(" "));
    return fails(words) ? { code: 1, out: "", err: "ERROR: not supported\r\n" } : { code: 0, out: "", err: "" };
  };
  return { calls, run };
}

test("without a supervisor: signals on POSIX, nothing but the marker and then a tree kill on Windows", async () => {
  const sent: string[] = [];
  const kill = (pid: number, signal: NodeJS.Signals) => void sent.push(`${signal} ${pid}`);
  const { calls, run } = programs(() => false);
  for (const platform of ["linux", "darwin"] as const) {
    const { ask, force } = meansFor(platform, target, run, kill);
    await ask?.();
    await force?.();
  }
  assert.deepEqual(sent, ["SIGTERM 4711", "SIGKILL 4711", "SIGTERM 4711", "SIGKILL 4711"]);
  assert.deepEqual(calls, []);
  const windows = meansFor("win32", target, run, kill);
  assert.equal(windows.ask, null);
  await windows.force?.();
  assert.deepEqual(calls, ["taskkill /T /F /PID 4711"]);
  assert.equal(sent.length, 4);
});

test("a process that ends while it is being signalled was ended; another refusal is told", async () => {
  const failing = (code: string) => () => {
    throw Object.assign(new Error(code), { code });
  };
  await meansFor("linux", target, undefined, failing("ESRCH")).ask?.();
  assert.throws(() => meansFor("linux", target, undefined, failing("EPERM")).ask?.(), /EPERM/);
});

test("a system without tree kills ends the process alone; when both fail the second says why", async () => {
  const noTrees = programs((words) => words.includes("/T"));
  await killTree(4711, noTrees.run);
  assert.deepEqual(noTrees.calls, ["taskkill /T /F /PID 4711", "taskkill /F /PID 4711"]);
  await assert.rejects(killTree(4711, programs(() => true).run), /^Error: taskkill: ERROR: not supported$/);
});

/** A process of its own, which nobody here waits for, and which ends with the test at the latest. */
async function detached(t: TestContext, script: string, ...words: readonly string[]): Promise<ProcessIdentity> {
  // Its parent ends at once, so that it is nobody's zombie when it ends.
  const parent = `const { spawn } = require("node:child_process");
    const child = spawn(process.execPath, ["--input-type=module", "-e", process.argv[1], ...process.argv.slice(2)], { detached: true, stdio: "ignore" });
    process.stdout.write(String(child.pid), () => process.exit());`;
  const starter = spawn(process.execPath, ["-e", parent, script, ...words], { stdio: ["ignore", "pipe", "inherit"] });
  const pid = Number((await starter.stdout.toArray()).join(""));
  const identity = { pid, startTime: startTimeOf(pid) };
  t.after(() => {
    if (systemLookout.isAlive(identity)) process.kill(pid, "SIGKILL");
  });
  return identity;
}

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "everturn-ending-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function whenThere(file: string): Promise<void> {
  while (!existsSync(file)) await systemLookout.sleep(5);
}

test("S110 a detached process that watches the marker ends, and the call says so within half a second of it", (t) =>
  canBeWithin(500, async () => {
    const folder = await folderOf(t);
    const [plannedStop, takeOver, ready, seen] = ["stop.json", "take.json", "ready", "seen"].map((name) =>
      join(folder, name),
    ) as [string, string, string, string];
    // The watcher of the gateway itself, in a process that nobody here knows but by its number.
    const watcher = `
    import { writeFileSync } from "node:fs";
    import { watchMarkers } from ${JSON.stringify(import.meta.resolve("./watcher.ts"))};
    import { ownIdentity } from ${JSON.stringify(import.meta.resolve("./identity.ts"))};
    const [plannedStop, takeOver, ready, seen] = process.argv.slice(1);
    setInterval(() => undefined, 60_000);
    watchMarkers({
      files: { plannedStop, takeOver },
      self: ownIdentity(),
      isOpen: () => true,
      isDraining: () => false,
      now: Date.now,
      log: () => undefined,
      fire() {
        writeFileSync(seen, String(Date.now()));
        process.exit(0);
      },
    });
    writeFileSync(ready, "");`;
    const identity = await detached(t, watcher, plannedStop, takeOver, ready, seen);
    await whenThere(ready);
    const troubles: string[] = [];
    const begun = performance.now();
    const ended = await endGateway({
      target: identity,
      patienceMs: 30_000,
      writeMarker: () => writeMarker(plannedStop, newMarker("plannedStop", identity, process.pid, Date.now())),
      ask: null,
      force: null,
      onTrouble: (what) => void troubles.push(what),
    });
    const tookMs = Math.round(performance.now() - begun);
    const noticedMs = Date.now() - Number(await readFile(seen, "utf8"));
    assert.equal(ended.type, "ended");
    assert.deepEqual(troubles, []);
    assert.equal(systemLookout.isAlive(identity), false);
    assert.equal(await waitForEnd(identity, 0), true);
    t.diagnostic(`from the marker to the answer: ${tookMs} ms, of which ${noticedMs} ms after the watcher had seen it`);
    return noticedMs;
  }));

test("S106 a real process that ignores everything outlives the patience, and force ends it", async (t) => {
  const ready = join(await folderOf(t), "ready");
  const deaf = `process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000);
    (await import("node:fs")).writeFileSync(process.argv[1], "");`;
  const identity = await detached(t, deaf, ready);
  await whenThere(ready);
  const means = meansFor(process.platform, identity);
  const wanted = { target: identity, patienceMs: 50, writeMarker: async () => undefined, ask: means.ask };
  assert.equal((await endGateway({ ...wanted, force: null })).type, "survived");
  assert.equal((await endGateway({ ...wanted, force: means.force })).type, "forced");
});
