// What a call cost: from the provider itself where it tells, else from the table of the settings. Pure.

import type { LanguageModelV4Usage, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { Usage } from "../../../core/usage.ts";
import type { Price } from "../options.ts";

const million = 1_000_000;

export function usageOf(
  model: string,
  told: LanguageModelV4Usage,
  prices: Readonly<Record<string, Price>>,
  metadata?: SharedV4ProviderMetadata,
): Usage {
  const { inputTokens, outputTokens } = told;
  const input = count(inputTokens.total);
  const cached = Math.min(count(inputTokens.cacheRead), input);
  const output = count(outputTokens.total);
  const cost = toldCost(told.raw) ?? toldCost(metadata?.["openrouter"]) ?? priced(prices[model], input, cached, output);
  return { model, input, cached, output, cost };
}

/** Nothing that a server tells is added up before it is looked at. */
function count(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? Math.round(tokens) : 0;
}

function toldCost(raw: Readonly<Record<string, unknown>> | undefined): number | null {
  const cost = raw?.["cost"];
  return typeof cost === "number" && Number.isFinite(cost) && cost >= 0 ? Math.round(cost * million) : null;
}

/** Dollars per million tokens are millionths of a dollar per token. */
function priced(price: Price | undefined, input: number, cached: number, output: number): number | null {
  if (price === undefined) return null;
  return Math.round((input - cached) * price.input + cached * (price.cached ?? price.input) + output * price.output);
}
