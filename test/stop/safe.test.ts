// Safe mode: a gateway that died three times before it was ready can be asked what is wrong and does nothing else, until
// it is told to go on or has waited long enough.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { Fault } from "../../src/core/fault.ts";
import type { BootId } from "../../src/core/ids.ts";
import { newBoot } from "../../src/core/recovery.ts";
import { type Stage, at, stage } from "./stage.ts";

/** Lives that opened their boot and were never heard of again. */
async function die(on: Stage, times: number, config = "c1"): Promise<void> {
  for (let n = 0; n < times; n++) {
    const facts = { pid: 1, host: "stage", machine: "m", version: "test", config, startedAt: on.clock.now() };
    await on.store.openBoot(newBoot({ id: randomUUID() as BootId, ...facts }));
  }
}

async function unfinished(on: Stage): Promise<void> {
  const one = await on.start();
  await on.say("stuck", { from: at("a") });
  await on.until(() => on.calls.includes("step stuck"));
  await on.stop(one);
}

test("after three deaths before ready it holds still: nothing is taken up, no platform opened, and it says why", async (t) => {
  const on = await stage(t);
  await unfinished(on);
  await die(on, 3);
  const calls = on.calls.length;
  const one = await on.start();
  const status = one.gateway.status();
  assert.deepEqual([status.state, status.safeMode], ["degraded", true]);
  assert.match(status.reason ?? "", /the last 3 starts died before they were ready.*everturn gateway resume/);
  await on.pass(60_000);
  assert.equal(on.calls.length, calls, "nobody was asked for anything");
  assert.equal((await on.store.counts()).turns.parked, 1);
  await assert.rejects(
    () => one.gateway.post(at("a"), "hi", "k"),
    (error) => error instanceof Fault && error.code === "busy" && /safe mode/.test(error.message),
  );
  const [boot] = await on.store.lastBoots(1);
  assert.equal(boot?.readyAt, null, "holding still is not being ready");
});

test("it goes on when it is told to, once", async (t) => {
  const on = await stage(t);
  await unfinished(on);
  await die(on, 3);
  const one = await on.start();
  one.gateway.leaveSafeMode("the operator says so");
  one.gateway.leaveSafeMode("and again");
  await on.until(() => on.calls.includes("send answer to stuck"));
  const status = one.gateway.status();
  assert.deepEqual([status.state, status.safeMode], ["running", false]);
  one.gateway.leaveSafeMode("much later");
  assert.equal(one.gateway.status().state, "running");
  assert.equal(on.log.filter(({ what }) => what.includes("leaves safe mode")).length, 1);
  const [boot] = await on.store.lastBoots(1);
  assert.notEqual(boot?.readyAt, null);
});

test("it tries by itself after five minutes", async (t) => {
  const on = await stage(t);
  await unfinished(on);
  await die(on, 3);
  await on.start();
  const from = on.now();
  await on.until(() => on.calls.includes("send answer to stuck"));
  assert.ok(on.now() - from >= 300_000 && on.now() - from < 301_000, `after ${on.now() - from} ms`);
});

test("a stop in safe mode works, is noted, and the next start tries for real", async (t) => {
  const on = await stage(t);
  await unfinished(on);
  await die(on, 3);
  const one = await on.start();
  const from = on.now();
  await on.stop(one, { class: "restart" });
  assert.ok(on.now() - from < 100);
  const [boot] = await on.store.lastBoots(1);
  assert.equal(boot?.stop?.class, "restart");
  assert.equal(boot?.stop?.clean, true);
  const two = await on.start();
  assert.equal(two.gateway.status().safeMode, false);
  await on.until(() => on.calls.includes("send answer to stuck"));
});

test("another configuration deserves another try, and so does a life that was killed when it was ready", async (t) => {
  const on = await stage(t);
  await die(on, 3);
  assert.equal((await on.start({ config: "c2" })).gateway.status().safeMode, false);
  await die(on, 2);
  assert.equal((await on.start()).gateway.status().safeMode, false);
});
