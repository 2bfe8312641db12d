import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Entry } from "../../../core/journal.ts";
import type { Collected, CollectedPart } from "./collect.ts";
import { saidOf } from "./said.ts";

const call = (id: string, input = "{}"): CollectedPart => ({ type: "call", id, tool: "look", input });
const usage = { model: "openai/x", input: 1, cached: 0, output: 1, cost: null };

function made(
  parts: readonly CollectedPart[],
  more: {
    finish?: "length" | "stop" | "content-filter";
    raw?: string;
    closing?: boolean;
    journal?: readonly Entry[];
  } = {},
) {
  const { finish = "stop", raw = finish, closing = false, journal = [] } = more;
  const collected: Collected = {
    parts,
    finish: { unified: finish, raw },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    metadata: undefined,
  };
  return saidOf({ collected, model: "openai/x", usage, estimated: 9 }, journal, { closing, isForProgram: false });
}

describe("an answer as a step", () => {
  test("ids that repeat, in the step or in the turn, become new ones", () => {
    const journal: readonly Entry[] = [
      { type: "said", text: "", calls: [{ call: "b", tool: "look", input: {} }], final: false },
    ];
    const { calls } = made([call("a"), call("a"), call("b"), call("")], { journal });
    assert.deepEqual(
      calls.map((one) => one.call),
      ["a", "a_2", "b_2", "call_"],
    );
  });

  for (const [raw, input] of [
    ['{"a":1}', { a: 1 }],
    ["", {}],
    ["  ", {}],
    ["{oops", /JSON/],
    ["[1]", /not a JSON object/],
    ["7", /not a JSON object/],
    ["null", /not a JSON object/],
  ] as const) {
    test(`arguments ${JSON.stringify(raw)}`, () => {
      const [first] = made([call("a", raw)]).calls;
      if (input instanceof RegExp) assert.match(JSON.stringify(first?.input), input);
      else assert.deepEqual(first?.input, input);
    });
  }

  test("what the text and the calls tell by themselves is not stored again", () => {
    assert.deepEqual(made([{ type: "text", text: "hi" }, call("a")]).data, {
      model: "openai/x",
      finish: "stop",
      estimated: 9,
      parts: [],
    });
  });

  test("thoughts, marks and the order of several texts are", () => {
    const { data, text } = made([
      { type: "reasoning", text: "hm", meta: { anthropic: { signature: "s" } } },
      { type: "text", text: "one" },
      { type: "text", text: "" },
      { type: "text", text: "two" },
      { ...call("a"), meta: { google: { thoughtSignature: "t" } } },
    ]);
    assert.equal(text, "one\n\ntwo");
    assert.deepEqual((data as { parts: unknown }).parts, [
      { type: "reasoning", text: "hm", meta: { anthropic: { signature: "s" } } },
      { type: "text", text: "one" },
      { type: "text", text: "two" },
      { type: "call", call: "a", meta: { google: { thoughtSignature: "t" } } },
    ]);
  });

  test("the last step has no calls, and never no words", () => {
    const last = made([call("a")], { closing: true });
    assert.deepEqual([last.calls, last.final], [[], true]);
    assert.match(last.text, /limit of steps/);
  });

  test("cut off in the middle of a call, it is still a call", () => {
    const cut = made([{ type: "text", text: "I will" }, call("a", '{"path": "x')], { finish: "length" });
    assert.deepEqual([cut.text, cut.final, cut.calls.length], ["I will", false, 1]);
  });

  for (const [name, finish, raw, text] of [
    ["whole", "stop", "stop", "Step 1"],
    ["too long", "length", "length", /^Step 1\n\n\[The answer was cut off here: it reached the most/],
    [
      "cut by a filter",
      "content-filter",
      "SAFETY",
      "Step 1\n\n[The answer was cut off here by the provider's filter.]",
    ],
    ["refused in whole words of the model", "content-filter", "stop", "Step 1"],
  ] as const) {
    test(`the end of an answer: ${name}`, () => {
      const given = made([{ type: "text", text: "Step 1" }], { finish, raw });
      if (text instanceof RegExp) assert.match(given.text, text);
      else assert.equal(given.text, text);
      assert.equal(given.final, true);
    });
  }
});
