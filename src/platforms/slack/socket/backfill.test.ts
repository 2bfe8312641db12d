import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { SlackMessage } from "../api.ts";
import { inOrder, threadsToRead } from "./backfill.ts";

const { messages } = JSON.parse(readFileSync(join(import.meta.dirname, "../samples/history.json"), "utf8")) as {
  messages: readonly SlackMessage[];
};

describe("threads whose replies are read", () => {
  const root = "1726000001.000100";
  const cases: readonly (readonly [
    what: string,
    known: readonly string[],
    from: string,
    expected: readonly string[],
  ])[] = [
    ["one that shows a reply since", [], "1726000002.000000", [root]],
    ["not one whose last reply is older", [], "1726000006.000000", []],
    ["not even when it is known", [root], "1726000006.000000", []],
    ["a known one that is too old to be shown", ["1725000000.000000"], "1726000006.000000", ["1725000000.000000"]],
    ["each once", [root], "1726000002.000000", [root]],
  ];
  for (const [what, known, from, expected] of cases) {
    test(what, () => assert.deepEqual(threadsToRead(messages, known, from), expected));
  }
});

test("what was missed comes once, oldest first, and without what is older", () => {
  const found = inOrder([...messages, ...messages], "1726000000.000000").map(({ ts }) => ts);
  assert.deepEqual(found, ["1726000000.000900", "1726000001.000100"]);
  assert.deepEqual(
    inOrder(messages, "1726000000.000900").map(({ ts }) => ts),
    ["1726000001.000100"],
  );
});
