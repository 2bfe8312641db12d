// Tokens and money in words. Pure. What has no price is said to have none, so that nobody takes it for free.

import type { Spent, Usage } from "../../core/usage.ts";

/** Cents where they matter, more digits where only they show that it was not nothing. */
export function dollars(millionths: number): string {
  const amount = millionths / 1e6;
  if (amount > 0 && amount < 0.0001) return "<$0.0001";
  return `$${amount.toFixed(amount === 0 || amount >= 1 ? 2 : 4)}`;
}

export function count(tokens: number): string {
  return tokens.toLocaleString("en");
}

export function costText({ steps, cost, unpriced }: Spent): string {
  if (unpriced === 0) return dollars(cost);
  return unpriced >= steps ? "no price known" : `${dollars(cost)} and ${unpriced} of ${steps} steps without a price`;
}

/** One step, or a compaction. */
export function usageText({ model, input, cached, output, cost }: Usage): string {
  return `${model}: ${tokensText({ input, cached, output })}, ${cost === null ? "no price known" : dollars(cost)}`;
}

/** Several steps together; null when no model was asked. */
export function spentText(spent: Spent): string | null {
  if (spent.steps === 0) return null;
  const steps = spent.steps === 1 ? "1 step" : `${spent.steps} steps`;
  return `${steps}: ${tokensText(spent)}, ${costText(spent)}`;
}

function tokensText({ input, cached, output }: Pick<Spent, "input" | "cached" | "output">): string {
  return `${count(input)} in${cached === 0 ? "" : ` (${count(cached)} cached)`}, ${count(output)} out`;
}
