// Whoever is told to stop does not wait, and nothing is left behind at the signal.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { orAborted } from "./aborted.ts";

const reason = new Error("stop");
const never = new Promise<never>(() => undefined);

test("what the work gives, or how it fails", async () => {
  const { signal } = new AbortController();
  assert.equal(await orAborted(Promise.resolve(7), signal), 7);
  await assert.rejects(orAborted(Promise.reject(new Error("broken")), signal), /broken/);
  assert.deepEqual(getEventListeners(signal, "abort"), []);
});

test("the reason of an abort, before it and meanwhile", async () => {
  for (const work of [never, Promise.resolve(7), Promise.reject(new Error("broken"))]) {
    await assert.rejects(orAborted(work, AbortSignal.abort(reason)), reason);
  }
  const stop = new AbortController();
  const waiting = orAborted(never, stop.signal);
  assert.equal(getEventListeners(stop.signal, "abort").length, 1);
  stop.abort(reason);
  await assert.rejects(waiting, reason);
  assert.deepEqual(getEventListeners(stop.signal, "abort"), []);
});

test("what fails after the abort is nobody's concern", async () => {
  const stop = new AbortController();
  const work = Promise.withResolvers<never>();
  const waiting = orAborted(work.promise, stop.signal);
  stop.abort(reason);
  await assert.rejects(waiting, reason);
  work.reject(new Error("too late"));
  // An unhandled rejection would fail this test by itself.
  await new Promise((resolve) => setImmediate(resolve));
});
