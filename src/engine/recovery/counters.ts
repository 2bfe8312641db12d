// A count of interruptions that an earlier gateway left as a file is taken over into ours, once: the larger one counts.
// That it was taken over is stored in the same commit, so a file that cannot be removed does no harm.

import type { Change } from "../../core/change.ts";
import { limits } from "../../core/limits.ts";
import type { Parts } from "../parts.ts";

export type Counters = {
  /** By session key. */
  readonly counts: Readonly<Record<string, number>>;
  readonly hash: string;
  /** Whether it is gone now. */
  remove(): Promise<boolean>;
};

/** The counts as they are with the file's; the changes are to be stored before anything that was decided by them. */
export type Merged = {
  readonly changes: readonly Change[];
  strikesOf(key: string): Promise<number>;
  struckOut(): Promise<readonly string[]>;
};

const fact = "counters-merged";

export async function mergeCounters({ store }: Parts, found: Counters | null): Promise<Merged> {
  const larger = new Map<string, number>();
  const changes: Change[] = [];
  if (found !== null && (await store.fact(fact)) !== found.hash) {
    for (const [key, count] of Object.entries(found.counts)) {
      // A count for a conversation that there is not means nothing here.
      if (count <= (await store.strikes(key)) || (await store.sessionOf(key)) === null) continue;
      larger.set(key, count);
      changes.push({ put: "strikes", key, strikes: count });
    }
    changes.push({ put: "fact", name: fact, value: found.hash });
  }
  return {
    changes,
    strikesOf: async (key) => larger.get(key) ?? store.strikes(key),
    async struckOut() {
      const out = [...larger].flatMap(([key, strikes]) => (strikes >= limits.strikesMax ? [key] : []));
      return [...new Set([...(await store.struckOut()), ...out])];
    },
  };
}

/** Removes the file; only then is it forgotten that there was one. */
export async function settleCounters({ ledger, world }: Parts, found: Counters | null): Promise<void> {
  if (found === null) return;
  if (await found.remove()) await ledger.keep([{ put: "fact", name: fact, value: "" }]);
  else world.log("warn", "a file of restart counts was taken over but could not be removed; it is not read again");
}
