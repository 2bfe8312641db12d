// Every pair of a turn's state and an event: what follows, or that it cannot be.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aTurn, anInbound, at, bootId, sessionId, turnId } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import { Bug } from "./ids.ts";
import type { Inbound } from "./message.ts";
import { type TurnEvent, type TurnState, advanceTurn, asNew, newTurn, reworded } from "./turn.ts";

const states = {
  queued: { state: "queued" },
  running: { state: "running", boot: bootId("b1"), startedAt: at(1) },
  waiting: { state: "waiting", question: "q1", until: at(900) },
  parked: { state: "parked", cause: "crash", parkedAt: at(2) },
  restarting: { state: "restarting", askedAt: at(2) },
  done: { state: "done", outcome: "replied", doneAt: at(3) },
} as const satisfies Record<TurnState["state"], TurnState>;

const events = {
  claimed: { type: "claimed", boot: bootId("b2"), at: at(10) },
  asked: { type: "asked", question: "q2", until: at(1_000) },
  answered: { type: "answered" },
  "restart-asked": { type: "restart-asked", at: at(10) },
  parked: { type: "parked", cause: "shutdown", at: at(10) },
  ended: { type: "ended", outcome: "failed", why: "no luck", at: at(10) },
} as const satisfies Record<TurnEvent["type"], TurnEvent>;

const running: TurnState = { state: "running", boot: bootId("b2"), startedAt: at(10) };
const done: TurnState = { state: "done", outcome: "failed", why: "no luck", doneAt: at(10) };

/** null: the pair cannot happen. */
const expected: Record<TurnState["state"], Record<TurnEvent["type"], TurnState | null>> = {
  queued: {
    claimed: running,
    asked: null,
    answered: null,
    "restart-asked": { state: "restarting", askedAt: at(10) },
    parked: null,
    ended: done,
  },
  running: {
    claimed: null,
    asked: { state: "waiting", question: "q2", until: at(1_000) },
    answered: null,
    "restart-asked": null,
    parked: { state: "parked", cause: "shutdown", parkedAt: at(10) },
    ended: done,
  },
  waiting: {
    claimed: null,
    asked: null,
    answered: { state: "queued" },
    "restart-asked": null,
    parked: null,
    ended: done,
  },
  parked: { claimed: running, asked: null, answered: null, "restart-asked": null, parked: null, ended: done },
  restarting: { claimed: null, asked: null, answered: null, "restart-asked": null, parked: null, ended: done },
  done: { claimed: null, asked: null, answered: null, "restart-asked": null, parked: null, ended: null },
};

const pairs = (Object.keys(states) as TurnState["state"][]).flatMap((state) =>
  (Object.keys(events) as TurnEvent["type"][]).map((event) => {
    const gives = expected[state][event];
    return { name: `${state} + ${event} → ${gives === null ? "Bug" : gives.state}`, state, event, gives };
  }),
);

table("turn: state × event", pairs, ({ state, event, gives }) => {
  const turn = aTurn("t1", { now: states[state], version: 7, attempt: 2 });
  if (gives === null) {
    assert.throws(
      () => advanceTurn(turn, events[event]),
      (error) => error instanceof Bug && error.message.includes("t1") && error.message.includes(state),
    );
    return;
  }
  const advanced = advanceTurn(turn, events[event]);
  assert.deepEqual(advanced, { ...turn, version: 8, attempt: event === "claimed" ? 3 : 2, now: gives });
});

test("every one of the 36 pairs is in the table", () => {
  assert.equal(pairs.length, 36);
});

test("advancing leaves the turn it was given alone", () => {
  const turn = Object.freeze(aTurn("t1", { now: Object.freeze({ state: "queued" }) }));
  advanceTurn(turn, events.claimed);
  assert.deepEqual(turn.now, { state: "queued" });
});

test("an end without a reason has no reason, not an undefined one", () => {
  const ended = advanceTurn(aTurn(), { type: "ended", outcome: "silent", at: at(1) });
  assert.deepEqual(Object.keys(ended.now).toSorted(), ["doneAt", "outcome", "state"]);
});

test("a new turn is queued, never started, at version 1", () => {
  const input = anInbound("hi");
  assert.deepEqual(newTurn(turnId("t9"), sessionId("s9"), input, at(5)), {
    id: "t9",
    session: "s9",
    input,
    acceptedAt: at(5),
    attempt: 0,
    version: 1,
    now: { state: "queued" },
  });
});

test("several steps before the first commit still make a new row", () => {
  const started = advanceTurn(aTurn(), events.claimed);
  assert.equal(started.version, 2);
  assert.deepEqual(asNew(started), { ...started, version: 1 });
});

const said = anInbound("frist", { key: "k1", sentAt: at(1), anchor: "7", hints: { a: "b" } });
const edit = anInbound("first", { key: "e1", sentAt: at(9), replaces: "k1" });
const file = { name: "f", mime: "text/plain", blob: "b", bytes: 1 };

table(
  "what a user wrote anew",
  [
    { name: "while it waits for its first start", turn: {}, edit, gives: "first" },
    { name: "after it was started once", turn: { attempt: 1 }, edit, gives: null },
    ...Object.values(states)
      .filter(({ state }) => state !== "queued")
      .map((now) => ({ name: `while it is ${now.state}`, turn: { now }, edit, gives: null })),
    { name: "by somebody else", turn: {}, edit: { ...edit, sender: "eve" }, gives: null },
    { name: "elsewhere", turn: {}, edit: { ...edit, from: { ...edit.from, chat: "x" } }, gives: null },
    { name: "in a thread", turn: {}, edit: { ...edit, from: { ...edit.from, thread: "x" } }, gives: null },
    { name: "into a command", turn: {}, edit: anInbound("/stop@bot now"), gives: null },
    { name: "into a path, which is none", turn: {}, edit: anInbound("/etc/hosts"), gives: "/etc/hosts" },
    { name: "of a command", turn: { input: anInbound("/new") }, edit, gives: null },
    {
      name: "with files alone",
      turn: {},
      edit: { ...edit, body: { kind: "text", text: "", files: [file] } },
      gives: "",
    },
    {
      name: "that is a press",
      turn: {},
      edit: { ...edit, body: { kind: "answer", question: "q", choice: "a" } },
      gives: null,
    },
    {
      name: "of what a timer said",
      turn: { input: { ...said, body: { kind: "timer", timer: "t", text: "x" } } },
      edit,
      gives: null,
    },
  ] as const,
  ({ turn, edit: anew, gives }) => {
    const before = aTurn("t1", { input: said, ...turn });
    const input = reworded(before, anew);
    assert.equal(input?.body.text ?? null, gives);
    // Everything but the words stays: its key, where it is answered, when it came.
    if (input !== null) assert.deepEqual(input, { ...said, body: anew.body });
  },
);

test("a new wording by strangers is theirs, and one of their words stays so", () => {
  const queued = (more: Partial<Inbound>) => ({ ...aTurn(), input: anInbound("first", more) });
  assert.equal(reworded(queued({}), anInbound("second", { outside: true }))?.outside, true);
  assert.equal(reworded(queued({ outside: true }), anInbound("second"))?.outside, true);
});
