import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { usageOf } from "./prices.ts";

const told = (input?: number, cacheRead?: number, output?: number, raw?: { cost: number }): LanguageModelV4Usage => ({
  inputTokens: { total: input, noCache: undefined, cacheRead, cacheWrite: undefined },
  outputTokens: { total: output, text: undefined, reasoning: undefined },
  ...(raw === undefined ? {} : { raw }),
});
const prices = { "openai/x": { input: 2, output: 10, cached: 0.5 }, "openai/y": { input: 1, output: 1 } };

describe("what a call cost", () => {
  for (const [name, model, usage, gives] of [
    ["by the table", "openai/x", told(1_000, 0, 100), { input: 1_000, cached: 0, output: 100, cost: 3_000 }],
    ["with a cache", "openai/x", told(1_000, 600, 100), { input: 1_000, cached: 600, output: 100, cost: 2_100 }],
    [
      "a cache without a price of its own",
      "openai/y",
      told(1_000, 600, 100),
      { input: 1_000, cached: 600, output: 100, cost: 1_100 },
    ],
    ["nobody knows", "openai/z", told(1_000, 0, 100), { input: 1_000, cached: 0, output: 100, cost: null }],
    [
      "as the provider tells it",
      "openai/x",
      told(10, 0, 1, { cost: 0.0123 }),
      { input: 10, cached: 0, output: 1, cost: 12_300 },
    ],
    ["nothing was counted", "openai/x", told(), { input: 0, cached: 0, output: 0, cost: 0 }],
    ["nonsense was counted", "openai/x", told(-5, 90, Number.NaN), { input: 0, cached: 0, output: 0, cost: 0 }],
    ["more from the cache than there was", "openai/x", told(10, 20, 0), { input: 10, cached: 10, output: 0, cost: 5 }],
  ] as const) {
    test(name, () => assert.deepEqual(usageOf(model, usage, prices), { model, ...gives }));
  }
});
