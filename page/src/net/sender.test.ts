import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pending } from "../pending.ts";
import { type Posted, verdict } from "./client.ts";
import { sender } from "./sender.ts";

const stored: Posted = { type: "stored" };
const later = (afterMs: number | null = null): Posted => ({ type: "later", afterMs });

/** An outbox whose gateway answers by script; `settle` lets everything happen that can happen without the clock. */
function outbox(messages: readonly (readonly [id: string, chat: string])[], answers: Posted[]) {
  let pending: Pending[] = messages.map(([id, chat], at) => ({ id, chat, text: id, at }));
  const log: string[] = [];
  const drop = (id: string) => (pending = pending.filter((one) => one.id !== id));
  const clocks: (() => void)[] = [];
  const parts = {
    pending: () => pending,
    post: async (message: Pending) => {
      log.push(`post ${message.id}`);
      return answers.shift() ?? stored;
    },
    stored: (message: Pending) => void log.push(`stored ${message.id}`, String(drop(message.id).length)),
    refused: (message: Pending, reason: string) =>
      void log.push(`refused ${message.id}: ${reason}`, String(drop(message.id).length)),
    denied: () => void log.push("denied"),
    pause: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        log.push(`pause ${ms}`);
        clocks.push(resolve);
        signal.addEventListener("abort", () => resolve());
      }),
  };
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { sender: sender(parts), log, drop, tick: () => clocks.shift()?.(), settle };
}

test("one conversation is sent in order, the next only after the one before is confirmed", async () => {
  const box = outbox(
    [
      ["a", "x"],
      ["b", "x"],
    ],
    [later(), later(7_000), stored, stored],
  );
  box.sender.wake();
  box.sender.wake();
  await box.settle();
  assert.deepEqual(box.log, ["post a", "pause 500"]);
  box.tick();
  await box.settle();
  assert.deepEqual(box.log.splice(0), ["post a", "pause 500", "post a", "pause 7000"]);
  box.tick();
  await box.settle();
  assert.deepEqual(box.log, ["post a", "stored a", "1", "post b", "stored b", "0"]);
});

test("a conversation does not wait for another", async () => {
  const box = outbox(
    [
      ["a", "x"],
      ["b", "y"],
    ],
    [later(), stored],
  );
  box.sender.wake();
  await box.settle();
  assert.deepEqual(box.log, ["post a", "post b", "pause 500", "stored b", "1"]);
});

test("a refused message makes room for the next", async () => {
  const box = outbox(
    [
      ["a", "x"],
      ["b", "x"],
    ],
    [{ type: "refused", reason: "too large" }],
  );
  box.sender.wake();
  await box.settle();
  assert.deepEqual(box.log, ["post a", "refused a: too large", "1", "post b", "stored b", "0"]);
});

test("being woken ends a pause", async () => {
  const box = outbox([["a", "x"]], [later(60_000)]);
  box.sender.wake();
  await box.settle();
  box.sender.wake();
  await box.settle();
  assert.deepEqual(box.log, ["post a", "pause 60000", "post a", "stored a", "0"]);
});

test("what the feed confirmed meanwhile is not sent again", async () => {
  const box = outbox(
    [
      ["a", "x"],
      ["b", "x"],
    ],
    [later()],
  );
  box.sender.wake();
  await box.settle();
  box.drop("a");
  box.tick();
  await box.settle();
  assert.deepEqual(box.log, ["post a", "pause 500", "post b", "stored b", "0"]);
});

test("whom the gateway does not know stops until woken, and keeps everything", async () => {
  const box = outbox([["a", "x"]], [{ type: "denied" }]);
  box.sender.wake();
  await box.settle();
  assert.deepEqual(box.log, ["post a", "denied"]);
  box.sender.wake();
  await box.settle();
  assert.deepEqual(box.log.slice(2), ["post a", "stored a", "0"]);
});

test("pauses double to ten seconds", async () => {
  const box = outbox(
    [["a", "x"]],
    Array.from({ length: 7 }, () => later()),
  );
  box.sender.wake();
  for (let i = 0; i < 7; i++) {
    await box.settle();
    box.tick();
  }
  await box.settle();
  assert.deepEqual(
    box.log.filter((one) => one.startsWith("pause")),
    [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000].map((ms) => `pause ${ms}`),
  );
});

test("what an answer means", () => {
  const error = { error: { code: "too-large", message: "Too large. Cut it." } };
  for (const [status, header, body, expected] of [
    [200, null, {}, { type: "stored" }],
    [401, null, error, { type: "denied" }],
    [400, null, error, { type: "refused", reason: "Too large. Cut it." }],
    [413, null, null, { type: "refused", reason: "The gateway refused the message (HTTP 413)." }],
    [403, null, { error: 5 }, { type: "refused", reason: "The gateway refused the message (HTTP 403)." }],
    [429, "3", error, { type: "later", afterMs: 3_000 }],
    [503, null, error, { type: "later", afterMs: null }],
    [503, "Wed, 21 Oct 2026 07:28:00 GMT", error, { type: "later", afterMs: null }],
    [500, "-1", null, { type: "later", afterMs: null }],
    [408, null, null, { type: "later", afterMs: null }],
    [302, null, null, { type: "later", afterMs: null }],
  ] as const) {
    assert.deepEqual(verdict(status, header, body), expected, String(status));
  }
});
