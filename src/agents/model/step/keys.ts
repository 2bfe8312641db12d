// Which keys of a provider rest, and for how long. Kept in memory alone: after a start every key is tried again.

import type { Failure } from "../errors/translate.ts";

export type Picked = {
  /** To be tried in this order; null stands for no key, where none is needed. */
  readonly keys: readonly (string | null)[];
  /** Why those that are left out are; the soonest back first. */
  readonly resting: readonly Failure[];
};

export interface Keys {
  pick(provider: string, keys: readonly string[], now: number): Picked;
  rest(provider: string, key: string | null, failure: Failure, now: number): void;
  works(provider: string, key: string | null): void;
}

export function restingKeys(): Keys {
  const rests = new Map<string, { readonly until: number; readonly failure: Failure }>();
  const name = (provider: string, key: string | null): string => `${provider}\n${key ?? ""}`;
  return {
    pick(provider, keys, now) {
      if (keys.length === 0) return { keys: [null], resting: [] };
      const all = keys.map((key) => ({ key, rest: rests.get(name(provider, key)) }));
      const awake = all.filter(({ rest }) => rest === undefined || rest.until <= now).map(({ key }) => key);
      const asleep = all
        .flatMap(({ key, rest }) => (rest === undefined || rest.until <= now ? [] : [{ key, ...rest }]))
        .toSorted((a, b) => a.until - b.until);
      // Where every key is refused or empty, one is tried all the same: its owner may just have put it right.
      const probe = asleep.find(({ failure }) => failure.kind !== "rate");
      const keep = awake.length > 0 ? awake : probe === undefined ? [] : [probe.key];
      const resting = asleep.map(({ until, failure }) => ({ ...failure, afterMs: until - now }));
      return { keys: keep, resting };
    },
    rest(provider, key, failure, now) {
      if (key !== null && failure.restMs > 0) rests.set(name(provider, key), { until: now + failure.restMs, failure });
    },
    works(provider, key) {
      rests.delete(name(provider, key));
    },
  };
}
