// One of something for each person, and never more than so many: the least recently used one that rests makes room.

export interface PersonPool<T> {
  /** Opened where there is none; null when there is no room, because all of them are at work. */
  get(person: string, open: () => T): T | null;
  all(): readonly T[];
}

export type PoolOptions<T> = {
  readonly max: number;
  readonly isIdle: (one: T) => boolean;
  /** Not waited for. */
  readonly end: (one: T) => void;
};

/** Of each program. */
export const peopleMax = 16;

export function personPool<T>({ max, isIdle, end }: PoolOptions<T>): PersonPool<T> {
  /** The least recently used first. */
  const all = new Map<string, T>();
  return {
    get(person, open) {
      const found = all.get(person);
      if (found === undefined && all.size >= max) {
        const idle = [...all].find(([, one]) => isIdle(one));
        if (idle === undefined) return null;
        all.delete(idle[0]);
        end(idle[1]);
      }
      const one = found ?? open();
      all.delete(person);
      all.set(person, one);
      return one;
    },
    all: () => [...all.values()],
  };
}
