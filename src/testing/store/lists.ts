// What people look at: lists with filters and limits, counts of open work, and a copy of everything.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change } from "../../core/change.ts";
import type { ItemState } from "../../core/outbox.ts";
import type { TurnState } from "../../core/turn.ts";
import { aMessage, aSession, aTurn, anAddress, anItem, at, bootId, sessionId, turnId } from "../samples.ts";
import { type OpenStore, acceptance, ids, putItem, putSession, putTurn, started, write } from "./steps.ts";

const by = bootId("b1");
const s1 = sessionId("s1");
const turnStates: readonly TurnState[] = [
  { state: "done", outcome: "replied", doneAt: at(3) },
  { state: "waiting", question: "q", until: at(99) },
  { state: "running", boot: by, startedAt: at(1) },
  { state: "restarting", askedAt: at(2) },
  { state: "parked", cause: "crash", parkedAt: at(2) },
  { state: "queued" },
];
const uncertain: ItemState = { state: "in-doubt", since: at(1), attempts: 1, why: "?" };
const itemStates: readonly ItemState[] = [
  { state: "delivered", remoteId: "r", deliveredAt: at(1) },
  { state: "dead", why: "no", deadAt: at(1) },
  uncertain,
  { state: "sending", boot: by, attempts: 1 },
  { state: "pending", dueAt: at(1), attempts: 0 },
];

/** One turn and one item in each state, named for it, with the messages that came with them. */
function oneOfEach(session: string): readonly Change[] {
  const turns = turnStates.flatMap((now): Change[] => {
    const turn = aTurn(`${session} ${now.state}`, { session: sessionId(session), now });
    const message = aMessage(`key of ${turn.id}`, { session: turn.session, turn: turn.id });
    return [{ put: "message", message }, putTurn(turn)];
  });
  const turn = turnId(`${session} done`);
  const items = itemStates.map((now, part) =>
    putItem(anItem(`${turn}.${part}`, { session: sessionId(session), turn, part, text: now.state, now })),
  );
  return [putSession(session), ...turns, ...items];
}

export function listTests(open: OpenStore): void {
  describe("lists", { concurrency: 4 }, () => {
    sessionListTests(open);
    turnListTests(open);
    itemListTests(open);
    countTests(open);
    copyTests(open);
  });
}

function sessionListTests(open: OpenStore): void {
  test("sessions: the last active first, by platform, before a moment, no more than asked for", async (t) => {
    const { store } = await started(t, open);
    const session = (name: string, platform: string, active: number): Change => {
      const address = anAddress(name, { platform });
      return putSession(name, { key: `${platform}/${name}`, address, activeAt: at(active) });
    };
    await write(store, [
      session("a", "web", 10),
      session("b", "web", 40),
      session("c", "irc", 30),
      session("d", "web", 20),
    ]);
    await write(store, [{ put: "active", session: sessionId("a"), at: at(50) }]);
    assert.deepEqual(ids(await store.sessions({ limit: 10 })), ["a", "b", "c", "d"]);
    assert.deepEqual(ids(await store.sessions({ limit: 2 })), ["a", "b"]);
    assert.deepEqual(ids(await store.sessions({ limit: 10, platform: "web" })), ["a", "b", "d"]);
    assert.deepEqual(ids(await store.sessions({ limit: 10, before: at(40) })), ["c", "d"]);
    assert.deepEqual(ids(await store.sessions({ limit: 10, platform: "none" })), []);
  });

  test("a session's line has the first words of its user and the number of its last message", async (t) => {
    const { store } = await started(t, open);
    const say = (key: string, role: "user" | "assistant" | "notice", text: string): Change => ({
      put: "message",
      message: aMessage(key, { role, text }),
    });
    await write(store, [putSession("s1"), putSession("silent")]);
    await write(store, [
      say("a", "notice", "welcome"),
      say("b", "user", "put the kettle on"),
      say("c", "assistant", "done"),
    ]);
    const lines = await store.sessions({ limit: 10 });
    const line = lines.find((one) => one.id === "s1");
    assert.equal(line?.title, "put the kettle on");
    assert.equal(line?.lastN, (await store.history(s1, 1))[0]?.n);
    const silent = lines.find((one) => one.id === "silent");
    assert.deepEqual([silent?.title, silent?.lastN], ["", 0]);
    assert.deepEqual(line, { ...aSession("s1"), title: line?.title, lastN: line?.lastN });
  });

  test("a title is short and keeps its characters whole", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1"), { put: "message", message: aMessage("a", { text: "👋".repeat(500) }) }]);
    const [line] = await store.sessions({ limit: 1 });
    assert.ok(line !== undefined && line.title.length > 0 && line.title.length <= 200, String(line?.title.length));
    assert.ok(line.title.isWellFormed());
  });
}

function turnListTests(open: OpenStore): void {
  test("turns: the newest first, by session and by state", async (t) => {
    const { store } = await started(t, open);
    await write(store, oneOfEach("s1"));
    await write(store, oneOfEach("s2"));
    const found = async (filter: Parameters<typeof store.turns>[0]): Promise<string> =>
      ids(await store.turns(filter)).join(", ");
    assert.equal(await found({ limit: 3 }), "s2 queued, s2 parked, s2 restarting");
    const open1 = "s1 queued, s1 parked, s1 restarting, s1 running, s1 waiting";
    assert.equal(await found({ limit: 10, session: s1 }), `${open1}, s1 done`);
    assert.equal(await found({ limit: 10, session: s1, state: "open" }), open1);
    assert.equal(await found({ limit: 6, state: "open" }), `${open1.replaceAll("s1", "s2")}, s1 queued`);
    for (const { state } of turnStates) {
      assert.equal(await found({ limit: 10, state }), `s2 ${state}, s1 ${state}`);
    }
    assert.equal(await found({ limit: 10, session: sessionId("none") }), "");
  });

  test("the entries of a turn come with their numbers and times", async (t) => {
    const { store } = await started(t, open);
    await write(store, acceptance("t1"));
    const entry = { type: "said", text: "hm", calls: [], final: false, data: { deep: [1, null] } } as const;
    await write(store, [{ put: "entry", turn: turnId("t1"), n: 0, at: at(4), entry }]);
    await write(store, [{ put: "entry", turn: turnId("t1"), n: 1, at: at(5), entry: { type: "resumed", attempt: 2 } }]);
    assert.deepEqual(
      await store.entries(turnId("t1"), 1),
      (await store.entries(turnId("t1"))).slice(-1),
      "only the newest",
    );
    assert.deepEqual(await store.entries(turnId("t1")), [
      { n: 0, at: at(4), entry },
      { n: 1, at: at(5), entry: { type: "resumed", attempt: 2 } },
    ]);
    assert.deepEqual(await store.entries(turnId("none")), []);
  });
}

function itemListTests(open: OpenStore): void {
  test("items: by state the newest first; of a turn in the order of its parts", async (t) => {
    const { store } = await started(t, open);
    await write(store, oneOfEach("s1"));
    await write(store, oneOfEach("s2"));
    const found = async (filter: Parameters<typeof store.items>[0]): Promise<string> =>
      (await store.items(filter)).map((one) => `${one.session} ${one.text}`).join(", ");
    assert.equal(await found({ limit: 2 }), "s2 pending, s2 sending");
    assert.equal(await found({ limit: 3, state: "open" }), "s2 pending, s2 sending, s2 in-doubt");
    for (const { state } of itemStates) {
      assert.equal(await found({ limit: 10, state }), `s2 ${state}, s1 ${state}`);
    }
    const parts = await store.items({ limit: 10, turn: turnId("s1 done") });
    assert.deepEqual(
      parts.map((one) => one.part),
      [0, 1, 2, 3, 4],
    );
    assert.equal(await found({ limit: 10, turn: turnId("s1") }), "", "the name of another turn's beginning");
    assert.equal(await found({ limit: 10, turn: turnId("none") }), "");
  });

  test("items of one address are found behind any number of others", async (t) => {
    const { store } = await started(t, open);
    const addresses = [
      anAddress("a"),
      anAddress("a", { thread: "t" }),
      anAddress("a", { account: "other" }),
      anAddress("a", { platform: "other" }),
      anAddress("\ud800"),
      anAddress("\ud801"),
      anAddress('"ü/🙂'),
    ];
    const at1 = addresses.flatMap((to, n) =>
      itemStates.map((now) => putItem(anItem(`${n} ${now.state}.0`, { session: s1, turn: null, to, now }))),
    );
    const others = Array.from({ length: 20 }, (_, n) =>
      putItem(anItem(`other ${n}.0`, { session: s1, turn: null, to: anAddress("b"), now: uncertain })),
    );
    await write(store, [putSession("s1"), ...at1, ...others]);
    for (const [n, to] of addresses.entries()) {
      for (const { state } of itemStates)
        assert.deepEqual(ids(await store.items({ state, to, limit: 2 })), [`${n} ${state}.0`]);
      assert.equal((await store.items({ to, limit: 10 })).length, itemStates.length);
      assert.equal((await store.items({ to, state: "open", limit: 10 })).length, 3);
    }
    assert.deepEqual(await store.items({ state: "in-doubt", to: anAddress("none"), limit: 2 }), []);
  });

  test("the addresses with uncertain items, each once, and no others", async (t) => {
    const { store } = await started(t, open);
    const [a, b, c] = [anAddress("a"), anAddress("a", { thread: "\ud800" }), anAddress("c")];
    assert.deepEqual(await store.uncertainAddresses(), []);
    const item = (id: string, to: typeof a, now: ItemState) =>
      putItem(anItem(id, { session: s1, turn: null, to, now }));
    // The same address, whatever the order of its parts.
    const { chat, ...rest } = a;
    await write(store, [
      putSession("s1"),
      item("1.0", a, uncertain),
      item("2.0", { chat, ...rest }, uncertain),
      item("3.0", b, uncertain),
      ...itemStates.filter(({ state }) => state !== "in-doubt").map((now) => item(`${now.state}.0`, c, now)),
    ]);
    const found = await store.uncertainAddresses();
    assert.equal(found.length, 2);
    assert.deepEqual(new Set(found), new Set([a, b]));
  });
}

function countTests(open: OpenStore): void {
  test("open work is counted by state", async (t) => {
    const { store } = await started(t, open);
    const nothing = {
      turns: { queued: 0, running: 0, waiting: 0, parked: 0, restarting: 0 },
      items: { pending: 0, sending: 0, "in-doubt": 0, dead: 0 },
      timers: 0,
    };
    assert.deepEqual(await store.counts(), nothing);
    await write(store, oneOfEach("s1"));
    await write(store, oneOfEach("s2"));
    await write(store, [{ put: "timer", timer: { id: "r", session: s1, turn: null, dueAt: at(1), text: "" } }]);
    assert.deepEqual(await store.counts(), {
      turns: { queued: 2, running: 2, waiting: 2, parked: 2, restarting: 2 },
      items: { pending: 2, sending: 2, "in-doubt": 2, dead: 2 },
      timers: 1,
    });
  });
}

function copyTests(open: OpenStore): void {
  test("a copy holds everything committed before it, whole, although commits go on meanwhile", async (t) => {
    const { store, copyFile, openCopy } = await started(t, open);
    await write(store, oneOfEach("s1"));
    const during = Array.from({ length: 50 }, (_, n) => store.commit(acceptance(`during ${n}`, `busy ${n}`), by));
    await store.backup(copyFile);
    assert.ok((await Promise.all(during)).every((result) => result === "committed"));
    const copy = await openCopy(copyFile);
    t.after(() => copy.close());
    const filter = { limit: 100, session: s1 };
    assert.deepEqual(await copy.archive.turns(filter), await store.turns(filter));
    assert.deepEqual(await copy.archive.items(filter), await store.items(filter));
    assert.deepEqual(await copy.archive.history(s1, 100), await store.history(s1, 100));
    // A commit is in the copy with all it wrote, or not at all.
    for (let n = 0; n < during.length; n++) {
      const session = sessionId(`busy ${n}`);
      const said = await copy.archive.history(session, 10);
      const turns = await copy.archive.turns({ limit: 10, session, state: "queued" });
      assert.equal(said.length, turns.length);
    }
  });
}
