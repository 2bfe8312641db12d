// One of something for each person, and never more than so many: the least recently used one that rests makes room.

export interface PersonPool<T> {
  /** Null when there is no room: all of them are at work. */
  get(person: string): T | null;
  all(): readonly T[];
}

export type PoolOptions<T> = {
  readonly max: number;
  readonly open: (person: string) => T;
  readonly isIdle: (one: T) => boolean;
  /** Not waited for. */
  readonly end: (one: T) => void;
};

/** Of each program. */
export const peopleMax = 16;

export function personPool<T>({ max, open, isIdle, end }: PoolOptions<T>): PersonPool<T> {
  /** The least recently used first. */
  const all = new Map<string, T>();
  return {
    get(person) {
      const found = all.get(person);
      if (found === undefined && all.size >= max) {
        const idle = [...all].find(([, one]) => isIdle(one));
        if (idle === undefined) return null;
        all.delete(idle[0]);
        end(idle[1]);
      }
      const one = found ?? open(person);
      all.delete(person);
      all.set(person, one);
      return one;
    },
    all: () => [...all.values()],
  };
}
