import assert from "node:assert/strict";
import { test } from "node:test";
import { stoppedIn, stoppedWords } from "./stopped.ts";

test("what the transcript keeps", () => {
  const cases = [
    { words: "", gives: null },
    { words: " \n", gives: null },
    { words: "one", gives: "one\n\n(Stopped.)" },
    { words: "one \n", gives: "one\n\n(Stopped.)" },
  ];
  for (const { words, gives } of cases) assert.equal(stoppedWords(words), gives);
});

test("what stands in the message that it grew in always has its end, and fits", () => {
  const max = 30;
  const parts = (text: string) => text.match(new RegExp(`[^]{1,${max}}`, "g")) ?? [];
  const cases = [
    { shown: "one", gives: "one\n\n(Stopped.)" },
    { shown: "x".repeat(18), gives: `${"x".repeat(18)}\n\n(Stopped.)` },
    { shown: "x".repeat(19), gives: `${"x".repeat(17)}…\n\n(Stopped.)` },
    { shown: "x".repeat(500), gives: `${"x".repeat(17)}…\n\n(Stopped.)` },
    { shown: `${"x".repeat(16)}😀${"x".repeat(50)}`, gives: `${"x".repeat(16)}\u{FFFD}…\n\n(Stopped.)` },
  ];
  for (const { shown, gives } of cases) {
    assert.equal(stoppedIn(shown, parts), gives);
    assert.ok(gives.length <= max);
  }
});
