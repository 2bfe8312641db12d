// A pause that ends early when something happens, and leaves nothing behind: no timer, no listener.

/** Takes a listener, and answers how to take it back. */
export type Event = (listener: () => void) => () => void;

/** After this time, or when one of them happens; whichever comes first. */
export function firstOf(ms: number, event: Event | null, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      off?.();
      done();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    const off = event?.(end);
  });
}
