import assert from "node:assert/strict";
import { test } from "node:test";
import { nextPause, streamReconnects } from "./reconnects.ts";

test("the pause before a stream is opened again", () => {
  for (const [kind, lastMs, livedMs, expected] of [
    ["notifications", 0, 0, 1_000],
    ["notifications", 1_000, 10, 2_000],
    ["notifications", 2_000, 29_999, 4_000],
    ["notifications", 32_000, 10, 60_000],
    ["notifications", 60_000, 10, 60_000],
    ["notifications", 60_000, 30_000, 1_000],
    ["answer", 0, 0, 100],
    ["answer", 100, 10, 200],
    ["answer", 800, 10, 1_000],
    ["answer", 1_000, 10, 1_000],
    ["answer", 1_000, 30_000, 100],
  ] as const)
    assert.equal(nextPause(kind, lastMs, livedMs), expected, `${kind} ${lastMs} ${livedMs}`);
});

test("the wish of the server counts where it is longer, up to an hour", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let opened = 0;
  const schedule = streamReconnects(() => false);
  for (const [askedMs, waitMs] of [
    [5_000, 5_000],
    [0, 2_000],
    [1e12, 3_600_000],
  ] as const) {
    const before = opened;
    schedule(() => opened++, askedMs, 0);
    t.mock.timers.tick(waitMs - 1);
    assert.equal(opened, before);
    t.mock.timers.tick(1);
    assert.equal(opened, before + 1);
  }
  const cancel = schedule(() => opened++, 0, 0);
  cancel?.();
  t.mock.timers.tick(60_000);
  assert.equal(opened, 3);
});
