// The calls behind jobs, as the store knows them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant, TurnId } from "../../core/ids.ts";
import type { Entry } from "../../core/journal.ts";
import type { TurnState } from "../../core/turn.ts";
import type { Turn } from "../../core/turn.ts";
import { callsIn } from "./calls.ts";

const said = (call: string): Entry => ({
  type: "said",
  text: "",
  calls: [{ call, tool: "terminal", input: {} }],
  final: false,
});
const begun = (call: string): Entry => ({ type: "tool-begun", call, effect: "checkable" });

const journal: readonly Entry[] = [
  said("c:1"),
  begun("c:1"),
  { type: "tool-ended", call: "c:1", result: { type: "ok", output: 1 } },
  said("c:1"),
  begun("c:1"),
];

function aStore(now: TurnState | null) {
  return callsIn({
    turn: async (id) => (id === "t1" && now !== null ? ({ id, now } as Turn) : null),
    entries: async (id: TurnId) =>
      id === "t1" ? journal.map((entry, n) => ({ n, at: (n * 10) as Instant, entry })) : [],
  });
}

test("a call is found by its step, because models use the same names again", async () => {
  const cases: readonly (readonly [key: string, at: number | null])[] = [
    ["t1:0:c:1", 10],
    ["t1:3:c:1", 40],
    ["t1:4:c:1", null],
    ["t1:0:c", null],
    ["t2:0:c:1", null],
    ["k1", null],
    ["", null],
  ];
  for (const [key, at] of cases) assert.equal(await aStore(null).begunAt(key), at, key);
});

test("a turn is open until it has ended", async () => {
  const at = 1 as Instant;
  const open: readonly TurnState[] = [
    { state: "queued" },
    { state: "waiting", question: "q", until: at },
    { state: "parked", cause: "crash", parkedAt: at },
    { state: "restarting", askedAt: at },
  ];
  for (const now of open) assert.equal(await aStore(now).isOpen("t1:0:c1"), true, now.state);
  assert.equal(await aStore({ state: "done", outcome: "replied", doneAt: at }).isOpen("t1:0:c1"), false);
  assert.equal(await aStore(null).isOpen("t1:0:c1"), false);
  assert.equal(await aStore({ state: "queued" }).isOpen("t2:0:c1"), false);
});
