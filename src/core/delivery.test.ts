import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConnectionState, deliveryOf, postId } from "./delivery.ts";
import type { BootId, Instant } from "./ids.ts";
import type { ItemState, OutboxItem } from "./outbox.ts";
import { anAddress, anItem } from "../testing/samples.ts";

const at = 5 as Instant;
const delivered: ItemState = { state: "delivered", remoteId: "1", deliveredAt: at };
const sending: ItemState = { state: "sending", boot: "b" as BootId, attempts: 1 };
const fresh: ItemState = { state: "pending", dueAt: at, attempts: 0 };
const retried: ItemState = { state: "pending", dueAt: at, attempts: 1, why: "it is away" };
const dead: ItemState = { state: "dead", why: "no such chat", deadAt: at };
const uncertain: ItemState = { state: "in-doubt", since: at, why: "no answer", attempts: 3 };

const up: ConnectionState = { up: true, state: "up", why: null };
const down: ConnectionState = { up: false, state: "down", why: "no route" };
const denied: ConnectionState = { up: false, state: "denied", why: "wrong token" };

const rows: readonly (readonly [string, readonly ItemState[], ConnectionState, string])[] = [
  ["all parts arrived", [delivered, delivered], up, "delivered null"],
  ["arrived before the connection broke", [delivered], down, "delivered null"],
  ["of an older version, without items that can be found", [], up, "unknown"],
  ["a part is under way", [delivered, sending], up, "unknown"],
  ["nothing was tried yet", [fresh], up, "unknown"],
  ["nothing was tried, and the platform is away", [fresh], down, "waiting no route"],
  ["a try failed for now", [retried, fresh], up, "waiting it is away"],
  ["the account is not accepted", [retried], denied, "denied wrong token"],
  ["the platform refuses a part", [delivered, dead], up, "refused no such chat"],
  ["refused while the account is not accepted", [dead], denied, "refused no such chat"],
  ["no answer came", [uncertain, fresh], up, "uncertain no answer"],
];
for (const [name, states, connection, expected] of rows) {
  test(`a posted message: ${name}`, () => {
    const items = states.map((now, part): OutboxItem => anItem(`p${part}`, { now, part }));
    const found = deliveryOf(items, connection);
    assert.equal(found === null ? "unknown" : `${found.state} ${found.why}`, expected);
  });
}

test("the id of a posted message follows from account and key", () => {
  const one = anAddress("a");
  assert.equal(postId(one, "k"), postId({ ...one, chat: "b" }, "k"));
  assert.notEqual(postId(one, "k"), postId({ ...one, account: "other" }, "k"));
  assert.notEqual(postId(one, "k"), postId(one, "k2"));
  assert.match(postId(one, "k"), /^post-[0-9a-f]{32}$/);
});
