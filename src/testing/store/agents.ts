// What a store keeps for agents: rules, memories, summaries, choices, what was used, and what waits for an answer.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change } from "../../core/change.ts";
import { advanceTurn } from "../../core/turn.ts";
import type { Usage } from "../../core/usage.ts";
import { aMessage, aSession, aTurn, anAddress, at, bootId, sessionId, turnId } from "../samples.ts";
import { type OpenStore, putSession, putTurn, started, write } from "./steps.ts";

export function agentTests(open: OpenStore): void {
  describe("what agents leave behind", { concurrency: 4 }, () => {
    ruleTests(open);
    memoryTests(open);
    usageTests(open);
    conversationTests(open);
    askedTests(open);
  });
}

const rule = (id: string, subject: string, scope = "everywhere", held = false): Change => ({
  put: "rule",
  rule: { id, tool: "terminal", subject, by: "u1", at: at(1), scope, ...(held ? { held } : {}) },
});

function ruleTests(open: OpenStore): void {
  test("a rule is found by tool and subject, kept once, and revoked", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, [rule("r1", "make"), rule("r2", "make"), rule("r3", "make test")]);
    assert.equal((await store.rule("terminal", "make", "web/a/b"))?.id, "r1");
    assert.equal(await store.rule("write_file", "make", "web/a/b"), null);
    assert.deepEqual(
      (await store.rules()).map(({ id }) => id),
      ["r1", "r3"],
    );
    await write(store, [{ drop: "rule", id: "r1" }]);
    assert.equal(await store.rule("terminal", "make", "web/a/b"), null);
    assert.equal(await store.commit([{ drop: "rule", id: "r1" }], by), "conflict");
  });

  test("a rule of one conversation holds nowhere else, and one that is held holds nowhere", async (t) => {
    const { store } = await started(t, open);
    await write(store, [
      rule("r1", "make", "web/a/b"),
      rule("r2", "make", "web/a/c"),
      rule("r3", "rm", undefined, true),
    ]);
    const found = async (subject: string, key: string) => (await store.rule("terminal", subject, key))?.id ?? null;
    assert.deepEqual(
      [await found("make", "web/a/b"), await found("make", "web/a/c"), await found("make", "web/a/d")],
      ["r1", "r2", null],
    );
    assert.equal(await found("rm", "web/a/b"), null);
    assert.deepEqual(
      (await store.rules()).map(({ id, scope, held }) => [id, scope, held]),
      [
        ["r1", "web/a/b", undefined],
        ["r2", "web/a/c", undefined],
        ["r3", "everywhere", true],
      ],
    );
    // What was held is asked again, and then allowed for one conversation.
    await write(store, [rule("r4", "rm", "web/a/b")]);
    assert.deepEqual([await found("rm", "web/a/b"), await found("rm", "web/a/c")], ["r4", null]);
  });
}

const memory = (id: string, scope: string, text: string): Change => ({
  put: "memory",
  memory: { id, scope, text, at: at(Number(id.slice(1))) },
});

function memoryTests(open: OpenStore): void {
  test("memories belong to their scope, the newest last, and a repeat changes nothing", async (t) => {
    const { store } = await started(t, open);
    await write(store, [memory("m1", "a", "tea"), memory("m2", "b", "coffee"), memory("m3", "a", "water")]);
    await write(store, [memory("m1", "a", "something else")]);
    const texts = async (scope: string, limit: number) => (await store.memories(scope, limit)).map(({ text }) => text);
    assert.deepEqual(await texts("a", 5), ["tea", "water"]);
    assert.deepEqual(await texts("a", 1), ["water"]);
    await write(store, [{ drop: "memory", id: "m1", scope: "b" }]);
    assert.deepEqual(await texts("a", 5), ["tea", "water"]);
    await write(store, [{ drop: "memory", id: "m1", scope: "a" }]);
    assert.deepEqual(await texts("a", 5), ["water"]);
    assert.deepEqual(await store.recall("a", "tea", 5), []);
  });

  test("recall finds memories and words of the same people, and of nobody else", async (t) => {
    const { store } = await started(t, open);
    const mine = anAddress("mine", { platform: "web" });
    const sessions = [aSession("s1", { address: mine, key: "k1" }), aSession("s2", { key: "k2" })];
    await write(store, [
      ...sessions.map((session): Change => ({ put: "session", session })),
      memory("m1", "owner", "the blue bicycle is in the shed"),
      memory("m2", "somebody", "my bicycle is red"),
      { put: "message", message: aMessage("x1", { session: sessionId("s1"), text: "I bought a bicycle" }) },
      { put: "message", message: aMessage("x2", { session: sessionId("s2"), text: "a stranger's bicycle" }) },
      { put: "message", message: aMessage("x3", { session: sessionId("s1"), text: "a tram came", outside: true }) },
      { put: "message", message: aMessage("x4", { session: sessionId("s1"), text: "> a letter", carries: true }) },
    ]);
    const found = await store.recall("owner", "bicycle", 5);
    assert.deepEqual(
      found.map(({ from, text }) => [from, text]),
      [
        ["memory", "the blue bicycle is in the shed"],
        ["conversation", "I bought a bicycle"],
      ],
    );
    assert.equal(
      found.some((one) => "outside" in one),
      false,
    );
    assert.equal((await store.recall("owner", "tram", 5))[0]?.outside, true);
    assert.equal((await store.recall("owner", "letter", 5))[0]?.outside, true);
    const lines = await store.history(sessionId("s1"), 5);
    assert.deepEqual(
      lines.map(({ outside, carries }) => [outside, carries]),
      [
        [undefined, undefined],
        [true, undefined],
        [undefined, true],
      ],
    );
    await write(store, [{ put: "outside", session: sessionId("s1") }]);
    const marked = await store.recall("owner", "bought", 5);
    assert.equal(marked[0]?.outside, true, "a marked conversation may repeat text from outside anywhere");
    assert.deepEqual(await store.recall("owner", '"*()', 5), []);
    assert.equal((await store.recall("owner", "bicycle", 1)).length, 1);
  });
}

function usageTests(open: OpenStore): void {
  const used = (day: string, session: string, more: Partial<Usage> = {}): Change => ({
    put: "usage",
    day,
    session: sessionId(session),
    usage: { model: "openai/small", input: 10, cached: 4, output: 2, cost: 3, ...more },
  });
  test("what was used adds up per day, model and session", async (t) => {
    const { store } = await started(t, open);
    await write(store, [used("2026-11-14", "s1"), used("2026-11-15", "s1"), used("2026-11-15", "s2", { cost: null })]);
    await write(store, [used("2026-11-15", "s1", { model: "other/large" })]);
    const day = { steps: 3, input: 30, cached: 12, output: 6, cost: 6, unpriced: 1 };
    assert.deepEqual(await store.spentOn("2026-11-15"), day);
    assert.equal((await store.spentOn("2026-11-16")).steps, 0);
    const lines = async (filter: Parameters<typeof store.usage>[0]) =>
      (await store.usage(filter)).map(({ day: on, model, steps }) => `${on} ${model} ${steps}`);
    assert.deepEqual(await lines({}), [
      "2026-11-15 openai/small 2",
      "2026-11-15 other/large 1",
      "2026-11-14 openai/small 1",
    ]);
    assert.deepEqual(await lines({ session: sessionId("s2") }), ["2026-11-15 openai/small 1"]);
    assert.deepEqual(await lines({ since: "2026-11-16" }), []);
  });
}

function conversationTests(open: OpenStore): void {
  test("what was undone leaves the memory and stays in the transcript; files come back", async (t) => {
    const { store } = await started(t, open);
    const session = aSession("s1");
    const files = [{ name: "a.png", mime: "image/png", blob: "b1", bytes: 3 }];
    await write(store, [
      { put: "session", session },
      { put: "message", message: aMessage("x1", { turn: turnId("t1"), files }) },
      { put: "message", message: aMessage("x2", { turn: turnId("t2") }) },
      { put: "undone", session: session.id, turn: turnId("t2") },
    ]);
    const kept = await store.history(session.id, 10);
    assert.deepEqual(
      kept.map(({ key, files: own }) => [key, own]),
      [["x1", files]],
    );
    assert.equal((await store.messagesAfter(session.address, 0, 10)).length, 2);
  });

  test("a summary replaces the one before, a chosen model is taken back, strangers' words stay", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1", { model: "a/b" })]);
    assert.equal((await store.session(sessionId("s1")))?.model, "a/b");
    for (const upTo of [3, 9]) {
      await write(store, [{ put: "summary", session: sessionId("s1"), upTo, text: `up to ${upTo}`, at: at(upTo) }]);
    }
    await write(store, [{ put: "model", session: sessionId("s1"), model: null }]);
    assert.equal((await store.session(sessionId("s1")))?.outside, false);
    await write(store, [{ put: "guests", session: sessionId("s1") }]);
    const guarded = await store.session(sessionId("s1"));
    assert.deepEqual([guarded?.outside, guarded?.guests], [false, true]);
    await write(store, [{ put: "outside", session: sessionId("s1") }]);
    assert.equal((await store.session(sessionId("s1")))?.outside, true);
    await write(store, [{ put: "guests", session: sessionId("s1") }]);
    assert.equal((await store.session(sessionId("s1")))?.outside, true, "the stronger mark stays");
    assert.deepEqual(await store.summaryOf(sessionId("s1")), { upTo: 9, text: "up to 9" });
    assert.equal((await store.session(sessionId("s1")))?.model, null);
  });
}

function askedTests(open: OpenStore): void {
  test("a call that waits for approval is an open question of its place and of all", async (t) => {
    const { store } = await started(t, open);
    const claimed = advanceTurn(aTurn("t1"), { type: "claimed", boot: bootId("b1"), at: at(1) });
    const waiting = advanceTurn(claimed, { type: "asked", question: "q1", until: at(99) });
    const asked = { question: "q1", kind: "approval", text: "rm -r x", choices: ["approve", "deny"] } as const;
    await write(store, [
      putSession("s1"),
      putTurn({ ...waiting, version: 1 }),
      {
        put: "entry",
        turn: turnId("t1"),
        n: 0,
        at: at(1),
        entry: { type: "call-asked", call: "c1", bound: "d", subject: null, ...asked },
      },
    ]);
    assert.deepEqual(await store.questionsAt(aSession("s1").key), [{ turn: "t1", ...asked }]);
    const [line] = await store.asked(10);
    assert.deepEqual([line?.question, line?.session, line?.until], ["q1", "s1", at(99)]);
  });
}
