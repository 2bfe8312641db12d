// Whether a step that failed is tried again, and when. What passes by itself, such as an overloaded model, is waited for
// with patience; what is simply wrong gets a few quick tries. Pure.

import { type Instant, later, shortTime } from "../ids.ts";
import { limits } from "../limits.ts";
import { retryPauseMs } from "../outbox.ts";
import type { TurnFailure } from "./failure.ts";

/** `later`: it may succeed by itself. `soon`: the answer was unusable or never came, and another one may be better. */
export type Failure = {
  readonly retry: "later" | "soon" | "never";
  readonly afterMs?: number;
  readonly why: string;
  readonly failure?: TurnFailure;
};

/** Failures in a row. */
export type Row = { readonly count: number; readonly since: Instant };

export type Patience =
  | { readonly type: "again"; readonly at: Instant; readonly row: Row }
  | { readonly type: "give-up"; readonly why: string };

export function decideRetry(row: Row | null, failure: Failure, now: Instant, chance: number): Patience {
  const next: Row = { count: (row?.count ?? 0) + 1, since: row?.since ?? now };
  if (failure.retry === "never") return { type: "give-up", why: failure.why };
  const pause = Math.min(limits.stepPauseMaxMs, retryPauseMs(next.count, chance));
  const at = later(now, Math.max(pause, failure.afterMs ?? 0));
  const isEnough =
    failure.retry === "soon" ? next.count >= limits.stepFailuresMax : at > later(next.since, limits.stepPatienceMs);
  if (!isEnough) return { type: "again", at, row: next };
  return { type: "give-up", why: `${failure.why}${triedText(next, failure, at, now)}` };
}

function triedText({ count, since }: Row, { afterMs }: Failure, at: Instant, now: Instant): string {
  const minutes = Math.round((now - since) / 60_000);
  const end = minutes === 0 ? "" : ` over ${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
  const tried = count === 1 ? "" : ` (tried ${count} times${end})`;
  return afterMs !== undefined && at > later(now, limits.stepPauseMaxMs)
    ? `${tried}. It may work again at ${shortTime(at)}`
    : tried;
}

/** Why a turn does not go on at present, since when, and when it is tried again. */
export type Trouble = {
  readonly why: string;
  readonly until: Instant;
  readonly since: Instant;
  readonly failure?: TurnFailure;
};

/** What is said of it meanwhile. */
export function troubleText({ why, until }: Pick<Trouble, "why" | "until">): string {
  const told = /[.?!…]$/.test(why.trim()) ? why.trim() : `${why.trim()}.`;
  return `${told} I try again at ${new Date(until).toISOString().slice(11, 19)} UTC.`;
}
