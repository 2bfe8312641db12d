// What a user must allow before it is done, and the rules that allow it from then on. Pure.

import type { Grant } from "./grant.ts";
import type { Instant } from "./ids.ts";

/** What is to become of a call before it is begun. */
export type Verdict =
  | { readonly type: "run"; readonly grant?: Grant }
  /** Only with its user's word. */
  | {
      readonly type: "approve";
      /** Why it is not simply done, as part of a sentence: "it deletes a folder". */
      readonly why: string;
      /** What the approval gives and what may come of it, in sentences, the worst first; shown in the place of `why`. */
      readonly effects?: readonly string[];
      /** What would be done, to be shown as it is. */
      readonly what: string;
      /** A digest of everything that would be done: arguments, folder, the script that would run. */
      readonly bound: string;
      /** What the call gets in its sandbox once it is approved; part of `bound` and of what is shown. */
      readonly grant?: Grant;
      /**
       * What "always" would allow from then on, in words that a user reads: "writing any content to /etc/hosts". The same
       * for the same thing. Null where it cannot be allowed for good.
       */
      readonly subject: string | null;
    }
  /** The call is a question to the user, and the answer its result. */
  | { readonly type: "question"; readonly text: string; readonly choices: readonly string[]; readonly until: Instant }
  | { readonly type: "refuse"; readonly why: string };

/** A call that may be made without asking, because somebody once said "always". */
export type Rule = {
  readonly id: string;
  readonly tool: string;
  readonly subject: string;
  /** Who allowed it, and where. */
  readonly by: string;
  readonly at: Instant;
  /** The key of the conversation that it holds in, or `everywhere`. */
  readonly scope: string;
  /** It is too wide to be trusted: made before 0.5.0 by somebody who is not the owner. It is shown, and asked again. */
  readonly held?: true;
};

/** The scope of a rule that holds in every conversation. No key of a conversation is this word. */
export const everywhere = "everywhere";

export const approvalChoices = ["approve", "always", "deny"] as const;
export type ApprovalChoice = (typeof approvalChoices)[number];

/** Nothing that one also says without having read a question. */
const spoken: Readonly<Record<string, ApprovalChoice>> = {
  approve: "approve",
  yes: "approve",
  allow: "approve",
  always: "always",
  deny: "deny",
  no: "deny",
};

/** Every word that decides, from any sender; whether it counts is decided elsewhere. */
export const approvalWords: readonly string[] = Object.keys(spoken);

/** What somebody meant by a press or a word; null when it is not an answer to an approval. */
export function readApproval(words: string): ApprovalChoice | null {
  const typed = words.trim().toLowerCase();
  return Object.hasOwn(spoken, typed) ? (spoken[typed] ?? null) : null;
}
