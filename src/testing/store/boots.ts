// Lives of the process: only a live boot writes, and what a dead one held can be found.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change } from "../../core/change.ts";
import { advanceItem } from "../../core/outbox.ts";
import { advanceTurn } from "../../core/turn.ts";
import { aBoot, aMessage, aTurn, anItem, at, bootId, sessionId, turnId } from "../samples.ts";
import { type OpenStore, acceptance, ids, putItem, putSession, putTurn, started, write } from "./steps.ts";

export function bootTests(open: OpenStore): void {
  describe("boots", { concurrency: 4 }, () => {
    fenceTests(open);
    heldTests(open);
  });
}

function fenceTests(open: OpenStore): void {
  test("a boot that was never opened is fenced and writes nothing", async (t) => {
    const { store } = await started(t, open);
    assert.equal(await store.commit(acceptance("t1"), bootId("nobody")), "fenced");
    assert.equal(await store.turn(turnId("t1")), null);
    assert.equal(await store.beat(bootId("nobody"), at(1)), "fenced");
  });

  test("opening a second boot fences the first: nothing it writes later is kept", async (t) => {
    const { store } = await started(t, open);
    const first = bootId("b1");
    const second = bootId("b2");
    await write(store, acceptance("t1"));
    assert.equal(await store.openBoot(aBoot("b2")), "opened");
    const late: readonly (readonly Change[])[] = [
      acceptance("t2"),
      [putTurn(advanceTurn(aTurn("t1"), { type: "claimed", boot: first, at: at(2) }))],
      [{ put: "cursor", platform: "test", account: "home", value: "late" }],
      [{ put: "message", message: aMessage("late") }],
      [],
    ];
    for (const changes of late) assert.equal(await store.commit(changes, first), "fenced");
    assert.equal(await store.beat(first, at(9)), "fenced");
    assert.equal(await store.turn(turnId("t2")), null);
    assert.equal((await store.turn(turnId("t1")))?.now.state, "queued");
    assert.equal(await store.cursor("test", "home"), null);
    assert.equal((await store.history(sessionId("s1"), 10)).length, 1);
    assert.equal(await store.beat(second, at(9)), "alive");
    await write(store, acceptance("t2"), second);
  });

  test("a commit asked before the second boot opened is kept, one asked after it is not", async (t) => {
    const { store, by } = await started(t, open);
    const answers = [
      store.commit(acceptance("t1"), by),
      store.openBoot(aBoot("b2")),
      store.commit(acceptance("t2"), by),
      store.commit(acceptance("t3"), bootId("b2")),
    ];
    assert.deepEqual(await Promise.all(answers), ["committed", "opened", "fenced", "committed"]);
  });

  test("the last boots come newest first, with their facts, beats and stops", async (t) => {
    const { store } = await started(t, open);
    await store.beat(bootId("b1"), at(30));
    const stop = { class: "restart", by: "dashboard", reason: "a new version", at: at(40), clean: false } as const;
    await write(store, [{ put: "stop", boot: bootId("b1"), stop }]);
    const facts = { pid: 99, host: "other", machine: "m2", version: "9.9.9", startedAt: at(50), beatAt: at(50) };
    await store.openBoot(aBoot("b2", facts));
    await store.openBoot(aBoot("b3"));
    const [third, second, first] = await store.lastBoots(10);
    assert.equal(third?.id, "b3");
    assert.deepEqual(second, aBoot("b2", facts));
    assert.deepEqual(first, aBoot("b1", { beatAt: at(30), stop }));
    assert.deepEqual(ids(await store.lastBoots(2)), ["b3", "b2"]);
  });

  test("a boot does not open twice", async (t) => {
    const { store } = await started(t, open);
    const again = await store.openBoot(aBoot("b1")).catch((error: unknown) => error);
    assert.notEqual(again, "opened");
  });
}

function heldTests(open: OpenStore): void {
  const first = bootId("b1");
  const second = bootId("b2");

  test("a dead boot is named as long as it holds a running turn", async (t) => {
    const { store } = await started(t, open);
    await write(store, acceptance("t1"));
    const running = advanceTurn(aTurn("t1"), { type: "claimed", boot: first, at: at(1) });
    await write(store, [putTurn(running)]);
    assert.deepEqual(await store.deadBoots(), [], "it lives");
    await store.openBoot(aBoot("b2"));
    assert.deepEqual(await store.deadBoots(), [aBoot("b1")]);
    assert.deepEqual(await store.heldTurns(first), [{ ...running, input: (await store.turn(turnId("t1")))?.input }]);
    assert.deepEqual(await store.heldTurns(second), []);
    await write(store, [putTurn(advanceTurn(running, { type: "parked", cause: "crash", at: at(2) }))], second);
    assert.deepEqual(await store.deadBoots(), []);
    assert.deepEqual(await store.heldTurns(first), []);
  });

  test("a dead boot is named as long as it holds an item being sent", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1"), putItem(anItem("i1")), putItem(anItem("i2"))]);
    const sending = advanceItem(anItem("i1"), { type: "taken", boot: first });
    await write(store, [putItem(sending)]);
    await store.openBoot(aBoot("b2"));
    assert.deepEqual(ids(await store.deadBoots()), ["b1"]);
    assert.deepEqual(await store.heldItems(first), [sending]);
    await write(store, [putItem(advanceItem(sending, { type: "orphaned", at: at(2) }))], second);
    assert.deepEqual(await store.deadBoots(), []);
    assert.deepEqual(await store.heldItems(first), []);
  });

  test("dead boots that hold nothing are not named, however many there were", async (t) => {
    const { store } = await started(t, open);
    for (const name of ["b2", "b3", "b4"]) await store.openBoot(aBoot(name));
    assert.deepEqual(await store.deadBoots(), []);
  });

  test("what a dead boot held comes in the order it was stored", async (t) => {
    const { store } = await started(t, open);
    for (const n of [3, 1, 2]) {
      const now = { state: "running", boot: first, startedAt: at(1) } as const;
      const session = sessionId(`s${n}`);
      const sending = { state: "sending", boot: first, attempts: 1 } as const;
      await write(store, [
        putSession(`s${n}`),
        putTurn(aTurn(`t${n}`, { session, now })),
        putItem(anItem(`i${n}`, { session, now: sending })),
      ]);
    }
    assert.deepEqual(ids(await store.heldTurns(first)), ["t3", "t1", "t2"]);
    assert.deepEqual(ids(await store.heldItems(first)), ["i3", "i1", "i2"]);
  });
}
