// How long a caller waits, and how it wants its answer, as far as its headers tell. Pure.

import { apiLimits } from "../api.ts";

export type CallerPatience = {
  /** By then the request has its answer or an error. */
  readonly deadline: number;
  readonly blanksAfter: number;
  /** By then a stream has begun. */
  readonly holdUntil: number;
};

/** What is kept of the caller's time for the way back. */
const marginMs = 1_000;

/** OpenAI's clients send their time limit. Behind a proxy, which may have a shorter one, signs of life begin earlier. */
export function patienceOf(
  headers: Headers,
  { isStream, holdMs, now }: { readonly isStream: boolean; readonly holdMs: number; readonly now: number },
): CallerPatience {
  const isProxied = ["via", "forwarded", "x-forwarded-for"].some((name) => headers.has(name));
  const blanksAfter = isProxied ? apiLimits.blanksAfterPingsProxied : apiLimits.blanksAfterPings;
  const seconds = Number(headers.get("x-stainless-timeout") ?? headers.get("x-stainless-read-timeout") ?? Number.NaN);
  const ms = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : apiLimits.waitMs;
  // Once anything was sent an error has no status, so it is left to the caller when to stop.
  const isShort = ms < blanksAfter * apiLimits.pingMs;
  const shortMs = Math.max(ms - marginMs, ms / 2);
  return {
    deadline: now + (isShort && !isStream ? shortMs : apiLimits.waitMs),
    blanksAfter,
    holdUntil: now + Math.min(holdMs, shortMs),
  };
}

/** Whether an answer that is fetched goes on as a stream: asked for in words, or by naming an event of it. */
export function wantsStream(query: URLSearchParams, headers: Headers): boolean {
  const asked = query.get("stream");
  if (asked !== null) return asked !== "false" && asked !== "0";
  if (headers.get("accept")?.includes("text/event-stream") === true) return true;
  return query.has("after") || headers.has("last-event-id");
}
