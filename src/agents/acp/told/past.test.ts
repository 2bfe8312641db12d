import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../../../core/journal.ts";
import type { Message } from "../../../core/message.ts";
import type { AgentJob } from "../../../ports/agent.ts";
import { pastOf } from "./past.ts";

const line = (turn: string, text: string) => ({ key: `k-${text}`, turn, role: "user", text }) as unknown as Message;
const said = (session: string): Entry => ({
  type: "said",
  text: "",
  calls: [],
  final: true,
  data: { acp: { session, tools: [] } },
});

function job(
  journal: readonly Entry[],
  journals: Readonly<Record<string, readonly Entry[]>>,
  lines: readonly Message[],
) {
  return {
    turn: "t4",
    input: { key: "k-now" },
    journal,
    history: async () => lines,
    journalOf: async (turn: string) => journals[turn] ?? [],
  } as unknown as AgentJob;
}

const lines = [line("t1", "a"), line("t2", "b"), line("t3", "c"), line("t4", "now"), line("t5", "later")];
const texts = (messages: readonly Message[]) => messages.map((one) => one.text).join("");

test("the session is the newest on record, and what it missed is what came after", async () => {
  const cases: readonly (readonly [
    readonly Entry[],
    Readonly<Record<string, readonly Entry[]>>,
    string | null,
    string,
  ])[] = [
    [[said("here")], { t1: [said("old")] }, "here", ""],
    [[], { t1: [said("old")], t3: [said("new")] }, "new", ""],
    [[], { t1: [said("old")] }, "old", "bc"],
    [[], {}, null, "abc"],
  ];
  for (const [journal, journals, session, missed] of cases) {
    const past = await pastOf(job(journal, journals, lines));
    assert.equal(past.session, session);
    assert.equal(texts(past.missed), missed);
    assert.equal(texts(past.history), "abc", "neither this message nor what waits behind it");
  }
  assert.deepEqual(await pastOf(job([], {}, [])), { session: null, cost: null, history: [], missed: [] });
});

test("the cost of the agent's session is that of its newest step", async () => {
  const costing = (cost: number): Entry =>
    ({ ...said("s"), data: { acp: { session: "s", tools: [], cost } } }) as Entry;
  for (const [journal, journals, cost] of [
    [[], {}, null],
    [[said("s")], {}, null],
    [[costing(5), costing(7)], { t1: [costing(3)] }, 7],
    [[], { t1: [costing(3)], t2: [costing(4)] }, 4],
  ] as const)
    assert.equal((await pastOf(job(journal, journals, lines))).cost, cost);
});
