// Why an answer does nothing any more: whoever presses a button twice, or a week later, is told what became of it. Pure.

import { type Instant, type TurnId, shortTime } from "../ids.ts";
import type { Entry } from "../journal.ts";
import type { Turn } from "../turn.ts";

/** The name of a question says whose it is, so that it is found however long ago it was asked. */
export function questionId(turn: TurnId, n: number): string {
  return `${turn}.q${n}`;
}

export function turnOfQuestion(question: string): TurnId | null {
  const match = /^(.+)\.q\d+$/.exec(question);
  return match === null ? null : (match[1] as TurnId);
}

/** `answered`: with these words. `gone`: nobody ever asked it, as far as is known. */
export type Fate =
  | { readonly type: "open" }
  | {
      readonly type: "answered";
      readonly choice: string;
      /** Who did, and where; null where nobody noted it. */
      readonly by: string | null;
      readonly choices: readonly string[];
      readonly at: Instant;
    }
  | { readonly type: "expired"; readonly at: Instant }
  | { readonly type: "withdrawn"; readonly why: string; readonly at: Instant }
  | { readonly type: "gone" };

type Line = { readonly at: Instant; readonly entry: Entry };

export function fateOf(question: string, turn: Turn | null, lines: readonly Line[]): Fate {
  const asking = lines.flatMap(({ entry }) =>
    (entry.type === "asked" || entry.type === "call-asked") && entry.question === question ? [entry] : [],
  );
  const [asked] = asking;
  if (turn === null || asked === undefined) return { type: "gone" };
  for (const { at, entry } of lines) {
    if (entry.type !== "answered" || entry.question !== question) continue;
    const { choice, by = null } = entry;
    return choice === null ? { type: "expired", at } : { type: "answered", choice, by, choices: asked.choices, at };
  }
  if (turn.now.state !== "done") return { type: "open" };
  return { type: "withdrawn", why: turn.now.why ?? "what it was about has ended", at: turn.now.doneAt };
}

export function fateText(fate: Fate): string {
  switch (fate.type) {
    case "open":
      return "That question is still open, in another conversation. Answer it there.";
    case "answered":
      return `Nothing was done: that was answered already, with "${fate.choice}", on ${shortTime(fate.at)}${fate.by === null ? "" : ` by ${fate.by}`}.`;
    case "expired":
      return `Nothing was done: nobody answered in time, so it ended on ${shortTime(fate.at)}. Ask for it again if you still want it.`;
    case "withdrawn":
      return `Nothing was done: the question was withdrawn on ${shortTime(fate.at)} (${fate.why}).`;
    case "gone":
      return "Nothing was done: I do not know that question.";
  }
}
