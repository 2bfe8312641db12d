// Which signals mean what, with the clock in hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant } from "./core/ids.ts";
import type { StopIntent } from "./core/lifecycle.ts";
import { watchSignals } from "./signals.ts";

test("the first signal stops, one within a second belongs to it, a later one asks again", (t) => {
  let now = 1_000;
  const asked: StopIntent[] = [];
  const logged: string[] = [];
  const world = { now: () => now as Instant, log: (_: string, what: string) => void logged.push(what) };
  const signals = watchSignals({ world, drainMs: 0, stop: (intent) => void asked.push(intent), overdue: assert.fail });
  t.after(() => signals.off());
  assert.equal(signals.first(), null);
  process.emit("SIGHUP", "SIGHUP");
  now += 999;
  process.emit("SIGTERM", "SIGTERM");
  assert.deepEqual(asked, [{ to: "stop", by: "signal", reason: "it was asked to stop by SIGHUP" }]);
  now += 1;
  process.emit("SIGTERM", "SIGTERM");
  assert.equal(asked.length, 2);
  assert.equal(signals.first(), "SIGHUP");
  assert.deepEqual(logged, ["asked to stop", "asked to stop again; running turns are parked now"]);
  signals.off();
  assert.equal(process.listenerCount("SIGHUP"), 0);
});
