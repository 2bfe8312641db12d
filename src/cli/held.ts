// Held answers in words, for everything that shows them. Pure.

import type { HeldAnswers } from "../core/held.ts";
import { many, when } from "./print.ts";

export function heldText({ answers, address, since }: HeldAnswers, now: number): string {
  return `${many(answers, "answer")} for ${address} may not have arrived, held since ${when(since, now)}`;
}

export const heldTodo =
  "Send /resend in that chat, or `everturn outbox list --state in-doubt` and `everturn outbox retry <id>`.";
