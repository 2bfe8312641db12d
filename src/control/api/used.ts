// What models have used and what waits for an answer, as the protocol shows it. Pure.

import type { Entry } from "../../core/journal.ts";
import { formatAddress } from "../../core/message.ts";
import { type Spent, nothingSpent, spend } from "../../core/usage.ts";
import type { AskedLine, EntryLine, UsageLine } from "../../ports/store.ts";
import type { QuestionView, UsedView } from "../protocol.ts";

export function toQuestion(asked: AskedLine): QuestionView {
  const { question, kind, text, choices, turn, session, address, until } = asked;
  return { id: question, kind, text, choices, turn, session, address: formatAddress(address), until };
}

/** Of lines with the newest day first: all of them together, and the models among them. */
export function toUsed(lines: readonly UsageLine[]): UsedView {
  return { total: lines.reduce(add, nothingSpent), models: [...new Set(lines.map((one) => one.model))] };
}

/** What the steps of one turn used. */
export function usedIn(entries: readonly EntryLine[]): Spent {
  return entries.map(({ entry }) => usageOf(entry)).reduce((sum, one) => (one ? spend(sum, one) : sum), nothingSpent);
}

function usageOf(entry: Entry) {
  return entry.type === "said" || entry.type === "compacted" ? entry.usage : undefined;
}

function add(a: Spent, b: Spent): Spent {
  return {
    steps: a.steps + b.steps,
    input: a.input + b.input,
    cached: a.cached + b.cached,
    output: a.output + b.output,
    cost: a.cost + b.cost,
    unpriced: a.unpriced + b.unpriced,
  };
}
