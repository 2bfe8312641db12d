// What a step ends with when everybody on its list has failed: one sentence and one word on trying again. Pure.

import type { Step } from "../../../ports/agent.ts";
import { type Failure, turnFailureOf } from "./translate.ts";

/** Nobody waits longer than this in silence: beyond it the user is told to come back. */
const patienceMs = 15 * 60_000;

/** The failures in the order of the list: the first is about the model the user wanted. */
export function outcome(failures: readonly Failure[]): Extract<Step, { type: "failed" }> {
  const [first] = failures;
  if (first === undefined) return { type: "failed", retry: "never", why: "No model is set: set agent.model." };
  const waits = failures.filter(mayPass);
  const also = failures.slice(1).map(({ why }) => why);
  const failure = turnFailureOf(first);
  const why = [first.why, ...new Set(also.length > 0 ? ["The fallbacks failed too:", ...also] : [])].join(" ");
  if (waits.length === 0) return { type: "failed", retry: "never", why, failure };
  const soonest = Math.min(...waits.map(({ afterMs }) => afterMs ?? 0));
  if (soonest > patienceMs) {
    return {
      type: "failed",
      retry: "never",
      why: `${why} Try again in ${spoken(soonest)}, or choose another model with /model.`,
      failure,
    };
  }
  return { type: "failed", retry: "later", ...(soonest > 0 ? { afterMs: soonest } : {}), why, failure };
}

/** Whether waiting helps. */
export function mayPass({ kind, next }: Failure): boolean {
  return next === "later" || kind === "rate";
}

function spoken(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
