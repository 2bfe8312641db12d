// Who serves a home, as others find it: by number and start time, and by the lock where a system tells no start times.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathsIn } from "../config/paths.ts";
import { ownIdentity, readStateFile } from "../host/identity.ts";
import { acquireLock } from "../host/lock.ts";
import { readMarker } from "../host/markers.ts";
import { announceStop, runningGateway } from "./announce.ts";

async function homeOf(t: TestContext, state: unknown) {
  const home = await mkdtemp(join(tmpdir(), "everturn-announce-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const paths = pathsIn(home);
  if (state !== null) await writeFile(paths.state, JSON.stringify(state));
  return paths;
}

const self = ownIdentity();

test("nobody serves a home without a state file, or with one that names a dead process", async (t) => {
  assert.equal(await runningGateway(await homeOf(t, null)), null);
  assert.equal(await runningGateway(await homeOf(t, { gateway_state: "running" })), null);
  assert.equal(await runningGateway(await homeOf(t, { pid: 2 ** 30, start_time: null })), null);
});

test("a process with its start time is believed; a number that was given away is not", async (t) => {
  if (self.startTime === null) return;
  const named = await homeOf(t, { pid: self.pid, start_time: self.startTime });
  assert.deepEqual(await runningGateway(named), self);
  const other = await homeOf(t, { pid: self.pid, start_time: self.startTime + 10 });
  assert.equal(await runningGateway(other), null);
});

test("where the system tells no start times, a number counts only while the home is locked", async (t) => {
  const paths = await homeOf(t, { pid: self.pid, start_time: null });
  assert.equal(await runningGateway(paths), null, "it was never locked: the number is some other program's");
  const lock = acquireLock(paths.lock);
  assert.ok(lock.type === "held");
  assert.deepEqual(await runningGateway(paths), { pid: self.pid, startTime: null });
  lock.release();
  assert.equal(await runningGateway(paths), null);
  const again = acquireLock(paths.lock);
  assert.ok(again.type === "held", "looking leaves the lock free");
  again.release();
});

test("what is wanted comes before the marker, and both name the process", async (t) => {
  const paths = await homeOf(t, { pid: self.pid, start_time: self.startTime, desired_state: "running" });
  const owner = { name: "somebody", uid: null, home: paths.home };
  await announceStop(paths, self, owner, 1_000);
  assert.equal((await readStateFile(paths.state))?.desired_state, "stopped");
  const found = await readMarker(paths.plannedStop);
  assert.ok(found.type === "found");
  assert.equal(found.marker.target_pid, self.pid);
  assert.equal(found.marker.stopper_pid, process.pid);
});
