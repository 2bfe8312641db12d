// When a stream that ended is opened again. A server or a proxy that closes every stream at once must not cause a storm of
// requests, whatever `retry` it sends.

import type { StreamableHTTPClientTransportOptions } from "@modelcontextprotocol/client";

/** `answer` is the rest of the answer to a call, which its caller waits for. */
export type StreamKind = "notifications" | "answer";

/** A stream that lived for this long did not fail. */
const steadyMs = 30_000;
/** Timers beyond 24 days fire at once. */
const askedMaxMs = 3_600_000;
const pauses: Readonly<Record<StreamKind, { readonly minMs: number; readonly maxMs: number }>> = {
  notifications: { minMs: 1_000, maxMs: 60_000 },
  answer: { minMs: 100, maxMs: 1_000 },
};

/** The pause after a stream of this kind, which follows one that had the pause `lastMs`. */
export function nextPause(kind: StreamKind, lastMs: number, livedMs: number): number {
  const { minMs, maxMs } = pauses[kind];
  return livedMs >= steadyMs ? minMs : Math.min(Math.max(lastMs * 2, minMs), maxMs);
}

type Scheduler = NonNullable<StreamableHTTPClientTransportOptions["reconnectionScheduler"]>;

export function streamReconnects(isResuming: () => boolean): Scheduler {
  const last = new Map<StreamKind, { readonly pauseMs: number; readonly openedAt: number }>();
  return (reconnect, askedMs) => {
    const kind = isResuming() ? "answer" : "notifications";
    const { pauseMs, openedAt } = last.get(kind) ?? { pauseMs: 0, openedAt: performance.now() };
    const pause = nextPause(kind, pauseMs, performance.now() - openedAt);
    const waitMs = Math.min(Math.max(askedMs, pause), askedMaxMs);
    last.set(kind, { pauseMs: pause, openedAt: performance.now() + waitMs });
    const timer = setTimeout(reconnect, waitMs);
    timer.unref();
    return () => clearTimeout(timer);
  };
}
