// What goes wrong on the way out, and what is made of it. `retry` is said only of what surely did not arrive; a key makes a
// repeat harmless, and so does an edit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../core/fault.ts";
import type { SendResult } from "../../core/outbox.ts";
import type { Failure } from "./driver.ts";
import { type OpenPlatform, again, deliver, inletOf, itemTo, listening, nextLife } from "./steps.ts";

export function failureTests(open: OpenPlatform): void {
  rateTests(open);
  for (const kind of ["server", "html", "dropped-before"] as const) lostTests(open, kind);
  doubtTests(open);
  awayTests(open);
  deniedTests(open);
}

const signal = new AbortController().signal;

function rateTests(open: OpenPlatform): void {
  test("too much at once is tried again, after the pause that was asked for", async (t) => {
    const { platform, home, hints, stored, seen, failNext } = await listening(t, open);
    if (failNext === undefined) return t.diagnostic("this driver cannot fail");
    const item = itemTo(home, "i1", "hello you", hints);
    await stored(item);
    await failNext("rate");
    const result = await platform.send(item, signal);
    assert.equal(result.type, "retry");
    if (result.type === "retry") {
      assert.ok(result.afterMs >= 2_000 && result.afterMs <= 120_000, `after ${result.afterMs} ms`);
    }
    assert.deepEqual(await seen(), []);
    await deliver(platform, item);
    assert.deepEqual(await seen(), ["hello you"]);
  });
}

/** It did not arrive, and that may be known or not. */
function lostTests(open: OpenPlatform, kind: Failure): void {
  test(`${kind}: try again, or nobody knows; a repeat is seen once`, async (t) => {
    const { platform, home, hints, stored, seen, failNext } = await listening(t, open);
    if (failNext === undefined) return t.diagnostic("this driver cannot fail");
    const item = itemTo(home, "i1", "hello you", hints);
    await stored(item);
    await failNext(kind);
    const result = await platform.send(item, signal);
    mayBeOver(result);
    if (result.type !== "accepted") await deliver(platform, again(item));
    assert.deepEqual(await seen(), ["hello you"]);
  });
}

/** A platform may repeat a request by itself where that is harmless. */
function mayBeOver(result: SendResult): void {
  assert.ok(["retry", "unknown", "accepted"].includes(result.type), result.type);
  if (result.type !== "accepted") assert.notEqual("why" in result ? result.why : "", "");
}

function doubtTests(open: OpenPlatform): void {
  for (const isNew of [false, true]) {
    const who = isNew ? "the next life" : "the same life";
    test(`a send that arrived and was not answered is in doubt; repeated by ${who}, it is seen once under a key`, async (t) => {
      const opened = await listening(t, open);
      const { platform, home, hints, stored, seen, failNext, reopen } = opened;
      if (failNext === undefined) return t.diagnostic("this driver cannot fail");
      if (isNew && reopen === undefined) return t.diagnostic("this driver cannot reopen");
      const item = itemTo(home, "i1", "hello you", hints);
      await stored(item);
      await failNext("dropped-after");
      const result = await platform.send(item, signal);
      const known = platform.can.keyedSend ? ["accepted", "retry", "unknown"] : ["unknown"];
      assert.ok(known.includes(result.type), `${result.type}, but it did arrive`);
      let sender = platform;
      if (isNew) {
        opened.stop.abort();
        await opened.ended;
        sender = (await nextLife(t, opened, opened.store)).platform;
      }
      await deliver(sender, again(item));
      const times = (await seen()).length;
      assert.ok(times === 1 || (times === 2 && !platform.can.keyedSend), `seen ${times} times`);
    });
  }

  test("a send that is given up on the way is answered, and can be repeated", async (t) => {
    const { platform, home, hints, stored, seen } = await listening(t, open);
    const item = itemTo(home, "i1", "hello you", hints);
    await stored(item);
    const giveUp = new AbortController();
    const sending = platform.send(item, giveUp.signal);
    giveUp.abort();
    const result = await sending;
    assert.notEqual(result.type, "refused");
    const doubtful = result.type === "retry" ? item : again(item);
    if (result.type !== "accepted") await deliver(platform, doubtful);
    const times = (await seen()).length;
    const most = platform.can.keyedSend || result.type !== "unknown" ? 1 : 2;
    assert.ok(times >= 1 && times <= most, `seen ${times} times after ${result.type}`);
  });
}

function awayTests(open: OpenPlatform): void {
  test("while the far side is away, a send is to be tried again or in doubt, and arrives when it is back", async (t) => {
    const { platform, home, hints, stored, seen, goDown, comeBack } = await listening(t, open);
    if (goDown === undefined || comeBack === undefined) return t.diagnostic("this driver cannot go down");
    const item = itemTo(home, "i1", "hello you", hints);
    await stored(item);
    await goDown();
    const result = await platform.send(item, signal);
    assert.ok(result.type === "retry" || result.type === "unknown", result.type);
    await comeBack();
    // A connection of its own may still be on its way back.
    let later: SendResult = result;
    while (later.type === "retry" || later.type === "unknown") {
      later = await platform.send(again(item), signal);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(later.type, "accepted");
    assert.deepEqual(await seen(), ["hello you"]);
  });
}

function deniedTests(open: OpenPlatform): void {
  test("a token that is not known is told as such", async (t) => {
    const opened = await listening(t, open);
    const { platform, home, hints, stored, failNext, reopen } = opened;
    if (failNext === undefined || reopen === undefined) return t.diagnostic("this driver cannot fail");
    await failNext("denied");
    const item = itemTo(home, "i1", "hello you", hints);
    await stored(item);
    const result = await platform.send(item, signal);
    assert.notEqual(result.type, "accepted");
    opened.stop.abort();
    await Promise.allSettled([opened.ended]);
    const next = await reopen(opened.store.cursor);
    const stop = new AbortController();
    t.after(() => stop.abort());
    await assert.rejects(
      next.listen(
        inletOf(async () => "accepted"),
        opened.store.cursor,
        stop.signal,
      ),
      (error) => error instanceof Fault && error.code === "denied" && error.message !== "",
    );
  });
}
