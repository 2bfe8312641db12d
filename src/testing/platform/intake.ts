// The way in: nothing is acknowledged before it is stored, nothing is lost, and listening ends when told to.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../core/fault.ts";
import type { Inbound } from "../../core/message.ts";
import { type OpenPlatform, type Receipt, inletOf, listening, settle } from "./steps.ts";

export function intakeTests(open: OpenPlatform): void {
  receiptTests(open);
  textTests(open);
  endTests(open);
}

function receiptTests(open: OpenPlatform): void {
  test("a message is acknowledged only after it was accepted", async (t) => {
    const offered = Promise.withResolvers<Inbound>();
    const storing = Promise.withResolvers<"accepted">();
    const { say } = await listening(t, open, (message) => {
      offered.resolve(message);
      return storing.promise;
    });
    let receipt: Receipt | "none yet" = "none yet";
    const said = say("hello").then((given) => (receipt = given));
    await Promise.race([offered.promise, said]);
    await settle();
    assert.equal(receipt, "none yet");
    storing.resolve("accepted");
    assert.equal(await said, "acknowledged");
  });

  test("a message that could not be stored is offered again, and then acknowledged", async (t) => {
    const offered: Inbound[] = [];
    const { say, redeliver } = await listening(t, open, async (message) => {
      offered.push(message);
      if (offered.length === 1) throw new Fault("store-full", "There is no room left on the disk.");
      return "accepted";
    });
    assert.equal(await say("hello"), "refused");
    assert.equal(await redeliver(), "acknowledged");
    // A far side with a backlog may have offered it by itself before.
    assert.ok(offered.length >= 2);
    assert.equal(new Set(offered.map(({ key }) => key)).size, 1);
  });

  test("a message that comes again has the same key and is acknowledged again", async (t) => {
    const { say, redeliver, taken } = await listening(t, open);
    assert.equal(await say("hello"), "acknowledged");
    assert.equal(await redeliver(), "acknowledged");
    assert.equal(await redeliver(), "acknowledged");
    assert.equal(new Set(taken.map((one) => one.key)).size, 1);
    assert.deepEqual(taken[1]?.body, taken[0]?.body);
    assert.deepEqual(taken[1]?.from, taken[0]?.from);
  });

  test("the same words said twice are two messages, and order is kept", async (t) => {
    const { say, taken } = await listening(t, open);
    for (const text of ["a", "b", "b", "c"]) await say(text);
    assert.equal(new Set(taken.map((one) => one.key)).size, 4);
    assert.deepEqual(
      taken.map((one) => (one.body.kind === "text" ? one.body.text : one.body.kind)),
      ["a", "b", "b", "c"],
    );
  });

  test("a message says where it is from", async (t) => {
    const { say, taken, platform, home } = await listening(t, open);
    await say("hello");
    assert.deepEqual(taken[0]?.from, home);
    assert.deepEqual([home.platform, home.account], [platform.name, platform.account]);
    assert.notEqual(taken[0]?.sender, "");
    assert.ok(Number.isSafeInteger(taken[0]?.sentAt));
  });
}

function textTests(open: OpenPlatform): void {
  test("what the user wrote arrives as it was written", async (t) => {
    const { say, taken, writable } = await listening(t, open);
    const texts = writable ?? [
      "plain",
      "two\nlines",
      "👋 👩‍👩‍👧‍👦 𝒳",
      "שלום مرحبا",
      "<b>&amp;</b>",
      "```ts\nlet a;\n```",
      "x".repeat(3_000),
    ];
    for (const text of texts) await say(text);
    assert.deepEqual(
      taken.map((one) => (one.body.kind === "text" ? one.body.text : one.body.kind)),
      texts,
    );
  });
}

function endTests(open: OpenPlatform): void {
  test("listening ends when it is aborted, also while a message is being stored", async (t) => {
    const offered = Promise.withResolvers<void>();
    const storing = Promise.withResolvers<"accepted">();
    const { say, stop, ended } = await listening(t, open, () => {
      offered.resolve();
      return storing.promise;
    });
    const said = say("hello");
    assert.equal(await Promise.race([offered.promise, said]), undefined, "it was answered before it was stored");
    stop.abort();
    await ended;
    storing.resolve("accepted");
    await said;
  });

  test("listening ends at once when it was aborted before it began", async (t) => {
    const opened = await open();
    t.after(() => opened.close());
    await opened.platform.listen(
      inletOf(async () => "accepted"),
      null,
      AbortSignal.abort(),
    );
  });

  test("after the end nothing is acknowledged any more", async (t) => {
    const { say, stop, ended, taken } = await listening(t, open);
    stop.abort();
    await ended;
    assert.equal(await say("too late"), "refused");
    assert.deepEqual(taken, []);
  });
}
