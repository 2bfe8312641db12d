// Tokens and money in words, and what is meant by a part of an id.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../core/fault.ts";
import { pick } from "./pick.ts";
import { costText, dollars, spentText } from "./spent.ts";

const amounts: readonly (readonly [number, string])[] = [
  [0, "$0.00"],
  [50, "<$0.0001"],
  [1_234, "$0.0012"],
  [999_999, "$1.0000"],
  [12_345_678, "$12.35"],
];
for (const [millionths, words] of amounts)
  test(`${millionths} is ${words}`, () => assert.equal(dollars(millionths), words));

const some = { steps: 3, input: 1_000, cached: 0, output: 5, cost: 2_000_000, unpriced: 0 };
const costs: readonly (readonly [Partial<typeof some>, string])[] = [
  [{}, "$2.00"],
  [{ unpriced: 1 }, "$2.00 and 1 of 3 steps without a price"],
  [{ unpriced: 3, cost: 0 }, "no price known"],
];
for (const [more, words] of costs) test(words, () => assert.equal(costText({ ...some, ...more }), words));

test("nothing used is nothing said", () => {
  assert.equal(spentText({ ...some, steps: 0 }), null);
  assert.equal(spentText({ ...some, steps: 1, cached: 900 }), "1 step: 1,000 in (900 cached), 5 out, $2.00");
});

const known = ["abc.q1", "abd.q2", "abc.q12", "x"].map((id) => ({ id }));
const picks: readonly (readonly [string, string | null])[] = [
  ["abc.q1", "abc.q1"],
  ["abd", "abd.q2"],
  ["q2", "abd.q2"],
  ["q12", "abc.q12"],
  ["abc", "several"],
  ["", null],
  ["nope", null],
];
for (const [given, found] of picks) {
  test(`"${given}" is ${found}`, () => {
    if (found !== "several") return assert.equal(pick(given, known, "approval")?.id ?? null, found);
    assert.throws(
      () => pick(given, known, "approval"),
      (error) => error instanceof Fault && /more than one approval: .*, .*\. Give more/.test(error.message),
    );
  });
}
