// When a failed step is tried again, and when it is enough.

import assert from "node:assert/strict";
import { test } from "node:test";
import { at } from "../../testing/samples.ts";
import { table } from "../../testing/table.ts";
import type { Instant } from "../ids.ts";
import { type Failure, type Patience, type Row, decideRetry, troubleText } from "./patience.ts";

const later: Failure = { retry: "later", why: "overloaded" };
const soon: Failure = { retry: "soon", why: "two of its calls have the same id" };
const minutes = (n: number) => at(n * 60_000);
const again = (when: Instant, count: number, since: Instant): Patience => ({
  type: "again",
  at: when,
  row: { count, since },
});

type PatienceCase = { name: string; row: Row | null; failure: Failure; now: Instant; gives: Patience };
table(
  "patience",
  [
    { name: "the first failure", row: null, failure: later, now: at(0), gives: again(at(1_000), 1, at(0)) },
    {
      name: "pauses grow",
      row: { count: 3, since: at(0) },
      failure: later,
      now: at(7_000),
      gives: again(at(15_000), 4, at(0)),
    },
    {
      name: "up to a longest one",
      row: { count: 12, since: at(0) },
      failure: later,
      now: minutes(5),
      gives: again(at(330_000), 13, at(0)),
    },
    {
      name: "never sooner than the agent wants",
      row: null,
      failure: { ...later, afterMs: 90_000 },
      now: at(0),
      gives: again(at(90_000), 1, at(0)),
    },
    {
      name: "what the agent wants is no reason to be quicker",
      row: { count: 4, since: at(0) },
      failure: { ...later, afterMs: 10 },
      now: at(0),
      gives: again(at(16_000), 5, at(0)),
    },
    {
      name: "enough after the time of patience",
      row: { count: 22, since: at(0) },
      failure: later,
      now: at(10 * 60_000 - 1_000),
      gives: { type: "give-up", why: "overloaded (tried 23 times over 10 minutes)" },
    },
    {
      name: "what would take too long is not waited for",
      row: null,
      failure: { ...later, afterMs: 3_600_000 },
      now: at(0),
      gives: { type: "give-up", why: "overloaded. It may work again at 2027-01-15 09:00 UTC" },
    },
    {
      name: "what is wrong is tried a few times",
      row: { count: 3, since: at(0) },
      failure: soon,
      now: at(0),
      gives: again(at(8_000), 4, at(0)),
    },
    {
      name: "and then no more",
      row: { count: 4, since: at(0) },
      failure: soon,
      now: at(20_000),
      gives: { type: "give-up", why: "two of its calls have the same id (tried 5 times)" },
    },
    {
      name: "what can never work",
      row: null,
      failure: { retry: "never", why: "the key is wrong" },
      now: at(0),
      gives: { type: "give-up", why: "the key is wrong" },
    },
  ] satisfies PatienceCase[],
  ({ row, failure, now, gives }) => assert.deepEqual(decideRetry(row, failure, now, 0), gives),
);

for (const [why, told] of [
  ["The model is overloaded.", "The model is overloaded."],
  ["the model is overloaded", "the model is overloaded."],
  ["Nobody answers. Is a server running there?", "Nobody answers. Is a server running there?"],
  ["It says: wait!\n", "It says: wait!"],
  ["It said more than fits …", "It said more than fits …"],
] as const) {
  test(`meanwhile it is told why, and until when: ${JSON.stringify(why)}`, () =>
    assert.equal(troubleText({ why, until: at(5_000) }), `${told} I try again at 08:00:05 UTC.`));
}
