// The snapshot of a stop: on the real system, and on systems that tell nothing.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { toLogLine } from "../../core/forensics.ts";
import { ownIdentity } from "../identity.ts";
import { newMarker, writeMarker } from "../markers.ts";
import { type SnapshotFacts, takeSnapshot } from "./snapshot.ts";
import { canBeWithin } from "../../testing/quick.ts";

const isLinux = process.platform === "linux";

async function facts(t: TestContext): Promise<SnapshotFacts> {
  const home = await mkdtemp(join(tmpdir(), "everturn-snapshot-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const markerFiles = { plannedStop: join(home, "stop.json"), takeOver: join(home, "take.json") };
  return { signal: "SIGTERM", self: ownIdentity(), markerFiles, env: {} };
}

test("S38 S40 a snapshot has our pid, the signal's name and number, and both times", async (t) => {
  const given = await facts(t);
  const before = Date.now();
  const snapshot = takeSnapshot(given);
  const after = Date.now();
  assert.equal(snapshot.pid, process.pid);
  assert.equal(snapshot.signal, "SIGTERM");
  assert.equal(snapshot.signal_num, 15);
  assert.ok(before <= snapshot.at && snapshot.at <= after);
  assert.ok(snapshot.monotonic > 0);
  assert.equal(takeSnapshot({ ...given, monotonic: () => 12.25 }).monotonic, 12.25);
  const numbered = takeSnapshot({ ...given, signal: 15 });
  assert.deepEqual([numbered.signal, numbered.signal_num], ["SIGTERM", 15]);
});

test("S39 without a signal the name is UNKNOWN and the number null", async (t) => {
  const snapshot = takeSnapshot({ ...(await facts(t)), signal: null });
  assert.equal(snapshot.signal, "UNKNOWN");
  assert.equal(snapshot.signal_num, null);
});

test("S41 the parent's pid, name and command line, the load and the tracer, where the system tells them", async (t) => {
  const given = await facts(t);
  const { parent, loadavg_1m: load, tracer_pid: tracer, unknown } = takeSnapshot(given);
  assert.equal(parent.pid, process.ppid);
  if (isLinux) {
    assert.ok(parent.name !== null && parent.name !== "");
    assert.match(parent.cmdline ?? "", /node|\S/);
    assert.ok(!(parent.cmdline ?? "").includes("\0"));
    assert.equal(tracer, 0);
    assert.ok(load !== null && load >= 0);
    assert.deepEqual(unknown, []);
  }
  const windows = takeSnapshot({ ...given, platform: "win32" });
  assert.deepEqual(windows.parent, { pid: process.ppid, name: null, cmdline: null });
  assert.deepEqual([windows.loadavg_1m, windows.tracer_pid], [null, null]);
});

test("S41 behind our own foreground process the parent is the one that started that", async (t) => {
  const given = await facts(t);
  const proc = join(given.markerFiles.plannedStop, "..", "proc");
  const tell = async (pid: number, name: string, parent: number) => {
    await mkdir(join(proc, String(pid)), { recursive: true });
    await writeFile(join(proc, String(pid), "comm"), `${name}\n`);
    await writeFile(join(proc, String(pid), "cmdline"), `${name}\0-x\0`);
    await writeFile(join(proc, String(pid), "status"), `Name:\t${name}\nPPid:\t${parent}\n`);
  };
  await tell(70, "everturn", 60);
  await tell(60, "bash", 1);
  const behind = { ...given, proc, parentPid: 70, isAttended: true };
  assert.deepEqual(takeSnapshot({ ...behind, platform: "linux" }).parent, {
    pid: 60,
    name: "bash",
    cmdline: "bash -x",
  });
  assert.equal(takeSnapshot({ ...behind, isAttended: false, platform: "linux" }).parent.pid, 70);
  const told = takeSnapshot({ ...behind, platform: "darwin", env: { EVERTURN_PARENT: "61" } });
  assert.deepEqual([told.parent.pid, told.unknown], [61, []]);
  for (const env of [{}, { EVERTURN_PARENT: "" }, { EVERTURN_PARENT: "x" }]) {
    const silent = takeSnapshot({ ...behind, platform: "darwin", env });
    assert.deepEqual([silent.parent.pid, silent.unknown.length], [70, 1], "then the one that is known");
  }
});

test("S41 a snapshot never throws, whatever the system does not tell", async (t) => {
  const given = await facts(t);
  const refuse = () => {
    throw new Error("refused");
  };
  const env = new Proxy({}, { get: refuse });
  const markerFiles = new Proxy(given.markerFiles, { get: refuse });
  const snapshot = takeSnapshot({
    ...given,
    signal: { toString: refuse },
    env,
    markerFiles,
    now: refuse,
    monotonic: refuse,
    proc: join(given.markerFiles.takeOver, "none"),
    platform: "linux",
  });
  assert.equal(snapshot.pid, process.pid);
  assert.deepEqual(snapshot.parent, { pid: process.ppid, name: null, cmdline: null });
  assert.equal(snapshot.tracer_pid, null);
  assert.equal(snapshot.unknown.length, 8);
  assert.match(toLogLine(snapshot), /unknown=".*refused.*" parent_cmdline=\?$/);
});

test("S42 an invocation id means systemd, and is recorded", async (t) => {
  const snapshot = takeSnapshot({ ...(await facts(t)), env: { INVOCATION_ID: "abc123" } });
  assert.equal(snapshot.under_systemd, true);
  assert.equal(snapshot.systemd_invocation_id, "abc123");
});

test("S43 without an id, only a first process that is systemd means it", async (t) => {
  const given = await facts(t);
  const proc = join(given.markerFiles.takeOver, "..", "proc");
  const rows: readonly (readonly [pid: number, name: string, expected: boolean])[] = [
    [77, "bash", false],
    [77, "systemd", false],
    [1, "systemd", true],
    [1, "tini", false],
  ];
  for (const [parentPid, name, expected] of rows) {
    await mkdir(join(proc, String(parentPid)), { recursive: true });
    await writeFile(join(proc, String(parentPid), "comm"), `${name}\n`);
    await writeFile(join(proc, String(parentPid), "cmdline"), `/sbin/${name}\0--x\0${"y".repeat(400)}\0`);
    const snapshot = takeSnapshot({ ...given, env: { INVOCATION_ID: "" }, parentPid, proc, platform: "linux" });
    assert.equal(snapshot.under_systemd, expected, `${parentPid} ${name}`);
    assert.equal(snapshot.systemd_invocation_id, null);
    assert.equal(snapshot.parent.name, name);
    assert.equal(snapshot.parent.cmdline, `/sbin/${name} --x …`, "cut between words, never within one");
  }
});

test("S44 a snapshot is a matter of milliseconds and starts no process, not even one that it waits for", async (t) => {
  const given = await facts(t);
  await writeMarker(given.markerFiles.plannedStop, newMarker("plannedStop", given.self, 7, Date.now()));
  await canBeWithin(10, () => {
    const begun = performance.now();
    takeSnapshot(given);
    return performance.now() - begun;
  });
  assert.deepEqual(
    startedBy(() => void takeSnapshot(given)),
    [],
  );
  // The count sees a process that is over again by the time anybody looks.
  const real = startedBy(() => {
    spawnSync(process.execPath, ["--version"]);
    spawn(process.execPath, ["--version"], { stdio: "ignore" });
  });
  assert.deepEqual(real, ["spawnSync", "spawn"]);
});

/** Which functions started a process while this ran: Node's own bindings, so nothing can get past. */
function startedBy(work: () => void): readonly string[] {
  const started: string[] = [];
  const binding = process as unknown as { binding(name: string): Record<string, { prototype: object } & object> };
  const { Process } = binding.binding("process_wrap");
  const sync = binding.binding("spawn_sync") as unknown as { spawn: (...options: unknown[]) => unknown };
  assert.ok(Process !== undefined && typeof sync.spawn === "function");
  const asynchronous = Process.prototype as { spawn: (...options: unknown[]) => unknown };
  const before = { sync: sync.spawn, asynchronous: asynchronous.spawn };
  sync.spawn = (...options) => (started.push("spawnSync"), before.sync(...options));
  asynchronous.spawn = function start(this: unknown, ...options) {
    started.push("spawn");
    return before.asynchronous.apply(this, options);
  };
  try {
    work();
  } finally {
    sync.spawn = before.sync;
    asynchronous.spawn = before.asynchronous;
  }
  return started;
}

test("S45 S46 a take-over marker is recorded with whether it names us", async (t) => {
  const given = await facts(t);
  assert.equal(takeSnapshot(given).takeover_marker, null);
  const own = { target_pid: process.pid, replacer_pid: 99_999 };
  await writeFile(given.markerFiles.takeOver, JSON.stringify(own));
  assert.deepEqual(takeSnapshot(given).takeover_marker, { content: own, for_self: true });
  const other = { target_pid: 1, replacer_pid: 99_999 };
  await writeFile(given.markerFiles.takeOver, JSON.stringify(other));
  assert.deepEqual(takeSnapshot(given).takeover_marker, { content: other, for_self: false });
  // A name is read, not searched for: our number in another field means nothing.
  await writeFile(given.markerFiles.takeOver, JSON.stringify({ target_pid: 1, replacer_pid: process.pid }));
  assert.equal(takeSnapshot(given).takeover_marker?.for_self, false);
});

test("S47 a planned-stop marker is recorded with what it holds and whether it names us", async (t) => {
  const given = await facts(t);
  const marker = newMarker("plannedStop", given.self, 7, Date.now());
  await writeMarker(given.markerFiles.plannedStop, marker);
  assert.deepEqual(takeSnapshot(given).planned_stop_marker, { content: marker, for_self: true });
  assert.equal(takeSnapshot(given).takeover_marker, null);
  await writeFile(given.markerFiles.plannedStop, '{"target_pid": 4');
  assert.deepEqual(takeSnapshot(given).planned_stop_marker, { content: '{"target_pid": 4', for_self: false });
});

test("S48 the line of a real snapshot", async (t) => {
  const snapshot = takeSnapshot(await facts(t));
  const line = toLogLine(snapshot);
  assert.match(line, /^signal=SIGTERM .*\bparent_pid=\d+ .*\bparent_cmdline=/);
  const last = (snapshot.parent.cmdline ?? "?").replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  assert.ok(line.endsWith(` parent_cmdline=${last}`));
  assert.ok(!line.includes("\n"));
});
