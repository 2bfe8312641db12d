import assert from "node:assert/strict";
import { test } from "node:test";
import { readSteps, spanOf, stepsLabel } from "./calls.ts";

const said = (...calls: readonly object[]) => ({ type: "said", text: "", calls, final: false });
const call = (id: string, tool: string, input: unknown) => ({ call: id, tool, input });
const begun = (id: string) => ({ type: "tool-begun", call: id, effect: "pure" });
const ended = (id: string, result: object) => ({ type: "tool-ended", call: id, result });
const turn = (...entries: readonly object[]) => ({
  entries: entries.map((entry, i) => ({ n: i, at: i * 1_000, entry })),
});

test("calls are told with what they were given, how they ended and how long they took", () => {
  const steps = readSteps(
    turn(
      said(call("1", "terminal", { command: "npm  test\n-- x" }), call("2", "look", {})),
      begun("1"),
      begun("2"),
      ended("1", { type: "failed", why: "it was\nnot allowed" }),
      ended("2", { type: "ok", output: "big" }),
      // The same id in the next step is another call.
      said(call("1", "write", { path: "a", content: "b" })),
      ended("1", { type: "unknown", why: "gone" }),
      said(call("1", "slow", "x".repeat(500))),
      begun("1"),
    ),
  );
  assert.deepEqual(steps?.lines, [
    { mark: "✗", name: "terminal", input: "npm test -- x", told: "it was not allowed", took: 2_000 },
    { mark: "✓", name: "look", input: "", told: "", took: 2_000 },
    { mark: "?", name: "write", input: "path: a, content: b", told: "gone", took: null },
    { mark: "…", name: "slow", input: `${"x".repeat(119)}…`, told: "", took: null },
  ]);
  assert.equal(steps.count, 4);
});

test("of very many calls the last are told, and of what is no turn nothing", () => {
  const many = Array.from({ length: 250 }, (_, i) => said(call("1", `t${i}`, null)));
  const steps = readSteps(turn(...many));
  assert.deepEqual([steps?.count, steps?.lines.length, steps?.lines[0]?.name], [250, 200, "t50"]);
  for (const value of [null, {}, [], { entries: "x" }]) assert.equal(readSteps(value), null);
  assert.deepEqual(readSteps({ entries: [null, 1, { entry: null }, { at: 1, entry: { type: "said" } }] }), {
    count: 0,
    lines: [],
  });
});

test("counts and spans in words", () => {
  for (const [count, words] of [
    [0, "No calls"],
    [1, "1 call"],
    [1_200, "1,200 calls"],
  ] as const)
    assert.equal(stepsLabel({ count, lines: [] }), words);
  for (const [ms, words] of [
    [40, "0.0 s"],
    [1_250, "1.3 s"],
    [59_000, "59 s"],
    [90_000, "2 min"],
    [5_400_000, "1.5 h"],
  ] as const)
    assert.equal(spanOf(ms), words);
});
