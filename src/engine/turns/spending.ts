// What a step cost goes into the commit that stores it, and before each step it is asked whether another may be paid for.

import type { Change } from "../../core/change.ts";
import type { Entry } from "../../core/journal.ts";
import { type Usage, dayOf, hasDayLimit, nothingSpent, overBudget, spentIn } from "../../core/usage.ts";
import type { Parts } from "../parts.ts";
import type { Running } from "./run.ts";

export function costOf({ world }: Parts, { session }: Running, usage: Usage | undefined): readonly Change[] {
  if (usage === undefined) return [];
  return [{ put: "usage", day: dayOf(world.now()), session: session.id, usage }];
}

/** Why no further step may be made; null while there is something left. */
export async function overspent({ settings, store, world }: Parts, journal: readonly Entry[]): Promise<string | null> {
  const { budget } = settings;
  if (budget === undefined || budget === null) return null;
  const now = world.now();
  const today = hasDayLimit(budget) ? await store.spentOn(dayOf(now)) : nothingSpent;
  return overBudget(budget, spentIn(journal), today, now);
}
