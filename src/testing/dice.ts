// Chance that can be repeated: the same seed always gives the same throws, so a failing case is named by its seed.

export type Dice = {
  /** A whole number from 0 up to, not including, `below`. */
  throw(below: number): number;
  /** One of the list, which must not be empty. */
  pick<T>(list: readonly T[]): T;
  /** True once in `times` throws on average. */
  once(times: number): boolean;
};

export function dice(seed: number): Dice {
  let state = (seed * 0x9e3779b1) >>> 0;
  // Mulberry32: small, well spread, and the same on every machine.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    throw: below,
    pick: (list) => {
      const one = list[below(list.length)];
      if (one === undefined && list.length === 0) throw new RangeError("nothing to pick from");
      return one as (typeof list)[number];
    },
    once: (times) => below(times) === 0,
  };
}

/** Runs the check once per seed and names the seed that failed. */
export function everySeed(seeds: number, check: (roll: Dice, seed: number) => void): void {
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      check(dice(seed), seed);
    } catch (error) {
      throw new Error(`seed ${seed} failed`, { cause: error });
    }
  }
}
