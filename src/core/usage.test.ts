// What was used, and whether another step may be paid for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { at } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import type { Entry } from "./journal.ts";
import {
  type Budget,
  type Spent,
  type Usage,
  dayOf,
  hasDayLimit,
  nothingSpent,
  overBudget,
  spend,
  spentIn,
} from "./usage.ts";

const none = { tokens: null, cost: null };
const used = (input: number, output: number, cost: number): Spent => ({
  ...nothingSpent,
  steps: 1,
  input,
  output,
  cost,
});

type BudgetCase = {
  name: string;
  turn?: Partial<Budget["turn"]>;
  day?: Partial<Budget["day"]>;
  inTurn?: Spent;
  today?: Spent;
  gives: string | null;
};
table(
  "budget",
  [
    { name: "no limits", inTurn: used(1e9, 1e9, 1e9), today: used(1e9, 1e9, 1e9), gives: null },
    { name: "below", turn: { tokens: 100 }, inTurn: used(60, 39, 0), gives: null },
    {
      name: "tokens of the turn, input and output together",
      turn: { tokens: 100_000 },
      inTurn: used(90_000, 10_000, 0),
      gives:
        "this turn used 100,000 tokens of at most 100,000 (agent.budget.turnTokens). Send a new message to go on, or raise the limit in the configuration.",
    },
    {
      name: "dollars of the turn",
      turn: { cost: 500_000 },
      inTurn: used(1, 1, 512_345),
      gives:
        "this turn used $0.51 of at most $0.50 (agent.budget.turnDollars). Send a new message to go on, or raise the limit in the configuration.",
    },
    {
      name: "tokens of the day, free again at midnight",
      day: { tokens: 1_000 },
      today: used(1_234_567, 0, 0),
      gives:
        "today all conversations together used 1,234,567 tokens of at most 1,000 (agent.budget.dayTokens). It is free again at 2027-01-16 00:00 UTC, or raise the limit in the configuration.",
    },
    {
      name: "dollars of the day",
      day: { cost: 5_000_000 },
      today: used(1, 0, 5_000_000),
      gives:
        "today all conversations together used $5.00 of at most $5.00 (agent.budget.dayDollars). It is free again at 2027-01-16 00:00 UTC, or raise the limit in the configuration.",
    },
    { name: "the turn is not the day", day: { tokens: 100 }, inTurn: used(1_000, 0, 0), gives: null },
    {
      name: "a limit of nothing",
      turn: { tokens: 0 },
      gives:
        "this turn used 0 tokens of at most 0 (agent.budget.turnTokens). Send a new message to go on, or raise the limit in the configuration.",
    },
  ] satisfies BudgetCase[],
  ({ turn, day, inTurn = nothingSpent, today = nothingSpent, gives }: BudgetCase) => {
    const budget: Budget = { turn: { ...none, ...turn }, day: { ...none, ...day } };
    assert.equal(overBudget(budget, inTurn, today, at(0)), gives);
    assert.equal(hasDayLimit(budget), day !== undefined);
  },
);

test("a turn's steps and summaries add up; those without a price are counted as such", () => {
  const usage: Usage = { model: "p/m", input: 10, cached: 4, output: 2, cost: 7 };
  const said: Entry = { type: "said", text: "", calls: [], final: false };
  const journal: Entry[] = [
    { ...said, usage },
    said,
    { type: "compacted", summary: "", entries: 1, upTo: 0, usage: { ...usage, cost: null } },
  ];
  assert.deepEqual(spentIn(journal), { steps: 2, input: 20, cached: 8, output: 4, cost: 7, unpriced: 1 });
  assert.deepEqual(spentIn([]), nothingSpent);
  assert.equal(spend(nothingSpent, usage).steps, 1);
});

test("a day is a day in UTC", () => {
  assert.equal(dayOf(at(0)), "2027-01-15");
});
