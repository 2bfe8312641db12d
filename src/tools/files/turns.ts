// Whoever changes a file waits for whoever changes the same one: two conversations may want it at once, and each reads
// before it writes.

export type InTurn = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Runs one piece of work per name at a time, in the order they came; forgets names that nobody waits for. */
export function turnstile(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const before = last.get(name) ?? Promise.resolve();
    // How the one before ended is told to who asked for it.
    const mine = before.then(work, work);
    last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (last.get(name) === mine) last.delete(name);
    }
  };
}
