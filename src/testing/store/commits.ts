// What every commit promises: all or nothing, no repeat, no lost update, and no neighbour hurt.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change, CommitResult } from "../../core/change.ts";
import { advanceItem } from "../../core/outbox.ts";
import { advanceTurn } from "../../core/turn.ts";
import type { Usage } from "../../core/usage.ts";
import { aMessage, aSession, aTurn, anItem, at, bootId, sessionId, turnId } from "../samples.ts";
import { type OpenStore, acceptance, ids, idOf, putItem, putSession, putTurn, started, write } from "./steps.ts";

const claimed = { type: "claimed", boot: bootId("b1"), at: at(1) } as const;

export function commitTests(open: OpenStore): void {
  describe("commits", { concurrency: 4 }, () => {
    wholeTests(open);
    versionTests(open);
    tickTests(open);
  });
}

const someUsage: Usage = { model: "openai/small", input: 100, cached: 40, output: 7, cost: 12 };

/** One change of every kind, none of which stands in another's way. */
const everyKind: readonly Change[] = [
  ...acceptance("t1"),
  { put: "cursor", platform: "test", account: "home", value: "17" },
  { put: "active", session: sessionId("s1"), at: at(5) },
  { put: "owner", session: sessionId("s1"), boot: bootId("b1"), fence: 2 },
  { put: "entry", turn: turnId("t1"), n: 0, at: at(1), entry: { type: "resumed", attempt: 1 } },
  putItem(anItem("t1.0", { turn: turnId("t1") })),
  { put: "timer", timer: { id: "r1", session: sessionId("s1"), turn: null, dueAt: at(9), text: "tea" } },
  { put: "strikes", key: "a key", strikes: 2 },
  { put: "interruptions", key: "a key", interruptions: 4 },
  { put: "stop", boot: bootId("b1"), stop: { class: "planned", by: "cli", reason: "", at: at(6), clean: true } },
  { put: "ready", boot: bootId("b1"), at: at(7) },
  { put: "story", boot: bootId("b1"), story: { listeningAt: at(8) } },
  { put: "story", boot: bootId("b1"), story: { exitCode: 0 } },
  { put: "resume", session: sessionId("s1"), resume: { reason: "crash", markedAt: at(5) } },
  { put: "standing", session: sessionId("s1"), standing: "suspended" },
  { put: "rebound", turn: turnId("t1"), session: sessionId("s1") },
  { put: "words", turn: turnId("t1"), from: sessionId("s1"), session: sessionId("s1") },
  { put: "rule", rule: { id: "u1", tool: "terminal", subject: "make", by: "u1", at: at(3), scope: "everywhere" } },
  { put: "memory", memory: { id: "m1", scope: "owner", text: "likes tea", at: at(3) } },
  { put: "summary", session: sessionId("s1"), upTo: 1, text: "in short", at: at(3) },
  { put: "model", session: sessionId("s1"), model: "openai/small" },
  { put: "outside", session: sessionId("s1") },
  { put: "guests", session: sessionId("s1") },
  { put: "usage", day: "2026-11-15", session: sessionId("s1"), usage: someUsage },
  { put: "undone", session: sessionId("s1"), turn: turnId("t1") },
  { put: "fact", name: "a fact", value: "its value" },
];
/** A turn that does not exist cannot be at version 5. */
const impossible = putTurn(aTurn("missing", { version: 5 }));

function wholeTests(open: OpenStore): void {
  test("one change of every kind in one commit", async (t) => {
    const { store } = await started(t, open);
    await write(store, everyKind);
    const session = await store.session(sessionId("s1"));
    assert.deepEqual([session?.activeAt, session?.fence], [at(5), 2]);
    assert.equal(await store.cursor("test", "home"), "17");
    assert.equal((await store.journalOf(turnId("t1"))).length, 1);
    assert.equal(idOf(await store.nextItem([sessionId("s1")])), "t1.0");
    assert.equal((await store.nextTimer())?.id, "r1");
    assert.deepEqual([await store.strikes("a key"), await store.interruptions("a key")], [2, 4]);
    const stop = { class: "planned", by: "cli", reason: "", at: at(6), clean: true };
    const [boot] = await store.lastBoots(1);
    assert.deepEqual([boot?.stop, boot?.readyAt, boot?.story], [stop, at(7), { listeningAt: at(8), exitCode: 0 }]);
    const resume = { reason: "crash", markedAt: at(5) };
    assert.deepEqual([session?.standing, session?.resume], ["suspended", resume]);
    assert.equal(await store.fact("a fact"), "its value");
    assert.equal(session?.model, "openai/small");
    assert.equal((await store.rule("terminal", "make", "web/a/b"))?.id, "u1");
    assert.equal((await store.memories("owner", 5))[0]?.text, "likes tea");
    assert.deepEqual(await store.summaryOf(sessionId("s1")), { upTo: 1, text: "in short" });
    assert.equal((await store.spentOn("2026-11-15")).output, 7);
    assert.deepEqual(await store.history(sessionId("s1"), 10), []);
  });

  test("a commit whose last change conflicts leaves nothing of the others", async (t) => {
    const { store, by } = await started(t, open);
    for (let cut = 1; cut <= everyKind.length; cut++) {
      assert.equal(await store.commit([...everyKind.slice(0, cut), impossible], by), "conflict");
    }
    assert.equal(await store.session(sessionId("s1")), null);
    assert.equal(await store.sessionOf(aSession("s1").key), null);
    assert.equal(await store.turn(turnId("t1")), null);
    assert.deepEqual(await store.runnable(), []);
    assert.deepEqual(await store.sendable(), []);
    assert.deepEqual(await store.journalOf(turnId("t1")), []);
    assert.equal(await store.nextTimer(), null);
    assert.equal(await store.strikes("a key"), 0);
    assert.equal(await store.cursor("test", "home"), null);
    assert.deepEqual(await store.history(sessionId("s1"), 10), []);
    assert.equal((await store.lastBoots(1))[0]?.stop, null);
    assert.equal(await store.rule("terminal", "make", "web/a/b"), null);
    assert.deepEqual(await store.memories("owner", 5), []);
    assert.equal(await store.summaryOf(sessionId("s1")), null);
    assert.equal((await store.spentOn("2026-11-15")).steps, 0);
    await write(store, everyKind);
  });

  test("a known inbox key writes nothing and is no conflict", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, acceptance("t1", "s1", "k"));
    const again: readonly Change[] = [
      ...acceptance("t2", "s1", "k"),
      { put: "cursor", platform: "test", account: "home", value: "18" },
    ];
    assert.equal(await store.commit(again, by), "duplicate");
    assert.equal(await store.turn(turnId("t2")), null);
    assert.equal(await store.cursor("test", "home"), null);
    assert.equal((await store.history(sessionId("s1"), 10)).length, 1);
  });

  test("a known inbox key refuses the commit wherever it stands", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, acceptance("t1", "s1", "k"));
    const [inbox, ...rest] = acceptance("t2", "s2", "k");
    assert.ok(inbox);
    assert.notEqual(await store.commit([...rest, inbox], by), "committed");
    assert.equal(await store.session(sessionId("s2")), null);
    assert.equal(await store.turn(turnId("t2")), null);
  });

  test("the same inbox key on another platform or account is another message", async (t) => {
    const { store, by } = await started(t, open);
    const inbox = (platform: string, account: string): readonly Change[] => [
      { put: "inbox", platform, account, key: "k", turn: turnId("t1"), at: at(0) },
    ];
    const results: CommitResult[] = [];
    for (const [platform, account] of [
      ["a", "x"],
      ["b", "x"],
      ["a", "y"],
      ["a", "x"],
    ] as const) {
      results.push(await store.commit(inbox(platform, account), by));
    }
    assert.deepEqual(results, ["committed", "committed", "committed", "duplicate"]);
  });
}

function versionTests(open: OpenStore): void {
  test("a turn is written only on top of the version that was seen", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, [putSession("s1"), putTurn(aTurn("t1"))]);
    const running = advanceTurn(aTurn("t1"), claimed);
    assert.equal(await store.commit([putTurn(aTurn("t1"))], by), "conflict", "it exists");
    assert.equal(await store.commit([putTurn({ ...running, version: 3 })], by), "conflict", "one version left out");
    await write(store, [putTurn(running)]);
    assert.equal(await store.commit([putTurn(running)], by), "conflict", "written by somebody else meanwhile");
    assert.equal(await store.commit([putTurn(aTurn("t2", { version: 2 }))], by), "conflict", "it never existed");
    assert.deepEqual(await store.turn(turnId("t1")), running);
  });

  test("an item is written only on top of the version that was seen", async (t) => {
    const { store, by } = await started(t, open);
    const first = anItem("i1", { edits: "draft 7", hints: { topic: "4" } });
    await write(store, [putSession("s1"), putItem(first)]);
    const sending = advanceItem(first, { type: "taken", boot: by });
    assert.equal(await store.commit([putItem(anItem("i1"))], by), "conflict", "it exists");
    assert.equal(await store.commit([putItem({ ...sending, version: 3 })], by), "conflict", "one version left out");
    await write(store, [putItem(sending)]);
    assert.equal(await store.commit([putItem(sending)], by), "conflict", "written by somebody else meanwhile");
    assert.equal(await store.commit([putItem(anItem("i2", { version: 2 }))], by), "conflict", "it never existed");
    assert.deepEqual(await store.item("i1"), sending);
  });

  test("an entry of a journal is written once", async (t) => {
    const { store, by } = await started(t, open);
    const entry = (attempt: number): readonly Change[] => [
      { put: "entry", turn: turnId("t1"), n: 0, at: at(1), entry: { type: "resumed", attempt } },
    ];
    await write(store, [...acceptance("t1"), ...entry(1)]);
    assert.equal(await store.commit(entry(2), by), "conflict");
    assert.deepEqual(await store.journalOf(turnId("t1")), [{ type: "resumed", attempt: 1 }]);
  });

  test("a session runs one turn at a time; another session runs beside it", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, [...acceptance("t1"), ...acceptance("t2"), ...acceptance("u1", "s2")]);
    const run = (name: string, session = "s1"): readonly Change[] => {
      const turn = aTurn(name, { session: sessionId(session) });
      return [putTurn(advanceTurn(turn, claimed))];
    };
    await write(store, run("t1"));
    assert.equal(await store.commit(run("t2"), by), "conflict");
    await write(store, run("u1", "s2"));
    assert.equal(idOf((await store.turns({ state: "running", session: sessionId("s1"), limit: 1 }))[0] ?? null), "t1");
    assert.equal((await store.turn(turnId("t2")))?.now.state, "queued");
  });
}

function tickTests(open: OpenStore): void {
  test("many commits of one tick are all answered, and a refused one does not take its neighbours", async (t) => {
    const { store, by } = await started(t, open);
    const running = { state: "running", boot: by, startedAt: at(1) } as const;
    const busy = aTurn("x", { session: sessionId("busy"), now: running });
    await write(store, [...acceptance("first", "s0", "known"), putSession("busy"), putTurn(busy)]);
    const expected: CommitResult[] = [];
    const answers = Array.from({ length: 200 }, (_, n) => {
      const good = acceptance(`t${n}`, `s${n}`);
      switch (n % 10) {
        case 3:
          expected.push("duplicate");
          return store.commit(acceptance(`t${n}`, `s${n}`, "known"), by);
        case 5:
          expected.push("conflict");
          return store.commit([...good, impossible], by);
        case 7:
          // A rule of the store itself is broken in the middle: a second running turn in a busy session.
          expected.push("conflict");
          return store.commit([...good, putTurn({ ...busy, id: turnId(`y${n}`) })], by);
        case 9:
          expected.push("fenced");
          return store.commit(good, bootId("nobody"));
        default:
          expected.push("committed");
          return store.commit(good, by);
      }
    });
    assert.deepEqual(await Promise.all(answers), expected);
    for (const [n, result] of expected.entries()) {
      const found = idOf(await store.turn(turnId(`t${n}`)));
      assert.equal(found, result === "committed" ? `t${n}` : null, `commit ${n} was ${result}`);
    }
  });

  test("commits of one tick build on one another in the order they were asked", async (t) => {
    const { store, by } = await started(t, open);
    const queued = aTurn("t1");
    const running = advanceTurn(queued, claimed);
    const done = advanceTurn(running, { type: "ended", outcome: "replied", at: at(2) });
    const answers = [
      store.commit([putSession("s1"), putTurn(queued)], by),
      store.commit([putTurn(running)], by),
      store.commit([putTurn(running)], by),
      store.commit([putTurn(done)], by),
    ];
    assert.deepEqual(await Promise.all(answers), ["committed", "committed", "conflict", "committed"]);
    assert.deepEqual(await store.turn(turnId("t1")), done);
  });

  test("turns, items and messages keep the order of their commits", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, [putSession("s1")]);
    const names = Array.from({ length: 50 }, (_, n) => `n${(n * 37) % 50}`);
    await Promise.all(
      names.map((name) => {
        const message: Change = { put: "message", message: aMessage(name) };
        // The clock may stand still or go back; it has no say in the order.
        const turn = aTurn(name, { acceptedAt: at(-name.length) });
        return store.commit([message, putTurn(turn), putItem(anItem(name))], by);
      }),
    );
    assert.deepEqual(ids(await store.queuedTurns(sessionId("s1"), 100)), names);
    const said = await store.history(sessionId("s1"), 100);
    assert.deepEqual(
      said.map((one) => one.key),
      names,
    );
    assert.ok(
      said.every((one, n) => n === 0 || one.n > (said[n - 1]?.n ?? 0)),
      "n grows",
    );
    for (const name of names.slice(0, 5)) {
      const item = await store.nextItem([sessionId("s1")]);
      assert.equal(item?.id, name);
      await write(store, [putItem(advanceItem(anItem(name), { type: "taken", boot: by }))]);
    }
  });
}
