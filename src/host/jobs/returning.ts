// What becomes of jobs when their service goes and comes back. `systemctl restart` only sends a signal, which tells nobody
// that the service comes back; systemd knows, and is asked; without an answer in time it is a stop. And what could not
// leave the control group of the service ends with it in any case.

import { join } from "node:path";
import { type Run, run as runProgram } from "../command.ts";
import { type Unit, scopeWords, unitFromCgroup } from "../supervised.ts";
import { endJob, namesIn } from "./end.ts";
import { isJobId, readClaim, readEnd } from "./folder.ts";
import { cgroupOf, ownUnit } from "./scope.ts";

/** A stop has a second for all processes. */
const askMs = 400;

/** Pure: the line of our unit in the list of what systemd is about to do. */
export function isRestartIn(list: string, unit: Unit): boolean {
  return list.split("\n").some((line) => {
    const [, name, kind] = line.trim().split(/\s+/);
    return name === unit.name && kind === "restart";
  });
}

export async function comesBack(run: Run = runProgram, find: () => Promise<Unit | null> = ownUnit): Promise<boolean> {
  const unit = await find();
  if (unit === null) return false;
  const words = [...scopeWords(unit), "list-jobs", "--plain", "--no-legend", "--full"];
  const { code, out } = await run("systemctl", words, askMs);
  return code === 0 && isRestartIn(out, unit);
}

/** Ended by us they can say how they ended; killed with the service they could not. How many there were. */
export async function endDoomed(folder: string): Promise<number> {
  const own = await cgroupOf("self");
  if (unitFromCgroup(own) === null) return 0;
  const ended = (await namesIn(folder)).filter(isJobId).map(async (id) => {
    const job = join(folder, id);
    const claim = (await readEnd(job)) === null ? await readClaim(job) : null;
    if (claim?.type !== "held" || (await cgroupOf(claim.holder.pid)) !== own) return false;
    return endJob(job, "its service was restarted, and systemd ends whatever is inside of it");
  });
  return (await Promise.all(ended)).filter(Boolean).length;
}
