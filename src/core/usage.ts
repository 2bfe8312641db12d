// What a model was paid for: counted per step, added up per turn, conversation and day, and held against a budget. Pure.

import type { Instant } from "./ids.ts";

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
