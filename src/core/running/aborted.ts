// Work that cannot be broken off, and somebody who waits for it and can be told to stop. Pure.

/** What the work gives, or the reason of the abort as soon as there is one; what it still does then is nobody's concern. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    // The abort comes first: work that is done already does not hide it.
    return await Promise.race([promise, work]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
