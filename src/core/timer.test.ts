// A due timer becomes a message of its session whose key is the timer's own, so that it fires once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aSession, at, turnId } from "../testing/samples.ts";
import { bringsOutside } from "./message.ts";
import { type Timer, toInbound } from "./timer.ts";

const reminder: Timer = { id: "r1", session: aSession().id, turn: null, dueAt: at(500), text: "tea is ready" };

test("a reminder becomes a message in its session's place, sent when it was due", () => {
  const session = aSession();
  assert.deepEqual(toInbound(reminder, session), {
    key: "=timer:r1",
    from: session.address,
    sender: "timer",
    body: { kind: "timer", timer: "r1", text: "tea is ready" },
    sentAt: at(500),
  });
});

test("the same timer has the same key however often it fires, another one another", () => {
  const session = aSession();
  const again = toInbound({ ...reminder, dueAt: at(900), turn: turnId("t1") }, session);
  assert.equal(again.key, toInbound(reminder, session).key);
  assert.notEqual(toInbound({ ...reminder, id: "r2" }, session).key, again.key);
});

test("a reminder of a marked conversation marks the one that it speaks in", () => {
  const maker = { party: "person", sender: "ann" } as const;
  assert.equal(bringsOutside(toInbound({ ...reminder, maker }, aSession())), false);
  assert.equal(bringsOutside(toInbound({ ...reminder, maker: { ...maker, outside: true } }, aSession())), true);
});
