import assert from "node:assert/strict";
import { test } from "node:test";
import { costIn, tokensOf, usageMeter } from "./usage.ts";

test("tokens of a prompt: cached ones are part of the input, thoughts of the output, whichever way they were counted", () => {
  const usage = (totalTokens: number, inputTokens: number, outputTokens: number, more: object = {}) => ({
    usage: { totalTokens, inputTokens, outputTokens, ...more },
  });
  for (const [response, expected] of [
    [usage(110, 100, 10), { input: 100, cached: 0, output: 10 }],
    // Cached apart, as the protocol has it.
    [usage(165, 100, 10, { cachedReadTokens: 50, cachedWriteTokens: 5 }), { input: 155, cached: 50, output: 10 }],
    // Cached inside of the input.
    [usage(110, 100, 10, { cachedReadTokens: 50 }), { input: 100, cached: 50, output: 10 }],
    // Thoughts apart, and inside of the output.
    [usage(117, 100, 10, { thoughtTokens: 7 }), { input: 100, cached: 0, output: 17 }],
    [usage(110, 100, 10, { thoughtTokens: 7 }), { input: 100, cached: 0, output: 10 }],
    [{ usage: { inputTokens: 3, outputTokens: 4 } }, { input: 3, cached: 0, output: 4 }],
    [
      { usage: null, _meta: { quota: { token_count: { input_tokens: 9, output_tokens: 2 } } } },
      { input: 9, cached: 0, output: 2 },
    ],
    [{}, null],
    [null, null],
    [{ usage: { inputTokens: -1, outputTokens: "x" } }, null],
    [{ usage: { inputTokens: Number.NaN, outputTokens: 1 } }, null],
  ] as const)
    assert.deepEqual(tokensOf(response), expected, JSON.stringify(response));
});

test("the cost of a session is dollars, and nothing else counts", () => {
  const update = (cost: unknown) => ({ sessionUpdate: "usage_update", used: 1, size: 2, cost });
  assert.equal(costIn(update({ amount: 0.0123, currency: "USD" })), 12_300);
  for (const cost of [
    null,
    undefined,
    { amount: 1, currency: "EUR" },
    { amount: -1, currency: "USD" },
    { amount: "1" },
  ])
    assert.equal(costIn(update(cost)), null);
  assert.equal(costIn({ sessionUpdate: "plan", cost: { amount: 1, currency: "USD" } }), null);
});

const cost = (amount: number) => ({
  sessionUpdate: "usage_update",
  used: 1,
  size: 2,
  cost: { amount, currency: "USD" },
});
const tokens = (inputTokens: number, outputTokens: number) => ({
  usage: { totalTokens: inputTokens + outputTokens, inputTokens, outputTokens },
});

test("a step has what is new since the one before it", () => {
  const meter = usageMeter("agent", null);
  assert.equal(meter.take(), null);
  meter.update(cost(0.1));
  meter.update(cost(0.25));
  meter.ended(tokens(100, 10));
  meter.ended(tokens(5, 1));
  assert.deepEqual(meter.take(), { model: "acp/agent", input: 105, cached: 0, output: 11, cost: 250_000 });
  assert.equal(meter.take(), null);
  meter.update(cost(0.25));
  assert.equal(meter.take(), null);
  meter.ended(tokens(1, 1));
  assert.equal(meter.take()?.cost, 0, "the agent counts money, and this cost none");
  meter.update(cost(0.3));
  assert.deepEqual(meter.take(), { model: "acp/agent", input: 0, cached: 0, output: 0, cost: 50_000 });
  assert.equal(meter.total(), 300_000);
  const unpriced = usageMeter("agent", null);
  unpriced.ended(tokens(1, 1));
  assert.deepEqual([unpriced.take()?.cost, unpriced.total()], [null, null]);
});

test("what is on record is not counted again, and an agent may count from its own start", () => {
  const again = usageMeter("agent", 300_000);
  again.update(cost(0.4));
  assert.equal(again.take()?.cost, 100_000);
  const anew = usageMeter("agent", 300_000);
  anew.update(cost(0.05));
  anew.update(cost(0.06));
  assert.equal(anew.take()?.cost, 60_000);
});

test("the model is named where the agent names one", () => {
  const meter = usageMeter("agent", null);
  meter.ended({ ...tokens(1, 1), _meta: { quota: { model_usage: [{ model: "m-1" }] } } });
  assert.equal(meter.take()?.model, "acp/agent/m-1");
  meter.ended({ ...tokens(1, 1), _meta: { quota: { model_usage: [{ model: "m-1" }, { model: "m-2" }] } } });
  assert.equal(meter.take()?.model, "acp/agent");
});
