// What is shown while tools run.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../../testing/table.ts";
import type { Entry } from "../journal.ts";
import { callLine, doneCalls, latestText, progressText } from "./progress.ts";

const call = (tool: string, input: unknown) => ({ call: "1", tool, input });

table(
  "the line of a call",
  [
    { name: "without input", one: call("list", {}), gives: "… list" },
    { name: "with one thing", one: call("terminal", { command: "npm test" }), gives: "… terminal: npm test" },
    {
      name: "with several",
      one: call("read_file", { path: "a.ts", from: 3 }),
      gives: "… read_file: path a.ts, from 3",
    },
    { name: "what is large inside is left out", one: call("x", { list: [1, 2], name: "n" }), gives: "… x: n" },
    { name: "plain text", one: call("x", "words"), gives: "… x: words" },
    { name: "nothing at all", one: call("x", null), gives: "… x" },
    { name: "lines and control characters", one: call("t", { c: "a\n\tb\u001b[31m" }), gives: "… t: a b [31m" },
    { name: "long", one: call("t", { c: "y".repeat(1_000_000) }), gives: `… t: ${"y".repeat(94)}…` },
  ],
  ({ one, gives }) => assert.equal(callLine(one, "…"), gives),
);

test("the text so far, what runs, and the last line of what it told", () => {
  const running = [
    { call: call("terminal", { command: "npm ci" }), told: "fetching\n45 %\n" },
    { call: call("fetch_url", { url: "x" }), told: null },
  ];
  assert.equal(progressText("I look.", [], running), "I look.\n\n… terminal: npm ci\n  45 %\n… fetch_url: x");
  assert.equal(progressText("", [], running.slice(1)), "… fetch_url: x");
  assert.equal(progressText("I look.", [], []), "I look.");
});

test("what is done comes first with its mark, and of many the last are shown", () => {
  const done = (["ok", "failed", "unknown"] as const).map((result) => ({ call: call(result, {}), result }));
  const running = [{ call: call("terminal", {}), told: "x" }];
  assert.equal(progressText("I look.", done, running), "I look.\n\n✓ ok\n✗ failed\n? unknown\n… terminal\n  x");
  const many = Array.from({ length: 19 }, (_, i) => ({ call: call(`t${i}`, {}), result: "ok" as const }));
  const lines = progressText("", many, running).split("\n");
  assert.equal(lines[0], "… and 12 more before");
  assert.deepEqual(lines.slice(1), [...Array.from({ length: 7 }, (_, i) => `✓ t${i + 12}`), "… terminal", "  x"]);
});

test("calls belong to their step: the same id twice is two calls", () => {
  const said = (tool: string): Entry => ({ type: "said", text: tool, calls: [call(tool, {})], final: false });
  const ended = (type: "ok" | "failed"): Entry => ({
    type: "tool-ended",
    call: "1",
    result: type === "ok" ? { type, output: 1 } : { type, why: "" },
  });
  const journal = [said("a"), ended("ok"), said("b"), ended("failed"), said("c")];
  assert.deepEqual(
    doneCalls(journal).map((one) => [one.call.tool, one.result]),
    [
      ["a", "ok"],
      ["b", "failed"],
    ],
  );
  assert.equal(latestText(journal), "c");
});
