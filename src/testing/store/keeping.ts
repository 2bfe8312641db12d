// What was committed is there after the store was closed and opened again, to the last character.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change } from "../../core/change.ts";
import type { Entry } from "../../core/journal.ts";
import type { Inbound } from "../../core/message.ts";
import type { Archive, Store } from "../../ports/store.ts";
import {
  aBoot,
  aMessage,
  aSession,
  aTurn,
  anAddress,
  anInbound,
  anItem,
  at,
  bootId,
  sessionId,
  turnId,
} from "../samples.ts";
import { type OpenStore, acceptance, ids, putItem, putSession, putTurn, started, write } from "./steps.ts";

const hostileTexts: readonly string[] = [
  "plain",
  "",
  " leading, trailing and\ttabs ",
  "line\nends\r\nof\rall kinds\u2028\u2029",
  "quotes ' \" ` and '; DROP TABLE turns; --",
  "percent % under_score ?1 :name $x @y",
  '{"looks":"like json"}',
  "emoji 👋 👩‍👩‍👧‍👦 🏳️‍🌈 and astral 𝒳𝒴𝒵",
  "right to left: שלום עולם, مرحبا بالعالم \u202eabc\u202c",
  "combining e\u0301 and precomposed é",
  "control \u0001\u001f\u007f\u0085\ufeff",
  "replacement \ufffd and noncharacter \uffff",
  "<script>alert(1)</script> &amp;",
];

/** A megabyte with every width of character in it. */
const megabyte = "aé€👋".repeat(1_048_576 / 10).slice(0, 1_048_576);

function deepValue(depth: number): unknown {
  return depth === 0
    ? { end: [true, false, null, 0, -1.5, 1e300, "é"] }
    : { [`level ${depth}`]: [deepValue(depth - 1)] };
}

/** Everything the reads say about the rows of this test. */
async function everything(store: Store & Archive, turns: readonly string[], items: readonly string[]) {
  return {
    session: await store.session(sessionId("s1")),
    turns: await Promise.all(turns.map((name) => store.turn(turnId(name)))),
    journals: await Promise.all(turns.map((name) => store.journalOf(turnId(name)))),
    items: await Promise.all(items.map((name) => store.item(name))),
    history: await store.history(sessionId("s1"), 1_000),
    timer: await store.nextTimer(),
    cursor: await store.cursor("test", "home"),
    strikes: await store.strikes("k"),
    boots: await store.lastBoots(10),
    counts: await store.counts(),
    questions: await store.questionsAt(aSession("s1").key),
  };
}

export function keepingTests(open: OpenStore): void {
  describe("keeping", { concurrency: 4 }, () => {
    textTests(open);
    stateTests(open);
  });
}

function textTests(open: OpenStore): void {
  const texts = [...hostileTexts, megabyte];
  test("texts of every kind are read back as they were written, before and after a reopen", async (t) => {
    const opened = await started(t, open);
    for (const [n, text] of texts.entries()) {
      const files = [{ name: text.slice(0, 50), mime: "text/plain", blob: "b1", bytes: 3 }];
      const input: Inbound = anInbound("", {
        key: `k${n}`,
        sender: text.slice(0, 99),
        body: { kind: "text", text, files },
      });
      const entry: Entry = { type: "said", text, calls: [{ call: "1", tool: "x", input: { text } }], final: false };
      const question = { id: "q", choices: [text.slice(0, 99), ""] };
      await write(opened.store, [
        putSession("s1"),
        { put: "message", message: aMessage(`k${n}`, { text, question }) },
        putTurn(aTurn(`t${n}`, { input })),
        { put: "entry", turn: turnId(`t${n}`), n: 0, at: at(n), entry },
        putItem(anItem(`t${n}.0`, { turn: turnId(`t${n}`), text, files, question })),
        { put: "timer", timer: { id: `r${n}`, session: sessionId("s1"), turn: null, dueAt: at(n), text } },
      ]);
    }
    const turns = texts.map((_, n) => `t${n}`);
    const items = turns.map((name) => `${name}.0`);
    const before = await everything(opened.store, turns, items);
    assert.deepEqual(
      before.history.map((one) => one.text),
      texts,
    );
    assert.deepEqual(
      before.items.map((one) => one?.text),
      texts,
    );
    const bodies = before.turns.map((one) => (one?.input.body.kind === "text" ? one.input.body.text : null));
    assert.deepEqual(bodies, texts);
    assert.deepEqual(await everything(await opened.reopen(), turns, items), before);
  });

  test("hostile names and places keep apart what they name", async (t) => {
    const opened = await started(t, open);
    const names = hostileTexts.filter((text) => text !== "");
    for (const name of names) {
      const address = anAddress(name, { thread: name });
      const changes: readonly Change[] = [
        { put: "inbox", platform: "p", account: name, key: name, turn: turnId(name), at: at(0) },
        putSession(name, { key: `key ${name}`, address }),
        { put: "cursor", platform: "p", account: name, value: name },
        { put: "strikes", key: name, strikes: 1 },
      ];
      await write(opened.store, changes);
      assert.equal(await opened.store.commit(changes, opened.by), "duplicate");
    }
    const store = await opened.reopen();
    for (const name of names) {
      const session = await store.sessionOf(`key ${name}`);
      assert.deepEqual([session?.id, session?.address.thread], [name, name]);
      assert.equal(await store.cursor("p", name), name);
      assert.equal(await store.strikes(name), 1);
    }
  });

  test("what an agent needs back is kept whole, however deep", async (t) => {
    const opened = await started(t, open);
    const data = deepValue(200);
    const entry: Entry = { type: "said", text: "", calls: [], final: false, data };
    await write(opened.store, [...acceptance("t1"), { put: "entry", turn: turnId("t1"), n: 0, at: at(0), entry }]);
    assert.deepEqual(await (await opened.reopen()).journalOf(turnId("t1")), [entry]);
  });
}

function stateTests(open: OpenStore): void {
  const running = { state: "running", boot: bootId("b1"), startedAt: at(1) } as const;
  const sending = { state: "sending", boot: bootId("b1"), attempts: 3 } as const;

  test("open work, numbers and keys survive a reopen", async (t) => {
    const opened = await started(t, open);
    await write(opened.store, acceptance("t1", "s1", "known"));
    const turn = await opened.store.turn(turnId("t1"));
    assert.ok(turn);
    await write(opened.store, [putTurn({ ...turn, version: 2, attempt: 1, now: running })]);
    await write(opened.store, [putItem(anItem("i1", { now: sending })), putItem(anItem("i2"))]);
    await write(opened.store, [{ put: "strikes", key: "k", strikes: 2 }]);
    await write(opened.store, [{ put: "cursor", platform: "test", account: "home", value: "17" }]);
    const before = await everything(opened.store, ["t1"], ["i1", "i2"]);

    const store = await opened.reopen();
    assert.deepEqual(await everything(store, ["t1"], ["i1", "i2"]), before);
    assert.equal(await store.openBoot(aBoot("b2")), "opened");
    assert.deepEqual(ids(await store.deadBoots()), ["b1"]);
    assert.deepEqual(ids(await store.heldTurns(bootId("b1"))), ["t1"]);
    assert.deepEqual(ids(await store.heldItems(bootId("b1"))), ["i1"]);
    assert.equal(await store.commit(acceptance("t2", "s1", "known"), bootId("b2")), "duplicate");
    assert.equal(await store.commit([], bootId("b1")), "fenced");
    await write(store, [{ put: "message", message: aMessage("next") }], bootId("b2"));
    const [older, newer] = await store.history(sessionId("s1"), 2);
    assert.ok((older?.n ?? 0) < (newer?.n ?? 0), "numbers go on where they were");
  });

  test("what was not answered before the close is there whole or not at all", async (t) => {
    const opened = await started(t, open);
    const asked = Array.from({ length: 100 }, (_, n) =>
      opened.store.commit(acceptance(`t${n}`, `s${n}`), opened.by).catch(() => "refused"),
    );
    const store = await opened.reopen();
    const answers = await Promise.all(asked);
    for (const [n, answer] of answers.entries()) {
      const turn = await store.turn(turnId(`t${n}`));
      const said = await store.history(sessionId(`s${n}`), 10);
      assert.equal(said.length, turn === null ? 0 : 1);
      if (answer === "committed") assert.ok(turn, `t${n} was answered as committed`);
    }
  });

  test("a closed store takes nothing and says so", async (t) => {
    const opened = await started(t, open);
    const closed = opened.store;
    const store = await opened.reopen();
    await assert.rejects(async () => closed.commit(acceptance("t1"), opened.by));
    assert.equal(await store.turn(turnId("t1")), null);
  });

  test("an empty store opens again as an empty store", async (t) => {
    const opened = await started(t, open);
    const store = await opened.reopen();
    assert.deepEqual(await store.runnable(), []);
    assert.equal((await store.sessions({ limit: 10 })).length, 0);
    assert.equal(await store.sessionOf(aSession("s1").key), null);
  });
}
