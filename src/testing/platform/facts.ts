// What is told about a message beside its words: its thread, whether it was meant for us, what it replaces, what was
// pressed; and that our own words do not come back to us.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Inbound } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import { type OpenPlatform, itemTo, listening, wordsOf } from "./steps.ts";

export function factTests(open: OpenPlatform): void {
  threadTests(open);
  groupTests(open);
  wordingTests(open);
  pressTests(open);
}

function threadTests(open: OpenPlatform): void {
  test("threads keep their address, and answers go to the same thread", async (t) => {
    const { platform, sayIn, seenIn, stored, taken } = await listening(t, open);
    if (sayIn === undefined || seenIn === undefined) return t.diagnostic("there are no threads");
    for (const [thread, text] of [
      ["one", "a"],
      ["two", "b"],
      ["one", "c"],
    ] as const)
      await sayIn(thread, text);
    const [a, b, c] = taken;
    assert.deepEqual(a?.from, c?.from);
    assert.notDeepEqual(a?.from, b?.from);
    assert.equal(new Set(taken.map(({ key }) => key)).size, 3);
    for (const [n, message] of [a, b].entries()) {
      if (message === undefined) continue;
      const item = itemTo(message.from, `i${n}`, `answer ${n}`, message.hints);
      await stored(item);
      assert.equal((await platform.send(item, new AbortController().signal)).type, "accepted");
    }
    const seen = [await seenIn("one"), await seenIn("two")];
    assert.deepEqual(
      seen.map((texts) => texts.filter((text) => text.startsWith("answer"))),
      [["answer 0"], ["answer 1"]],
    );
  });
}

function groupTests(open: OpenPlatform): void {
  test("in a group it is told whether the words are meant for us, and the mention is taken out", async (t) => {
    const { say, sayInGroup, taken } = await listening(t, open);
    if (sayInGroup === undefined) return t.diagnostic("there are no groups");
    assert.equal(await sayInGroup("hello all", false), "acknowledged");
    assert.equal(await sayInGroup("hello you", true), "acknowledged");
    await say("hello");
    assert.deepEqual(
      taken.map(({ group }) => group?.called),
      [false, true, undefined],
    );
    assert.deepEqual(wordsOf(taken), ["hello all", "hello you", "hello"]);
    for (const { sender } of taken) assert.notEqual(sender, "");
  });

  test("our own messages are not handed over", async (t) => {
    const { say, sayAsSelf, taken } = await listening(t, open);
    if (sayAsSelf === undefined) return t.diagnostic("our own messages never come back");
    await sayAsSelf("I said this");
    assert.equal(await say("after"), "acknowledged");
    assert.deepEqual(wordsOf(taken), ["after"]);
  });
}

function wordingTests(open: OpenPlatform): void {
  test("a message that was edited comes again under another key and says what it replaces", async (t) => {
    const { say, edit, taken } = await listening(t, open);
    if (edit === undefined) return t.diagnostic("messages cannot be edited");
    await say("first wording");
    assert.equal(await edit("second wording"), "acknowledged");
    assert.equal(await edit("third wording"), "acknowledged");
    const [first, ...others] = taken;
    assert.deepEqual(wordsOf(taken), ["first wording", "second wording", "third wording"]);
    assert.equal(first?.replaces, undefined);
    for (const { replaces, from } of others) assert.deepEqual([replaces, from], [first?.key, first?.from]);
    assert.equal(new Set(taken.map(({ key }) => key)).size, 3);
  });
}

function pressTests(open: OpenPlatform): void {
  const asking = (first: Inbound): OutboxItem => ({
    ...itemTo(first.from, "i1", "What shall it be?", first.hints),
    question: { id: "q1", choices: ["Tea", "Coffee, black", "Water"] },
  });

  test("a button that is pressed is the answer, in the words of the choice", async (t) => {
    const { platform, say, press, stored, taken, redeliver } = await listening(t, open);
    if (press === undefined) return t.diagnostic("there are no buttons");
    await say("ask me");
    const [first] = taken;
    if (first === undefined) return assert.fail("nothing was handed over");
    const item = asking(first);
    await stored(item);
    assert.equal((await platform.send(item, new AbortController().signal)).type, "accepted");
    assert.equal(await press("Coffee, black"), "acknowledged");
    assert.deepEqual(taken[1]?.body, { kind: "answer", question: "q1", choice: "Coffee, black" });
    assert.deepEqual([taken[1]?.from, taken[1]?.sender], [first.from, first.sender]);
    await redeliver();
    assert.equal(new Set(taken.slice(1).map(({ key }) => key)).size, 1, "a press that comes again has the same key");
  });
}
