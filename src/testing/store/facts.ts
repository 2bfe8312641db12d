// The small things by name: timers, strikes, facts, cursors, and sessions by id and key.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change } from "../../core/change.ts";
import { aSession, aTurn, at, sessionId, turnId } from "../samples.ts";
import { type OpenStore, putSession, started, write } from "./steps.ts";

const s1 = sessionId("s1");

export function factTests(open: OpenStore): void {
  describe("by name", { concurrency: 4 }, () => smallTests(open));
}

function smallTests(open: OpenStore): void {
  test("the next timer is the one due first; a dropped one is gone", async (t) => {
    const { store } = await started(t, open);
    assert.equal(await store.nextTimer(), null);
    const timer = (id: string, due: number): Change => ({
      put: "timer",
      timer: { id, session: s1, turn: id === "q" ? turnId("t1") : null, dueAt: at(due), text: `text of ${id}` },
    });
    await write(store, [putSession("s1"), timer("a", 30), timer("q", 10), timer("c", 20)]);
    assert.deepEqual(await store.nextTimer(), { id: "q", session: s1, turn: "t1", dueAt: at(10), text: "text of q" });
    await write(store, [{ drop: "timer", id: "q" }]);
    assert.equal((await store.nextTimer())?.id, "c");
    await write(store, [{ drop: "timer", id: "q" }]);
    await write(store, [
      { drop: "timer", id: "a" },
      { drop: "timer", id: "c" },
    ]);
    assert.equal(await store.nextTimer(), null);
  });

  test("strikes are counted by key: none, replaced, dropped", async (t) => {
    const { store } = await started(t, open);
    assert.equal(await store.strikes("k"), 0);
    await write(store, [{ put: "strikes", key: "k", strikes: 1 }]);
    await write(store, [{ put: "strikes", key: "k", strikes: 2 }]);
    assert.deepEqual([await store.strikes("k"), await store.strikes("other")], [2, 0]);
    await write(store, [{ drop: "strikes", key: "k" }]);
    await write(store, [{ drop: "strikes", key: "k" }]);
    assert.equal(await store.strikes("k"), 0);
  });

  test("interruptions are counted in the row of the strikes: each count keeps the other, and both go together", async (t) => {
    const { store } = await started(t, open);
    const counts = async () => [await store.strikes("k"), await store.interruptions("k")];
    assert.deepEqual(await counts(), [0, 0]);
    await write(store, [{ put: "interruptions", key: "k", interruptions: 7 }]);
    assert.deepEqual(await counts(), [0, 7]);
    await write(store, [{ put: "strikes", key: "k", strikes: 2 }]);
    await write(store, [{ put: "interruptions", key: "k", interruptions: 8 }]);
    assert.deepEqual([await counts(), await store.interruptions("other")], [[2, 8], 0]);
    await write(store, [{ drop: "strikes", key: "k" }]);
    assert.deepEqual(await counts(), [0, 0]);
  });

  test("struck out: the keys with three strikes or fifty interruptions, or more", async (t) => {
    const { store } = await started(t, open);
    assert.deepEqual(await store.struckOut(), []);
    for (const [n, key] of ["none", "one", "two", "three", "four"].entries()) {
      if (n > 0) await write(store, [{ put: "strikes", key, strikes: n }]);
    }
    assert.deepEqual((await store.struckOut()).toSorted(), ["four", "three"]);
    await write(store, [{ drop: "strikes", key: "four" }]);
    assert.deepEqual(await store.struckOut(), ["three"]);
    for (const interruptions of [49, 50, 51])
      await write(store, [{ put: "interruptions", key: `i${interruptions}`, interruptions }]);
    await write(store, [{ put: "interruptions", key: "three", interruptions: 50 }]);
    assert.deepEqual((await store.struckOut()).toSorted(), ["i50", "i51", "three"]);
  });

  test("a fact is found by its name, replaced and dropped", async (t) => {
    const { store } = await started(t, open);
    assert.equal(await store.fact("a fact"), null);
    await write(store, [{ put: "fact", name: "a fact", value: "1" }]);
    await write(store, [{ put: "fact", name: "a fact", value: "2" }]);
    assert.deepEqual([await store.fact("a fact"), await store.fact("another")], ["2", null]);
    await write(store, [
      { drop: "fact", name: "a fact" },
      { drop: "fact", name: "another" },
    ]);
    assert.equal(await store.fact("a fact"), null);
  });

  test("a cursor belongs to one account of one platform and is replaced", async (t) => {
    const { store } = await started(t, open);
    const cursor = (platform: string, account: string, value: string): Change => ({
      put: "cursor",
      platform,
      account,
      value,
    });
    assert.equal(await store.cursor("p", "a"), null);
    await write(store, [cursor("p", "a", "1"), cursor("p", "b", "2"), cursor("q", "a", "3")]);
    await write(store, [cursor("p", "a", "4")]);
    const found = [await store.cursor("p", "a"), await store.cursor("p", "b"), await store.cursor("q", "a")];
    assert.deepEqual(found, ["4", "2", "3"]);
  });

  test("a turn is found by the key of its message, on its own account only", async (t) => {
    const { store } = await started(t, open);
    const turn = aTurn("t1");
    const inbox = (key: string, of: string): Change => {
      return { put: "inbox", platform: "p", account: "a", key, turn: turnId(of), at: at(1) };
    };
    await write(store, [putSession("s1"), { put: "turn", turn }, inbox("k1", "t1"), inbox("k2", "nothing")]);
    assert.deepEqual(await store.turnBy("p", "a", "k1"), turn);
    for (const [platform, account, key] of [
      ["p", "b", "k1"],
      ["q", "a", "k1"],
      ["p", "a", "k"],
      ["p", "a", "k2"],
    ] as const)
      assert.equal(await store.turnBy(platform, account, key), null);
  });

  test("a session is found by its id and by its key", async (t) => {
    const { store } = await started(t, open);
    const session = aSession("s1", { owner: null, fence: 7, activeAt: at(8) });
    await write(store, [{ put: "session", session }]);
    await write(store, [{ put: "active", session: s1, at: at(9) }]);
    const found = { ...session, activeAt: at(9) };
    assert.deepEqual(await store.session(s1), found);
    assert.deepEqual(await store.sessionOf(session.key), found);
  });
}
