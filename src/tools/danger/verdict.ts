// The policy: what a judgement means for a call, as one table. Pure.

import type { Verdict } from "../../core/approval.ts";
import type { ToolEffect } from "../../core/journal.ts";
import type { Judgement } from "./judgement.ts";

/** How much is asked: everything that changes something, what is dangerous, or nothing. */
export type Policy = "always" | "dangerous" | "never";

export type Case = {
  readonly policy: Policy;
  readonly judgement: Judgement;
  readonly effect: ToolEffect;
  /** Something in this turn was written by strangers. */
  readonly outside: boolean;
  /** What would be done, to be shown as it is. */
  readonly what: string;
  /** What "always" would allow, in words; null where it cannot be allowed for good. */
  readonly subject: string | null;
  readonly bound: string;
};

export function verdictOf({ policy, judgement, effect, outside, what, subject, bound }: Case): Verdict {
  if (judgement.level === "forbidden") return { type: "refuse", why: `Refused: ${judgement.why}.` };
  const reason = reasonToAsk(policy, judgement, effect, outside);
  return reason === null ? { type: "run" } : { type: "approve", why: reason, what, bound, subject };
}

/** Null when nobody needs to be asked. */
function reasonToAsk(policy: Policy, judgement: Judgement, effect: ToolEffect, outside: boolean): string | null {
  const why = judgement.level === "plain" ? null : judgement.why;
  if (policy === "always")
    return why ?? (effect === "pure" ? null : "it changes something, and every change is asked for");
  if (why === null) return null;
  if (policy === "dangerous") return why;
  // What strangers wrote may be what made the model want this.
  return outside ? `${why}, and this conversation holds text from outside` : null;
}
