// A planned stop is announced before anything ends the gateway: what its owner wants from now on, then a marker that names
// the process. So the gateway knows its end for a wanted one, and stays down with its container.

import { existsSync } from "node:fs";
import type { Paths } from "../config/paths.ts";
import { type ProcessIdentity, isAlive, readStateFile, writeDesiredState } from "../host/identity.ts";
import { acquireLock } from "../host/lock.ts";
import { newMarker, writeMarker } from "../host/markers.ts";
import { giveTo } from "./files.ts";
import type { Place } from "./kinds.ts";

/** The gateway that serves a home, as far as its state file tells; null when there is none. */
export async function runningGateway(paths: Pick<Paths, "state" | "lock">): Promise<ProcessIdentity | null> {
  const state = await readStateFile(paths.state);
  if (state === null || state.pid === null) return null;
  const identity = { pid: state.pid, startTime: state.start_time };
  if (!isAlive(identity)) return null;
  // A number alone may be another program's by now, and whoever is found here may be killed in the end.
  return identity.startTime === null && !isServed(paths.lock) ? null : identity;
}

/** Whether somebody holds the lock of a home. */
export function isServed(lock: string): boolean {
  if (!existsSync(lock)) return false;
  const found = acquireLock(lock);
  if (found.type === "held") found.release();
  return found.type === "taken";
}

/** What `endServed` writes before it asks; what root writes belongs to the owner of the home, who must read it. */
export async function announceStop(
  paths: Pick<Paths, "state" | "plannedStop">,
  target: ProcessIdentity,
  owner: Place["user"],
  now: number,
): Promise<void> {
  await writeDesiredState(paths.state, "stopped");
  await giveTo(paths.state, owner);
  await writeMarker(paths.plannedStop, newMarker("plannedStop", target, process.pid, now));
  await giveTo(paths.plannedStop, owner);
}
