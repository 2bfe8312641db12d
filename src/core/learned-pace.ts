// The rate of an account whose platform publishes none, learned from refusals. Pure.

import type { Instant } from "./ids.ts";
import type { SendResult } from "./outbox.ts";

/** On average one request in `everyMs`, and so many in a row after a quiet time. */
export type LearnedPace = { readonly everyMs: number; readonly burst: number };

export type Learning = {
  /** Null while nothing was refused. */
  readonly pace: LearnedPace | null;
  /** Requests that were accepted since the last refusal, or since a quiet time. */
  readonly inRow: number;
  readonly acceptedAt: Instant;
};

export const nothingLearned: Learning = { pace: null, inRow: 0, acceptedAt: 0 as Instant };

/** After such a silence a burst begins anew. */
const quietMs = 60_000;
/** A longer pause is a penalty, and says nothing about the rate. */
const everyMaxMs = 30_000;
/** After more time than this a burst is not used up by the last accepted request. */
const sinceMaxMs = 10_000;
const burstMax = 20;
/** Slower than the refusal says: at the very edge the next request is refused again. */
const margin = 1.2;
/** So many requests without a refusal, then a little more is tried. At most one in so many is refused for it. */
const relaxAfter = 200;
/** A faster rate than this needs no learning. */
const forgottenMs = 50;

/**
 * When nothing is left of a burst, one request takes the time from the last accepted one until the pause is over. A refusal
 * in spite of what was learned means that it was too optimistic. Refusals during a pause were sent before it began and
 * teach nothing.
 */
export function study(before: Learning, result: SendResult, at: Instant, isResting: boolean): Learning {
  if (result.type === "accepted") return accepted(before, at);
  const isRefused = result.type === "retry" && result.all === true && result.afterMs > 0;
  if (!isRefused || isResting || result.afterMs > everyMaxMs) return before;
  const sinceMs = at - before.acceptedAt;
  const onceMs = result.afterMs + (sinceMs < sinceMaxMs ? sinceMs : 0);
  return { ...before, pace: slower(before, Math.min(everyMaxMs, onceMs * margin)), inRow: 0 };
}

function accepted({ pace, inRow, acceptedAt }: Learning, at: Instant): Learning {
  if (pace === null) return { pace, inRow: at - acceptedAt > quietMs ? 1 : inRow + 1, acceptedAt: at };
  if (inRow + 1 < relaxAfter) return { pace, inRow: inRow + 1, acceptedAt: at };
  return { pace: faster(pace), inRow: 0, acceptedAt: at };
}

function slower({ pace, inRow }: Learning, askedMs: number): LearnedPace {
  if (pace === null) return { everyMs: askedMs, burst: clamped(inRow / 2) };
  return { everyMs: Math.min(everyMaxMs, Math.max(askedMs, pace.everyMs * margin)), burst: clamped(pace.burst / 2) };
}

function faster({ everyMs, burst }: LearnedPace): LearnedPace | null {
  return everyMs / margin < forgottenMs ? null : { everyMs: everyMs / margin, burst: clamped(burst + 1) };
}

function clamped(burst: number): number {
  return Math.min(burstMax, Math.max(1, Math.floor(burst)));
}
