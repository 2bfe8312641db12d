// How loud each event is in the log.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant, ItemId, SessionId, TurnId } from "./core/ids.ts";
import { narrate } from "./narrate.ts";
import type { GatewayEvent } from "./ports/gateway.ts";

const session = "s1" as SessionId;
const turn = "t1" as TurnId;
const item = "i1" as ItemId;
const from = { platform: "web", account: "local", chat: "c1" };

const cases: readonly (readonly [GatewayEvent, string])[] = [
  [{ type: "state", state: "running", reason: null }, "info the gateway is running"],
  [{ type: "state", state: "degraded", reason: "disk" }, "warn the gateway is degraded"],
  [{ type: "accepted", session, turn, from }, "info message stored"],
  [{ type: "turn-started", session, turn, attempt: 1 }, "debug turn started"],
  [
    { type: "turn-waiting", session, turn, kind: "approval", question: "t1.q1", until: 5 as Instant },
    "info turn waits for an answer",
  ],
  [{ type: "turn-parked", session, turn }, "info turn parked; it goes on after the next start"],
  [{ type: "turn-ended", session, turn, outcome: "replied" }, "info turn ended"],
  [{ type: "turn-ended", session, turn, outcome: "failed", why: "x" }, "warn turn ended"],
  [{ type: "tool-ended", turn, tool: "stamp", result: "ok" }, "debug tool ended"],
  [{ type: "item", item, session, state: "delivered" }, "debug message sent"],
  [{ type: "item", item, session, state: "pending", why: "busy" }, "warn a message is sent again later"],
  [{ type: "item", item, session, state: "in-doubt", why: "cut" }, "warn a message may or may not have arrived"],
  [{ type: "item", item, session, state: "dead", why: "no" }, "warn a message could not be delivered and is given up"],
  [{ type: "platform", platform: "web", account: "local", up: true, state: "up" }, "info platform connected"],
  [{ type: "platform", platform: "web", account: "local", up: false, state: "down", why: "x" }, "warn platform lost"],
  [
    { type: "platform", platform: "web", account: "local", up: false, state: "denied", why: "x" },
    "error platform does not let us in",
  ],
];

for (const [event, line] of cases) {
  test(line, () => {
    const told = narrate(event);
    assert.equal(`${told.level} ${told.what}`, line);
    if ("why" in event) assert.equal(told.facts["why"], event.why);
  });
}
