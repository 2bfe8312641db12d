// Who may write for a session: fences, owners, and one live session for each key.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change } from "../../core/change.ts";
import { aBoot, aSession, anAddress, at, bootId, sessionId, turnId } from "../samples.ts";
import { type OpenStore, acceptance, idOf, ids, putSession, started, write } from "./steps.ts";

export function sessionTests(open: OpenStore): void {
  describe("sessions and their owners", { concurrency: 4 }, () => {
    checkTests(open);
    ownerTests(open);
    standingTests(open);
  });
}

function checkTests(open: OpenStore): void {
  const check = (version: number, fence: number, turn = "t1"): Change => ({
    check: "turn",
    turn: turnId(turn),
    version,
    session: sessionId("s1"),
    fence,
  });
  const note: Change = { put: "strikes", key: "written", strikes: 1 };

  test("a check refuses the commit when the turn or the owner has moved on", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, acceptance("t1"));
    assert.equal(await store.commit([check(2, 1), note], by), "conflict", "another version");
    assert.equal(await store.commit([check(1, 2), note], by), "fenced", "another fence");
    assert.equal(await store.commit([check(2, 2), note], by), "fenced", "both: the owner counts more");
    assert.equal(await store.commit([check(1, 1, "missing"), note], by), "conflict", "no such turn");
    assert.equal(await store.strikes("written"), 0);
    await write(store, [check(1, 1), note]);
    assert.equal(await store.strikes("written"), 1);
  });

  test("a check refuses wherever it stands in the commit", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, acceptance("t1"));
    assert.equal(await store.commit([note, check(2, 1)], by), "conflict");
    assert.equal(await store.commit([note, check(1, 2)], by), "fenced");
    assert.equal(await store.strikes("written"), 0);
  });

  test("after a change of owner the old fence is refused and the new one taken", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, acceptance("t1"));
    await write(store, [{ put: "owner", session: sessionId("s1"), boot: by, fence: 2 }]);
    assert.equal(await store.commit([check(1, 1), note], by), "fenced");
    await write(store, [check(1, 2), note]);
  });
}

function ownerTests(open: OpenStore): void {
  test("a change of owner raises the fence by exactly one", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, [putSession("s1")]);
    const owner = (fence: number): readonly Change[] => [{ put: "owner", session: sessionId("s1"), boot: by, fence }];
    for (const wrong of [0, 1, 3, 100])
      assert.equal(await store.commit(owner(wrong), by), "conflict", `fence ${wrong}`);
    await write(store, owner(2));
    assert.equal(await store.commit(owner(2), by), "conflict");
    await write(store, owner(3));
    const session = await store.session(sessionId("s1"));
    assert.deepEqual([session?.fence, session?.owner], [3, by]);
  });

  test("a session is inserted when absent and left alone when there", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1")]);
    await write(store, [putSession("s1", { fence: 9, activeAt: at(77) })]);
    assert.deepEqual(await store.session(sessionId("s1")), aSession("s1"));
  });

  test("a key has one live session; when it has ended, another takes its place", async (t) => {
    const { store, by } = await started(t, open);
    const { key, address } = aSession("s1");
    const place = { key, address };
    await write(store, [putSession("s1")]);
    assert.equal(await store.commit([putSession("s2", place)], by), "conflict");
    await write(store, [{ put: "ended", session: sessionId("s1"), at: at(9) }, putSession("s2", place)]);
    assert.equal(idOf(await store.sessionOf(key)), "s2");
    assert.equal((await store.session(sessionId("s1")))?.endedAt, at(9));
  });

  test("two sessions of one key may end in the same moment", async (t) => {
    const { store } = await started(t, open);
    const { key, address } = aSession("s1");
    const place = { key, address };
    await write(store, [putSession("s1")]);
    await write(store, [{ put: "ended", session: sessionId("s1"), at: at(9) }, putSession("s2", place)]);
    await write(store, [{ put: "ended", session: sessionId("s2"), at: at(9) }, putSession("s3", place)]);
    assert.equal(idOf(await store.sessionOf(key)), "s3");
  });
}

function standingTests(open: OpenStore): void {
  const s1 = sessionId("s1");

  test("S74 S79 a mark is neither set nor cleared where there is no such session", async (t) => {
    const { store } = await started(t, open);
    const none = sessionId("nobody");
    for (const resume of [{ reason: "crash", markedAt: at(7) } as const, null])
      assert.equal(await store.commit([{ put: "resume", session: none, resume }], bootId("b1")), "conflict");
    assert.equal(await store.session(none), null);
  });

  test("S68 S69 S76 a new session is active and not to be resumed; what is noted of it survives a reopen", async (t) => {
    const opened = await started(t, open);
    await write(opened.store, [putSession("s1")]);
    const fresh = await opened.store.session(s1);
    assert.deepEqual([fresh?.standing, fresh?.resume, fresh?.reset], ["active", null, null]);
    const resume = { reason: "restart_timeout", markedAt: at(7) } as const;
    await write(opened.store, [{ put: "resume", session: s1, resume }]);
    await write(opened.store, [{ put: "standing", session: s1, standing: "suspended" }]);
    const store = await opened.reopen();
    assert.deepEqual(await store.session(s1), { ...aSession("s1"), resume, standing: "suspended" });
    await store.openBoot(aBoot("b2"));
    await write(store, [{ put: "resume", session: s1, resume: null }], bootId("b2"));
    assert.equal((await store.session(s1))?.resume, null);
  });

  test("why a session followed another is kept", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1", { reset: "suspended" })]);
    assert.equal((await store.session(s1))?.reset, "suspended");
  });

  test("recently active: live sessions of that platform, the least recent first", async (t) => {
    const { store } = await started(t, open);
    const place = (name: string, platform: string) => ({ address: anAddress(name, { platform }) });
    for (const [name, active] of [
      ["old", 1],
      ["edge", 5],
      ["young", 9],
      ["ended", 8],
    ] as const) {
      await write(store, [putSession(name, { ...place(name, "web"), activeAt: at(active) })]);
    }
    await write(store, [putSession("elsewhere", { ...place("elsewhere", "irc"), activeAt: at(9) })]);
    await write(store, [{ put: "ended", session: sessionId("ended"), at: at(9) }]);
    assert.deepEqual(ids(await store.activeSince("web", at(5))), ["edge", "young"]);
    assert.deepEqual(ids(await store.activeSince("nothing", at(0))), []);
  });
}
