// Finds the last step that a boot stored before it died, among open turns and the newest ones.

import { type TurnRecord, lastStepOf } from "../core/last-step.ts";
import type { Boot, LastStep } from "../core/recovery.ts";
import type { Archive } from "../ports/store.ts";

const turnsMax = 20;
/** The next boot adds a few entries to a turn before this is asked. */
const entriesMax = 8;

export async function findLastStep(
  archive: Pick<Archive, "turns" | "entries">,
  boot: Pick<Boot, "startedAt">,
  until: number,
): Promise<LastStep | null> {
  const open = await archive.turns({ state: "open", limit: turnsMax });
  const newest = await archive.turns({ limit: turnsMax });
  const turns = [...new Map([...open, ...newest].map((turn) => [turn.id, turn])).values()];
  const records: TurnRecord[] = [];
  for (const turn of turns) records.push({ turn, entries: await archive.entries(turn.id, entriesMax) });
  return lastStepOf(records, boot.startedAt, until);
}
