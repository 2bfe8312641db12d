// Ids and sleeping in the real world.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { Instant } from "./core/ids.ts";
import { idsFrom, realWorld } from "./world.ts";

test("ids strictly increase, also when the clock stands still or goes back", () => {
  let now = 1_800_000_000_000;
  const next = idsFrom(() => now, randomBytes);
  let last = "";
  for (let i = 0; i < 20_000; i++) {
    if (i % 100 === 0) now += i % 300 === 0 ? -50 : 7;
    const id = next();
    assert.ok(id > last, `${id} after ${last}`);
    assert.match(id, /^[0-9a-hjkmnp-tv-z]{20}$/);
    last = id;
  }
});

test("ids of a later time are greater, and two processes do not share one", () => {
  const early = idsFrom(() => 1_000, randomBytes);
  const late = idsFrom(() => 1_001, randomBytes);
  assert.ok(late() > early());
  const full = idsFrom(
    () => 1_000,
    () => Buffer.alloc(8, 0xff),
  );
  assert.ok(full() < full());
  assert.notEqual(idsFrom(() => 5, randomBytes)(), idsFrom(() => 5, randomBytes)());
});

test("a clock that is set back while somebody sleeps does not make the sleep longer", async (t) => {
  const world = realWorld(() => {});
  const real = Date.now.bind(Date);
  const sleeping = world.sleep((world.now() + 50) as Instant, new AbortController().signal);
  t.mock.method(Date, "now", () => real() - 3_600_000);
  await sleeping;
  const before = world.monotonic();
  assert.ok(before > 0 && world.monotonic() >= before);
});

test("sleep ends at its time, and at once when it is aborted; aborting leaves nothing behind", async () => {
  const world = realWorld(() => {});
  const until = (world.now() + 5) as Instant;
  await world.sleep(until, new AbortController().signal);
  assert.ok(world.now() >= until);
  const stop = new AbortController();
  const far = world.sleep((world.now() + 1e12) as Instant, stop.signal);
  stop.abort();
  await far;
  await world.sleep((world.now() + 1e12) as Instant, AbortSignal.abort());
  const chance = world.chance();
  assert.ok(chance >= 0 && chance < 1);
});
