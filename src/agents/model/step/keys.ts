// Which keys of a provider rest, and for how long. A provider counts requests by the model, so too many to one let the
// key be for the others; a key that is refused or empty is so for all of them. Kept in memory alone: after a start every
// key is tried again.

import type { Failure } from "../errors/translate.ts";
import type { ModelName } from "../providers/names.ts";

export type Picked = {
  /** To be tried in this order; null stands for no key, where none is needed. */
  readonly keys: readonly (string | null)[];
  /** Why those that are left out are; the soonest back first. */
  readonly resting: readonly Failure[];
};

export interface Keys {
  pick(model: ModelName, keys: readonly string[], now: number): Picked;
  rest(model: ModelName, key: string | null, failure: Failure, now: number): void;
  works(model: ModelName, key: string | null): void;
  /** How many rests are remembered. */
  size(): number;
}

type Rest = { readonly until: number; readonly failure: Failure };

export function restingKeys(): Keys {
  const rests = new Map<string, Rest>();
  const everywhere = ({ provider }: ModelName, key: string): string => `${provider}\n${key}`;
  const here = ({ provider, name }: ModelName, key: string): string => `${provider}\n${key}\n${name}`;
  /** What keeps a key from being used; that it is refused counts more than that it is busy. */
  const restOf = (model: ModelName, key: string, now: number): Rest | undefined =>
    [rests.get(everywhere(model, key)), rests.get(here(model, key))].find(
      (rest) => rest !== undefined && rest.until > now,
    );
  return {
    pick(model, keys, now) {
      if (keys.length === 0) return { keys: [null], resting: [] };
      const all = keys.map((key) => ({ key, rest: restOf(model, key, now) }));
      const awake = all.filter(({ rest }) => rest === undefined).map(({ key }) => key);
      const asleep = all
        .flatMap(({ key, rest }) => (rest === undefined ? [] : [{ key, ...rest }]))
        .toSorted((a, b) => a.until - b.until);
      // Where every key is refused or empty, one is tried all the same: its owner may just have put it right.
      const probe = asleep.find(({ failure }) => failure.kind !== "rate");
      const keep = awake.length > 0 ? awake : probe === undefined ? [] : [probe.key];
      const resting = asleep.map(({ until, failure }) => ({ ...failure, afterMs: until - now }));
      return { keys: keep, resting };
    },
    rest(model, key, failure, now) {
      if (key === null || failure.restMs <= 0) return;
      for (const [name, { until }] of rests) if (until <= now) rests.delete(name);
      const name = failure.kind === "rate" ? here(model, key) : everywhere(model, key);
      rests.set(name, { until: now + failure.restMs, failure });
    },
    works(model, key) {
      if (key === null) return;
      rests.delete(everywhere(model, key));
      rests.delete(here(model, key));
    },
    size: () => rests.size,
  };
}
