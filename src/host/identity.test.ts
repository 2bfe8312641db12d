// Identity of processes and of the machine's life, and the state file: whole or not at all, read with tolerance.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  type StateFile,
  bootIdFrom,
  isAlive,
  machineBootId,
  ownIdentity,
  parseStateFile,
  readStartTime,
  readStateFile,
  startTimeOf,
  writeDesiredState,
  writeStateFile,
} from "./identity.ts";

const isLinux = process.platform === "linux";

test("the start time is field 22, whatever the process is called", () => {
  const tail = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18";
  const rows: readonly (readonly [string, number | null])[] = [
    [`42 (node) S ${tail} 12345 99 98`, 123_450],
    [`42 (a) R (b) Z) S ${tail} 7 0`, 70],
    [`42 (node) Z ${tail} 12345`, null],
    [`42 (node) X ${tail} 12345`, null],
    ["42 (node) S 1 2", null],
    ["42 (node)", null],
    ["", null],
    ["nonsense", null],
  ];
  for (const [stat, start] of rows) assert.equal(readStartTime(stat), start, stat);
});

test("a process is alive only as the one it was", async () => {
  const self = ownIdentity();
  assert.equal(self.pid, process.pid);
  assert.equal(isAlive(self), true);
  assert.equal(isAlive({ pid: process.pid, startTime: null }), true);
  if (isLinux) {
    assert.ok(self.startTime !== null && self.startTime > 0);
    assert.equal(startTimeOf(process.pid), self.startTime);
    assert.equal(isAlive({ pid: process.pid, startTime: self.startTime + 10 }), false);
  }
  for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 40])
    assert.equal(isAlive({ pid, startTime: null }), false, String(pid));
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: "pipe" });
  const pid = child.pid ?? 0;
  const identity = { pid, startTime: startTimeOf(pid) };
  assert.equal(isAlive(identity), true);
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  assert.equal(isAlive(identity), false);
});

test("the machine's life has one name as long as it lasts", () => {
  assert.equal(machineBootId(), machineBootId());
  if (isLinux) assert.match(machineBootId(), /^[0-9a-f-]{36}$/);
  assert.equal(bootIdFrom(600_000, 10), bootIdFrom(660_000, 70));
  assert.equal(bootIdFrom(600_000, 0), bootIdFrom(605_000, 0.5));
  assert.notEqual(bootIdFrom(600_000, 0), bootIdFrom(6_000_000, 0));
});

const state: StateFile = {
  gateway_state: "running",
  desired_state: "running",
  pid: 42,
  start_time: 1_230,
  active_agents: 2,
  restart_requested: false,
  exit_reason: null,
  platforms: { "web/local": { state: "connected", why: null } },
  url: "http://127.0.0.1:7433",
  version: "0.1.0",
  started_at: "2026-01-02T03:04:05.000Z",
  updated_at: "2026-01-02T03:04:05.000Z",
};

test("the state file is written whole, for its owner only, and leaves nothing beside it", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "everturn-state-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const path = join(home, "gateway_state.json");
  assert.equal(await readStateFile(path), null);
  await writeFile(path, "old", { mode: 0o644 });
  await writeStateFile(path, state);
  assert.deepEqual(await readStateFile(path), state);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  await Promise.all(Array.from({ length: 20 }, (_, pid) => writeStateFile(path, { ...state, pid })));
  assert.equal((await readStateFile(path))?.gateway_state, "running");
  assert.deepEqual(await readdir(home), ["gateway_state.json"]);
});

test("a reader never sees half a file", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "everturn-state-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const path = join(home, "gateway_state.json");
  await writeStateFile(path, state);
  const writes = (async () => {
    for (let pid = 0; pid < 100; pid++) await writeStateFile(path, { ...state, pid });
  })();
  for (let i = 0; i < 100; i++) assert.equal((await readStateFile(path))?.version, "0.1.0");
  await writes;
});

test("what the owner wants is written without touching the rest, also where there was nothing", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "everturn-state-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const path = join(home, "gateway_state.json");
  await writeDesiredState(path, "stopped");
  assert.equal((await readStateFile(path))?.desired_state, "stopped");
  await writeStateFile(path, state);
  await writeDesiredState(path, "stopped");
  assert.deepEqual(await readStateFile(path), { ...state, desired_state: "stopped" });
  await writeFile(path, "{ half");
  await writeDesiredState(path, "running");
  assert.equal((await readStateFile(path))?.desired_state, "running");
});

test("of the platforms, what cannot be understood is left out", () => {
  const read = parseStateFile(
    '{"platforms":{"a":{"state":"connected"},"b":5,"c":{"state":"odd"},"d":{"state":"connecting","why":"no"}}}',
  );
  assert.deepEqual(read?.platforms, {
    a: { state: "connected", why: null },
    d: { state: "connecting", why: "no" },
  });
});

test("a state file that cannot be written is a fault, and leaves nothing behind", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "everturn-state-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  await assert.rejects(writeStateFile(join(home, "missing", "x.json"), state), { code: "home-unusable" });
  await assert.rejects(writeStateFile(home, state), { code: "home-unusable", message: /could not be written/ });
  assert.deepEqual(await readdir(home), []);
});

test("what cannot be understood is null, field by field", () => {
  for (const text of ["", "{", "[]", "null", "5", '"x"', "\u0000"]) assert.equal(parseStateFile(text), null, text);
  const read = parseStateFile(
    '{"gateway_state":"running","desired_state":"flying","pid":"42","start_time":-1,"url":5}',
  );
  assert.deepEqual(read, {
    gateway_state: "running",
    desired_state: null,
    pid: null,
    start_time: null,
    active_agents: null,
    restart_requested: null,
    exit_reason: null,
    platforms: null,
    url: null,
    version: null,
    started_at: null,
    updated_at: null,
  });
});
