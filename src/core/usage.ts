// What a model was paid for: counted per step, added up per turn, conversation and day, and held against a budget. Pure.

import { type Instant, shortTime } from "./ids.ts";
import type { Entry } from "./journal.ts";

export type Usage = {
  /** As provider/model. */
  readonly model: string;
  /** Tokens sent, those read from the provider's cache among them. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** In millionths of a US dollar; null where no price is known. */
  readonly cost: number | null;
};

/** Several steps together; `cost` counts those whose price is known, `unpriced` the others. */
export type Spent = {
  readonly steps: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly cost: number;
  readonly unpriced: number;
};

/** The most that may be spent; null is no limit. Tokens are input and output together, cost is in millionths of a dollar. */
export type Limit = { readonly tokens: number | null; readonly cost: number | null };
export type Budget = { readonly turn: Limit; readonly day: Limit };

export const nothingSpent: Spent = { steps: 0, input: 0, cached: 0, output: 0, cost: 0, unpriced: 0 };

export function spend(spent: Spent, usage: Usage): Spent {
  return {
    steps: spent.steps + 1,
    input: spent.input + usage.input,
    cached: spent.cached + usage.cached,
    output: spent.output + usage.output,
    cost: spent.cost + (usage.cost ?? 0),
    unpriced: spent.unpriced + (usage.cost === null ? 1 : 0),
  };
}

/** The day a step counts for, as 2026-11-15, in UTC. */
export function dayOf(at: Instant): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** What the model was paid for in one turn. */
export function spentIn(journal: readonly Entry[]): Spent {
  let spent = nothingSpent;
  for (const entry of journal) {
    if ((entry.type === "said" || entry.type === "compacted") && entry.usage !== undefined)
      spent = spend(spent, entry.usage);
  }
  return spent;
}

/** Whether anything is limited over the whole day, so that it must be looked up. */
export function hasDayLimit({ day }: Budget): boolean {
  return day.tokens !== null || day.cost !== null;
}

/** Why no further step may be paid for, as part of a sentence for the user; null while there is something left. */
export function overBudget(budget: Budget, turn: Spent, day: Spent, now: Instant): string | null {
  const tomorrow = `It is free again at ${shortTime((Math.floor(now / dayMs + 1) * dayMs) as Instant)}, or raise`;
  return (
    overLimit(budget.turn, turn, "this turn", "turn", "Send a new message to go on, or raise") ??
    overLimit(budget.day, day, "today all conversations together", "day", tomorrow)
  );
}

const dayMs = 24 * 3_600_000;

function overLimit(
  limit: Limit,
  { input, output, cost }: Spent,
  who: string,
  key: string,
  then: string,
): string | null {
  const tokens = input + output;
  const end = (name: string) => `(agent.budget.${key}${name}). ${then} the limit in the configuration.`;
  if (limit.tokens !== null && tokens >= limit.tokens)
    return `${who} used ${grouped(tokens)} tokens of at most ${grouped(limit.tokens)} ${end("Tokens")}`;
  if (limit.cost !== null && cost >= limit.cost)
    return `${who} used ${dollars(cost)} of at most ${dollars(limit.cost)} ${end("Dollars")}`;
  return null;
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

function dollars(cost: number): string {
  return `$${(cost / 1_000_000).toFixed(2)}`;
}
