// A session's key comes from its place alone; its fence rises only when another boot takes it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aSession, anAddress, at, bootId, sessionId } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import { newSession, sessionKey, takenBy } from "./session.ts";

test("a new session belongs to the boot that made it, at fence 1, and is alive", () => {
  const address = anAddress("c1", { thread: "7" });
  assert.deepEqual(newSession(sessionId("s1"), address, bootId("b1"), at(5)), {
    id: "s1",
    key: sessionKey(address),
    address,
    owner: "b1",
    fence: 1,
    createdAt: at(5),
    activeAt: at(5),
    endedAt: null,
    standing: "active",
    resume: null,
    reset: null,
    outside: false,
    model: null,
  });
});

table(
  "taking a session",
  [
    { name: "by its owner: nothing changes", owner: "b1", by: "b1", fence: 4 },
    { name: "by another boot: the fence rises by one", owner: "b1", by: "b2", fence: 5 },
    { name: "by a boot when nobody has it: the fence rises by one", owner: null, by: "b2", fence: 5 },
  ],
  ({ owner, by, fence }) => {
    const session = aSession("s1", { owner: owner === null ? null : bootId(owner), fence: 4 });
    assert.deepEqual(takenBy(session, bootId(by)), { ...session, owner: bootId(by), fence });
  },
);

test("taking it twice raises the fence once", () => {
  const once = takenBy(aSession(), bootId("b2"));
  assert.equal(takenBy(once, bootId("b2")).fence, once.fence);
});

test("the key tells places apart and nothing else", () => {
  const key = sessionKey(anAddress("c1"));
  assert.equal(sessionKey({ ...anAddress("c1") }), key);
  for (const other of [
    anAddress("c2"),
    anAddress("c1", { thread: "1" }),
    anAddress("c1", { account: "work" }),
    anAddress("c1", { platform: "web" }),
  ]) {
    assert.notEqual(sessionKey(other), key);
  }
});
