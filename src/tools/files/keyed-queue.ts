// Work that must not overlap: two conversations may change one file at once, and each reads before it writes.

export type KeyedQueue = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Runs one piece of work per key at a time, in the order they came; keys without work are forgotten. */
export function keyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    // A failure belongs to the caller before; this one runs either way.
    const mine = before.then(work, work);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
