// What a supervisor is told, in one line; and that nothing is told where nobody wants to know.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant } from "../core/ids.ts";
import { newHealth } from "../core/links/health.ts";
import type { GatewayStatus } from "../ports/gateway.ts";
import { realWorld } from "../world.ts";
import { openReporter, statusText } from "./report.ts";

const link = newHealth(0 as Instant);
const status: GatewayStatus = {
  state: "running",
  reason: null,
  safeMode: false,
  startedAt: 0 as Instant,
  boot: "b1",
  running: [],
  platforms: [
    { ...link, platform: "web", account: "local", isFar: false, state: "up", up: true, why: null },
    { ...link, platform: "telegram", account: "bot", isFar: true, state: "down", up: false, why: "no answer" },
  ],
  recovered: { turns: 0, items: 0, tookMs: 0 },
};

const rows: readonly (readonly [Partial<GatewayStatus>, string])[] = [
  [{}, "running; web connected, 0 turns running"],
  [{ platforms: [] }, "running; no platform connected, 0 turns running"],
  [{ state: "degraded", reason: "no platform is connected" }, "degraded: no platform is connected"],
  [{ state: "degraded", safeMode: true, reason: "it died" }, "safe mode: it died"],
  [{ state: "draining", reason: "its owner asked it to stop" }, "draining: its owner asked it to stop"],
];

for (const [one, text] of rows) test(text, () => assert.equal(statusText({ ...status, ...one }), text));

test("without anybody who wants to know there is no reporter", () => {
  const world = realWorld(() => undefined);
  assert.equal(openReporter({ env: { INVOCATION_ID: "x" }, world }), null);
});
