// What kind of stop each request is, as a table.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Asked, classify, signalsOf } from "./classify.ts";

const rows: readonly (readonly [Asked["signal"], Asked["marker"], string, string])[] = [
  ["SIGTERM", null, "unexpected", "signal"],
  ["SIGHUP", null, "unexpected", "signal"],
  ["SIGINT", null, "planned", "signal"],
  ["SIGBREAK", null, "planned", "signal"],
  ["SIGUSR1", null, "restart", "signal"],
  ["SIGTERM", "plannedStop", "planned", "marker"],
  ["SIGHUP", "plannedStop", "planned", "marker"],
  ["SIGINT", "plannedStop", "planned", "marker"],
  ["SIGUSR1", "plannedStop", "planned", "marker"],
  [null, "plannedStop", "planned", "marker"],
  ["SIGTERM", "takeOver", "take-over", "marker"],
  ["SIGINT", "takeOver", "take-over", "marker"],
  ["SIGUSR1", "takeOver", "take-over", "marker"],
  [null, "takeOver", "take-over", "marker"],
  [null, null, "planned", "marker"],
];

for (const [signal, marker, kind, by] of rows)
  test(`${signal ?? "no signal"} with ${marker ?? "no marker"} is ${kind}`, () => {
    const intent = classify({ signal, marker });
    assert.deepEqual([intent.class, intent.by], [kind, by]);
    assert.equal(intent.signal ?? null, by === "signal" ? signal : null);
    assert.match(intent.reason, /^(?:it|its owner|another gateway) /);
  });

test("only signals that exist on a system are listened for", () => {
  assert.deepEqual(signalsOf("linux"), ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"]);
  assert.deepEqual(signalsOf("darwin"), signalsOf("linux"));
  assert.ok(!signalsOf("win32").includes("SIGUSR1"));
});
