// One of something for each person, and never more than so many: the least recently used one that rests makes room, and
// one that rests for long is ended.

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
  /** One that was not asked for in this time is ended. */
  readonly idleMs?: number;
  /** Never for that reason. */
  readonly keeps?: string;
};

/** Of each program. */
export const peopleMax = 16;
const defaultIdleMs = 15 * 60_000;

export function personPool<T>(options: PoolOptions<T>): PersonPool<T> {
  const { max, isIdle, end, idleMs = defaultIdleMs, keeps } = options;
  /** The least recently used first. */
  const all = new Map<string, { readonly one: T; readonly timer: NodeJS.Timeout | null }>();

  function remove(person: string): void {
    const found = all.get(person);
    if (found === undefined) return;
    all.delete(person);
    if (found.timer !== null) clearTimeout(found.timer);
    end(found.one);
  }

  /** One at work is looked at again later. */
  function keep(person: string, one: T): void {
    const look = (): void => {
      if (isIdle(one)) remove(person);
      else keep(person, one);
    };
    const timer = person === keeps ? null : setTimeout(look, idleMs);
    timer?.unref();
    all.delete(person);
    all.set(person, { one, timer });
  }

  return {
    get(person, open) {
      const found = all.get(person);
      if (found === undefined && all.size >= max) {
        const idle = [...all].find(([, { one }]) => isIdle(one));
        if (idle === undefined) return null;
        remove(idle[0]);
      }
      if (found !== undefined && found.timer !== null) clearTimeout(found.timer);
      const one = found?.one ?? open();
      keep(person, one);
      return one;
    },
    all: () => [...all.values()].map(({ one }) => one),
  };
}
