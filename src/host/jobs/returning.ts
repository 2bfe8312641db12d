// Whether a stop is half of a restart that systemd itself makes: `systemctl restart` only sends a signal, which tells
// nobody that the service comes back. systemd knows, and is asked; without an answer in time it is a stop.

import { type Run, run as runProgram } from "../command.ts";
import { type Unit, scopeWords } from "../supervised.ts";
import { ownUnit } from "./scope.ts";

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
