// Follows a conversation for as long as the caller wants: after every loss it comes back with the cursor of what it has
// seen, so nothing is missed and nothing is told twice.

import { setTimeout as pause } from "node:timers/promises";
import { Fault } from "../../core/fault.ts";
import type { Message } from "../../core/message.ts";
import type { Client } from "../../control/client.ts";

export type FeedEvent =
  | { readonly type: "message"; readonly message: Message }
  | { readonly type: "draft"; readonly text: string | null }
  /** Everything stored so far was told. */
  | { readonly type: "live" }
  | { readonly type: "away"; readonly why: string }
  /** Connected again; `restarted` when it is another run of the gateway. */
  | { readonly type: "back"; readonly restarted: boolean };

const pauseMinMs = 100;
const pauseMaxMs = 2_000;

export async function follow(
  connect: () => Client,
  path: string,
  told: (event: FeedEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const seen: { n: number | null; boot: string | null } = { n: null, boot: null };
  let isAway = false;
  let pauseMs = pauseMinMs;

  function tell(type: string, data: string): void {
    const value = JSON.parse(data) as unknown;
    if (type === "hello") {
      const hello = value as { readonly boot: string };
      if (isAway) told({ type: "back", restarted: seen.boot !== hello.boot });
      seen.boot = hello.boot;
      isAway = false;
      pauseMs = pauseMinMs;
    }
    if (type === "live") {
      seen.n ??= 0;
      told({ type: "live" });
    }
    if (type === "draft") told({ type: "draft", text: (value as { readonly text: string | null }).text });
    if (type === "message") {
      const message = value as Message;
      if (seen.n !== null && message.n <= seen.n) return;
      seen.n = message.n;
      told({ type: "message", message });
    }
  }

  while (!signal.aborted) {
    let why = "the gateway stopped";
    try {
      const after = seen.n === null ? "" : `?after=${seen.n}`;
      for await (const { type, data } of connect().events(`${path}${after}`, signal)) tell(type, data);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Fault)) throw error;
      why = error.message;
    }
    if (signal.aborted) return;
    if (!isAway) told({ type: "away", why });
    isAway = true;
    await rest(pauseMs, signal);
    pauseMs = Math.min(pauseMaxMs, pauseMs * 2);
  }
}

/** Resolves after the time, or at once when the signal aborts. */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal });
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
