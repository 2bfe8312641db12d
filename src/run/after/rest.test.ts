// When memory is given back: after much work, once, and never while something runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionId, TurnId } from "../../core/ids.ts";
import type { GatewayEvent, GatewayStatus } from "../../ports/gateway.ts";
import { restAfterWork } from "./rest.ts";

const ended: GatewayEvent = {
  type: "turn-ended",
  session: "s" as SessionId,
  turn: "t" as TurnId,
  outcome: "replied",
};

test("after a hundred turns, or a new platform, and a quiet moment it is collected once, and never while something runs", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let collected = 0;
  let running = 0;
  let tell: (event: GatewayEvent) => void = () => undefined;
  const gate = {
    watch: (listener: (event: GatewayEvent) => void) => {
      tell = listener;
      return () => {
        tell = () => undefined;
      };
    },
    status: () => ({ running: Array.from({ length: running }) }) as unknown as GatewayStatus,
  };
  const off = restAfterWork(gate, () => collected++);
  const work = (turns: number) => {
    for (let i = 0; i < turns; i++) tell(ended);
  };
  const pass = (ms: number) => t.mock.timers.tick(ms);
  work(99);
  pass(10_000);
  assert.equal(collected, 0, "too little work");
  work(1);
  pass(1_999);
  work(1);
  pass(1_999);
  assert.equal(collected, 0, "something has just ended");
  running = 1;
  pass(10_000);
  assert.equal(collected, 0, "something runs");
  running = 0;
  work(1);
  pass(2_000);
  assert.equal(collected, 1);
  work(99);
  pass(10_000);
  assert.equal(collected, 1, "once");
  const platform = { type: "platform", platform: "x", account: "y", up: true, state: "up" } as const;
  tell(platform);
  pass(2_000);
  assert.equal(collected, 2, "a platform is there for the first time");
  tell({ ...platform, up: false, state: "down" });
  tell(platform);
  pass(10_000);
  assert.equal(collected, 2, "not whenever it comes and goes");
  work(1);
  off();
  pass(10_000);
  assert.equal(collected, 2, "it was told to end");
});
