// The way out: what is sent is seen, once and in order, whole, and a failure is an answer.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OutboxItem } from "../../core/outbox.ts";
import { bootId } from "../samples.ts";
import { type OpenPlatform, itemTo, listening } from "./steps.ts";

export function sendTests(open: OpenPlatform): void {
  describe("the way out", () => {
    itemTests(open);
    partTests(open);
    failureTests(open);
  });
}

function itemTests(open: OpenPlatform): void {
  const signal = new AbortController().signal;

  test("a send is accepted with an id, and the user sees it once", async (t) => {
    const { platform, home, stored, seen } = await listening(t, open);
    const item = itemTo(home, "i1", "hello you");
    await stored(item);
    const result = await platform.send(item, signal);
    assert.equal(result.type, "accepted");
    if (result.type === "accepted") assert.notEqual(result.remoteId, "");
    assert.deepEqual(await seen(), ["hello you"]);
  });

  test("where sends have keys, the same item sent again is seen once", async (t) => {
    const { platform, home, stored, seen } = await listening(t, open);
    if (!platform.can.keyedSend) return;
    const item = itemTo(home, "i1", "hello you");
    await stored(item);
    for (const attempts of [1, 2, 3]) {
      const again = { ...item, now: { state: "sending", boot: bootId(`b${attempts}`), attempts } } as const;
      assert.equal((await platform.send(again, signal)).type, "accepted");
    }
    assert.deepEqual(await seen(), ["hello you"]);
  });

  test("items are seen in the order they were sent", async (t) => {
    const { platform, home, stored, seen } = await listening(t, open);
    const texts = Array.from({ length: 12 }, (_, n) => `number ${n}`);
    for (const [n, text] of texts.entries()) {
      const item = itemTo(home, `i${n}`, text);
      await stored(item);
      await platform.send(item, signal);
    }
    assert.deepEqual(await seen(), texts);
  });

  test("a question is sent like any text", async (t) => {
    const { platform, home, stored, seen } = await listening(t, open);
    const question = { id: "q1", choices: ["Tea", "Coffee"] };
    const item: OutboxItem = { ...itemTo(home, "i1", "What shall it be?"), question };
    await stored(item);
    assert.equal((await platform.send(item, signal)).type, "accepted");
    const [shown = ""] = await seen();
    assert.ok(shown.includes("What shall it be?"));
  });
}

function partTests(open: OpenPlatform): void {
  const long = Array.from({ length: 4_000 }, (_, n) => `word${n}`).join(" ");
  const texts = [
    "short",
    "👋",
    long,
    `${"x".repeat(20_000)}👋`,
    `\`\`\`ts\n${"let a = 1;\n".repeat(1_000)}\`\`\`\nend`,
  ];
  const bare = (text: string): string => text.replace(/^ {0,3}(?:```|~~~).*$/gm, "").replace(/\s+/g, "");

  test("a long answer in parts loses nothing", async (t) => {
    const opened = await open();
    t.after(() => opened.close());
    for (const text of texts) {
      const parts = opened.platform.parts(text);
      assert.ok(parts.length > 0);
      assert.equal(bare(parts.join("\n")), bare(text));
      assert.ok(parts.every((part) => part !== "" && part.isWellFormed()));
      assert.deepEqual(opened.platform.parts(text), parts, "the same text has the same parts");
    }
  });

  test("every part can be sent", async (t) => {
    const { platform, home, stored, seen } = await listening(t, open);
    const parts = platform.parts(long);
    for (const [n, part] of parts.entries()) {
      const item = itemTo(home, `i${n}`, part);
      await stored(item);
      assert.equal((await platform.send(item, new AbortController().signal)).type, "accepted");
    }
    assert.equal(bare((await seen()).join("\n")), bare(long));
  });
}

function failureTests(open: OpenPlatform): void {
  test("a draft never throws, before, while and after it listens", async (t) => {
    const opened = await open();
    opened.platform.draft(opened.home, "so far");
    opened.platform.draft(opened.home, null);
    await opened.close();
    const { platform, home, stop, ended } = await listening(t, open);
    for (const text of ["a", "a b", "", null, null]) platform.draft(home, text);
    stop.abort();
    await ended;
    for (const text of ["late", null]) platform.draft(home, text);
  });

  test("a send whose time is over is answered, not thrown", async (t) => {
    const { platform, home, stored } = await listening(t, open);
    const item = itemTo(home, "i1", "hello you");
    await stored(item);
    const result = await platform.send(item, AbortSignal.abort());
    assert.ok(["accepted", "retry", "refused", "unknown"].includes(result.type));
  });

  test("a broken connection is an answer: try again, or nobody knows", async (t) => {
    const { platform, home, stored, breakOff } = await listening(t, open);
    if (breakOff === undefined) return;
    await breakOff();
    const item = itemTo(home, "i1", "hello you");
    await stored(item);
    const result = await platform.send(item, new AbortController().signal);
    assert.ok(result.type === "retry" || result.type === "unknown", result.type);
    assert.notEqual(result.why, "");
  });
}
