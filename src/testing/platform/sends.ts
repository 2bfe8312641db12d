// The way out: what is sent is seen, once and in order, whole, and a failure is an answer.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { OutboxItem } from "../../core/outbox.ts";
import { type OpenPlatform, again, itemTo, listening } from "./steps.ts";

export function sendTests(open: OpenPlatform): void {
  itemTests(open);
  silentTests(open);
  brokenTests(open);
}

function itemTests(open: OpenPlatform): void {
  const signal = new AbortController().signal;

  test("a send is accepted with an id, and the user sees it once", async (t) => {
    const { platform, home, hints, stored, seen } = await listening(t, open);
    const item = itemTo(home, "i1", "hello you", hints);
    await stored(item);
    const result = await platform.send(item, signal);
    assert.equal(result.type, "accepted");
    if (result.type === "accepted") assert.notEqual(result.remoteId, "");
    assert.deepEqual(await seen(), ["hello you"]);
  });

  test("where sends have keys, the same item sent again is seen once", async (t) => {
    const { platform, home, hints, stored, seen } = await listening(t, open);
    if (!platform.can.keyedSend) return t.diagnostic("sends have no keys");
    const item = itemTo(home, "i1", "hello you", hints);
    await stored(item);
    for (const one of [item, again(item), again(item, 3)]) {
      assert.equal((await platform.send(one, signal)).type, "accepted");
    }
    assert.deepEqual(await seen(), ["hello you"]);
  });

  test("two items with the same words are two messages", async (t) => {
    const { platform, home, hints, stored, seen } = await listening(t, open);
    for (const id of ["i1", "i2"]) {
      const item = itemTo(home, id, "yes", hints);
      await stored(item);
      assert.equal((await platform.send(item, signal)).type, "accepted");
    }
    assert.deepEqual(await seen(), ["yes", "yes"]);
  });

  test("items are seen in the order they were sent", async (t) => {
    const { platform, home, hints, stored, seen } = await listening(t, open);
    const texts = Array.from({ length: 12 }, (_, n) => `number ${n}`);
    for (const [n, text] of texts.entries()) {
      const item = itemTo(home, `i${n}`, text, hints);
      await stored(item);
      await platform.send(item, signal);
    }
    assert.deepEqual(await seen(), texts);
  });

  test("a question is sent like any text", async (t) => {
    const { platform, home, hints, stored, seen } = await listening(t, open);
    const question = { id: "q1", choices: ["Tea", "Coffee"] };
    const item: OutboxItem = { ...itemTo(home, "i1", "What shall it be?", hints), question };
    await stored(item);
    assert.equal((await platform.send(item, signal)).type, "accepted");
    const [shown = ""] = await seen();
    assert.ok(shown.includes("What shall it be?"));
  });
}

function silentTests(open: OpenPlatform): void {
  test("a draft never throws, before, while and after it listens, nor does a sign that somebody writes", async (t) => {
    const opened = await open();
    opened.platform.draft(opened.home, "so far");
    opened.platform.draft(opened.home, null);
    opened.platform.typing?.(opened.home, opened.hints ?? {});
    await opened.close();
    const { platform, home, hints, stop, ended } = await listening(t, open);
    for (const text of ["a", "a b", "", null, null]) platform.draft(home, text);
    platform.typing?.(home, hints ?? {});
    stop.abort();
    await ended;
    for (const text of ["late", null]) platform.draft(home, text);
    platform.typing?.(home, hints ?? {});
  });
}

function brokenTests(open: OpenPlatform): void {
  test("a send whose time is over is answered, not thrown", async (t) => {
    const { platform, home, hints, stored } = await listening(t, open);
    const item = itemTo(home, "i1", "hello you", hints);
    await stored(item);
    const result = await platform.send(item, AbortSignal.abort());
    assert.ok(["accepted", "retry", "refused", "unknown"].includes(result.type));
  });

  test("a broken connection is an answer: try again, or nobody knows", async (t) => {
    const { platform, home, hints, stored, breakOff } = await listening(t, open);
    if (breakOff === undefined) return t.diagnostic("there is no connection");
    await breakOff();
    const item = itemTo(home, "i1", "hello you", hints);
    await stored(item);
    const result = await platform.send(item, new AbortController().signal);
    assert.ok(result.type === "retry" || result.type === "unknown", result.type);
    assert.notEqual(result.why, "");
  });
}
