// What a judgment means for a call of any other tool under the policy of the configuration, as one table. Pure.

import type { Verdict } from "../../core/approval.ts";
import type { ToolEffect } from "../../core/journal.ts";

/** How much is asked: every change, what reaches further than the sandbox or may be dangerous, or only the former. */
export type Policy = "always" | "dangerous" | "never";

export type Judgment =
  | { readonly level: "plain" }
  /** `why` is part of a sentence: "it interrupts everything that runs". `isWider`: it is asked under every policy. */
  | { readonly level: "dangerous"; readonly why: string; readonly isWider?: boolean }
  /** Not done under any policy. */
  | { readonly level: "forbidden"; readonly why: string };

export const plain: Judgment = { level: "plain" };
export const dangerous = (why: string): Judgment => ({ level: "dangerous", why });
/** Something outside of the sandbox, or new hosts: `approvals: never` does not cover it. */
export const wider = (why: string): Judgment => ({ level: "dangerous", why, isWider: true });
export const forbidden = (why: string): Judgment => ({ level: "forbidden", why });

export type PolicyCase = {
  readonly policy: Policy;
  readonly judgment: Judgment;
  readonly effect: ToolEffect;
  /** Something in this conversation was written by strangers. */
  readonly outside: boolean;
  /** What would be done, to be shown as it is. */
  readonly what: string;
  /** What "always" would allow, in words; null where it cannot be allowed for good. */
  readonly subject: string | null;
  readonly bound: string;
};

export function verdictOf({ policy, judgment, effect, outside, what, subject, bound }: PolicyCase): Verdict {
  if (judgment.level === "forbidden") return { type: "refuse", why: `Refused: ${judgment.why}.` };
  const reason = reasonToAsk(policy, judgment, effect, outside);
  return reason === null ? { type: "run" } : { type: "approve", why: reason, what, bound, subject };
}

/** Null when there is none. */
function reasonToAsk(policy: Policy, judgment: Judgment, effect: ToolEffect, outside: boolean): string | null {
  const why = judgment.level === "plain" ? null : judgment.why;
  if (policy === "always")
    return why ?? (effect === "pure" ? null : "it changes something, and every change is asked for");
  if (why === null) return null;
  if (policy === "dangerous" || (judgment.level === "dangerous" && judgment.isWider === true)) return why;
  // What strangers wrote may be what made the model want this.
  return outside ? `${why}, and this conversation holds text from outside` : null;
}
