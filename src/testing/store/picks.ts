// The named reads of the engine: what waits, in which order, and that nothing else is found.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change } from "../../core/change.ts";
import type { Entry } from "../../core/journal.ts";
import type { ItemState } from "../../core/outbox.ts";
import type { TurnState } from "../../core/turn.ts";
import { aSession, aTurn, anItem, at, bootId, sessionId, turnId } from "../samples.ts";
import { type OpenStore, acceptance, idOf, ids, putItem, putSession, putTurn, started, write } from "./steps.ts";

const s1 = sessionId("s1");
const by = bootId("b1");
const turns = {
  queued: { state: "queued" },
  running: { state: "running", boot: by, startedAt: at(1) },
  waiting: { state: "waiting", question: "q", until: at(99) },
  parked: { state: "parked", cause: "crash", parkedAt: at(2) },
  restarting: { state: "restarting", askedAt: at(2) },
  done: { state: "done", outcome: "replied", doneAt: at(3) },
} as const satisfies Record<TurnState["state"], TurnState>;
const items = {
  pending: { state: "pending", dueAt: at(1), attempts: 0 },
  sending: { state: "sending", boot: by, attempts: 1 },
  "in-doubt": { state: "in-doubt", since: at(1), attempts: 1, why: "?" },
  delivered: { state: "delivered", remoteId: "r", deliveredAt: at(1) },
  dead: { state: "dead", why: "no", deadAt: at(1) },
} as const satisfies Record<ItemState["state"], ItemState>;

/** A new turn in the state that its name begins with. */
function turnIn(state: TurnState["state"], name: string, session = "s1"): Change {
  return putTurn(aTurn(name, { session: sessionId(session), now: turns[state] }));
}
function itemIn(state: ItemState["state"], name: string, session = "s1"): Change {
  return putItem(anItem(name, { session: sessionId(session), now: items[state] }));
}

export function pickTests(open: OpenStore): void {
  describe("picks", { concurrency: 4 }, () => {
    turnTests(open);
    questionTests(open);
    itemTests(open);
  });
}

function turnTests(open: OpenStore): void {
  test("the next turn is the oldest queued or parked one", async (t) => {
    const { store } = await started(t, open);
    assert.equal(await store.nextTurn(s1), null);
    await write(store, [
      putSession("s1"),
      turnIn("done", "a"),
      turnIn("waiting", "b"),
      turnIn("running", "c"),
      turnIn("parked", "d"),
      turnIn("queued", "e"),
      turnIn("parked", "f"),
      turnIn("queued", "g"),
    ]);
    const left = ["d", "e", "f", "g"];
    for (const name of left) {
      const next = await store.nextTurn(s1);
      assert.equal(next?.id, name);
      if (next === null) return;
      await write(store, [putTurn({ ...next, version: next.version + 1, now: turns.done })]);
    }
    assert.equal(await store.nextTurn(s1), null);
  });

  test("queued turns come oldest first, without the parked, and no more than asked for", async (t) => {
    const { store } = await started(t, open);
    await write(store, [
      putSession("s1"),
      putSession("s2"),
      turnIn("running", "a"),
      turnIn("queued", "z"),
      turnIn("parked", "y"),
      turnIn("queued", "x"),
      turnIn("waiting", "v"),
      turnIn("queued", "w"),
      turnIn("queued", "other", "s2"),
    ]);
    assert.deepEqual(ids(await store.queuedTurns(s1, 10)), ["z", "x", "w"]);
    assert.deepEqual(ids(await store.queuedTurns(s1, 2)), ["z", "x"]);
  });

  test("a turn that was answered is queued at the place it always had", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1"), turnIn("waiting", "old"), turnIn("queued", "young")]);
    assert.equal(idOf(await store.nextTurn(s1)), "young");
    await write(store, [putTurn(aTurn("old", { version: 2 }))]);
    assert.equal(idOf(await store.nextTurn(s1)), "old");
  });

  test("runnable sessions: each once, the longest waiting first, only with turns that can run", async (t) => {
    const { store } = await started(t, open);
    for (const name of ["s1", "s2", "s3", "s4", "s5", "s6"]) await write(store, [putSession(name)]);
    await write(store, [
      turnIn("done", "1", "s1"),
      turnIn("waiting", "2", "s2"),
      turnIn("running", "3", "s3"),
      turnIn("queued", "4", "s6"),
      turnIn("parked", "5", "s4"),
      turnIn("queued", "6", "s5"),
      turnIn("queued", "7", "s4"),
      turnIn("queued", "8", "s3"),
    ]);
    assert.deepEqual(
      (await store.runnable()).map((session) => session.id),
      ["s6", "s4", "s5", "s3"],
    );
  });

  test("what is ready, what waits and what asked for a restart: all of it, oldest first", async (t) => {
    const { store } = await started(t, open);
    await write(store, [
      putSession("s1"),
      putSession("s2"),
      turnIn("restarting", "z"),
      turnIn("queued", "y"),
      turnIn("waiting", "x"),
      turnIn("parked", "w"),
      turnIn("done", "v"),
      turnIn("queued", "u"),
      turnIn("restarting", "other", "s2"),
      turnIn("parked", "another", "s2"),
    ]);
    assert.deepEqual(ids(await store.readyTurns(s1)), ["y", "w", "u"]);
    assert.deepEqual(ids(await store.waitingTurns(s1)), ["x"]);
    assert.deepEqual(ids(await store.restarting()), ["z", "other"]);
    const [first] = await store.restarting();
    assert.ok(first);
    await write(store, [putTurn({ ...first, version: 2, now: turns.done })]);
    assert.deepEqual(ids(await store.restarting()), ["other"]);
  });

  test("a turn that goes on in another session takes its words with it, and leaves the others", async (t) => {
    const { store } = await started(t, open);
    await write(store, [...acceptance("stays"), ...acceptance("goes"), putSession("s2")]);
    const [turn, s2] = [turnId("goes"), sessionId("s2")];
    await write(store, [
      { put: "rebound", turn, session: s2 },
      { put: "words", turn, from: s1, session: s2 },
    ]);
    assert.deepEqual([idOf(await store.nextTurn(s1)), idOf(await store.nextTurn(s2))], ["stays", "goes"]);
    const said = async (session: typeof s1) => (await store.history(session, 10)).map(({ text }) => text);
    assert.deepEqual([await said(s1), await said(s2)], [["text of stays"], ["text of goes"]]);
  });

  test("a turn that does not exist is null, its journal empty", async (t) => {
    const { store } = await started(t, open);
    assert.equal(await store.turn(turnId("missing")), null);
    assert.deepEqual(await store.journalOf(turnId("missing")), []);
    assert.equal(await store.session(sessionId("missing")), null);
    assert.equal(await store.sessionOf("missing"), null);
    assert.deepEqual(await store.runnable(), []);
    assert.deepEqual(await store.sendable(), []);
  });

  test("a journal comes in the order of its numbers, each turn's own", async (t) => {
    const { store } = await started(t, open);
    const entry = (n: number, turn = "t1"): Change => ({
      put: "entry",
      turn: turnId(turn),
      n,
      at: at(100 - n),
      entry: { type: "resumed", attempt: n },
    });
    await write(store, [putSession("s1"), turnIn("queued", "t1"), turnIn("queued", "t2")]);
    await write(store, [entry(2), entry(0), entry(0, "t2")]);
    await write(store, [entry(10), entry(9), entry(1)]);
    const attempts = (await store.journalOf(turnId("t1"))).map((one) => (one.type === "resumed" ? one.attempt : -1));
    assert.deepEqual(attempts, [0, 1, 2, 9, 10]);
    assert.equal((await store.journalOf(turnId("t2"))).length, 1);
    const tail = (await store.journalTail(turnId("t1"), 2)).map((one) => (one.type === "resumed" ? one.attempt : -1));
    assert.deepEqual(tail, [9, 10], "the newest, oldest first");
  });
}

function questionTests(open: OpenStore): void {
  test("open questions: the newest last, with their choices, only of turns that wait", async (t) => {
    const { store } = await started(t, open);
    const asked = (turn: string, n: number, question: string, choices: readonly string[]): readonly Change[] => {
      const entry: Entry = { type: "asked", question, text: "which?", choices };
      return [{ put: "entry", turn: turnId(turn), n, at: at(1), entry }];
    };
    const waiting = (name: string, question: string, session = "s1"): Change =>
      putTurn(aTurn(name, { session: sessionId(session), now: { state: "waiting", question, until: at(9) } }));
    await write(store, [putSession("s1"), putSession("s2")]);
    await write(store, [waiting("z", "q2"), ...asked("z", 0, "q1", ["old"]), ...asked("z", 1, "q2", ["a", "b"])]);
    await write(store, [waiting("a", "q3"), ...asked("a", 0, "q3", [])]);
    await write(store, [turnIn("queued", "answered"), ...asked("answered", 0, "q4", ["c"])]);
    await write(store, [waiting("elsewhere", "q5", "s2"), ...asked("elsewhere", 0, "q5", ["d"])]);
    assert.deepEqual(await store.questionsAt(aSession("s1").key), [
      { turn: "z", question: "q2", kind: "question", text: "which?", choices: ["a", "b"] },
      { turn: "a", question: "q3", kind: "question", text: "which?", choices: [] },
    ]);
    assert.deepEqual(await store.questionsAt("nobody"), []);
    const { key, address } = aSession("s1");
    await write(store, [{ put: "ended", session: s1, at: at(2) }, putSession("s3", { key, address })]);
    await write(store, [waiting("later", "q6", "s3"), ...asked("later", 0, "q6", [])]);
    assert.deepEqual(
      (await store.questionsAt(key)).map(({ question }) => question),
      ["q2", "q3", "q6"],
      "also of sessions that were succeeded there",
    );
  });
}

function itemTests(open: OpenStore): void {
  test("the next item is the oldest pending one, due or not", async (t) => {
    const { store } = await started(t, open);
    assert.equal(await store.nextItem([s1]), null);
    const notYet: ItemState = { state: "pending", dueAt: at(9_999_999), attempts: 4, why: "busy" };
    await write(store, [
      putSession("s1"),
      itemIn("delivered", "a"),
      itemIn("dead", "b"),
      itemIn("in-doubt", "c"),
      itemIn("sending", "d"),
      putItem(anItem("z", { now: notYet })),
      itemIn("pending", "e"),
    ]);
    const next = await store.nextItem([s1]);
    assert.deepEqual(next, anItem("z", { now: notYet }));
    if (next === null) return;
    await write(store, [putItem({ ...next, version: 2, now: items.delivered })]);
    assert.equal(idOf(await store.nextItem([s1])), "e");
  });

  test("sendable sessions: each once, the longest waiting first, only with pending items", async (t) => {
    const { store } = await started(t, open);
    for (const name of ["s1", "s2", "s3", "s4", "s5"]) await write(store, [putSession(name)]);
    await write(store, [
      itemIn("sending", "1", "s1"),
      itemIn("in-doubt", "2", "s2"),
      itemIn("pending", "3", "s5"),
      itemIn("pending", "4", "s3"),
      itemIn("pending", "5", "s5"),
      itemIn("dead", "6", "s4"),
      itemIn("pending", "7", "s1"),
    ]);
    assert.deepEqual((await store.sendable()).map(idOf), ["s5", "s3", "s1"]);
  });

  test("the next item of several sessions is the oldest of them all, whose ever it is", async (t) => {
    const { store } = await started(t, open);
    for (const name of ["s1", "s2", "s3"]) await write(store, [putSession(name)]);
    await write(store, [
      itemIn("delivered", "1", "s1"),
      itemIn("pending", "2", "s2"),
      itemIn("pending", "3", "s1"),
      itemIn("pending", "4", "s3"),
    ]);
    const [s2, s3] = [sessionId("s2"), sessionId("s3")];
    const next = async (...sessions: (typeof s2)[]) => idOf(await store.nextItem(sessions));
    assert.deepEqual([await next(s1, s2, s3), await next(s3, s1), await next(s3)], ["2", "3", "4"]);
    assert.equal(await store.nextItem([]), null);
  });

  test("an item sent again keeps its place before younger ones", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1"), itemIn("sending", "old"), itemIn("pending", "young")]);
    await write(store, [putItem(anItem("old", { version: 2, now: { ...items.pending, attempts: 1 } }))]);
    assert.equal(idOf(await store.nextItem([s1])), "old");
  });

  test("an item that does not exist is null", async (t) => {
    const { store } = await started(t, open);
    assert.equal(await store.item("missing"), null);
    assert.deepEqual(await store.heldItems(bootId("missing")), []);
  });
}
