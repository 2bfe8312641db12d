import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { readEvent } from "./stream.ts";
import { outcome } from "./upload.ts";
import { readFate, readListing, readMessage, readMessages, readUsed } from "./wire.ts";

// What the page tells the console is no news in a test.
beforeEach(() => {
  mock.method(console, "warn", () => undefined);
  mock.method(console, "debug", () => undefined);
});

const good = { n: 1, key: "k", role: "user", text: "t", at: 5 };

test("a message is read whole or not at all", () => {
  assert.deepEqual(readMessage({ ...good, session: "s", turn: null }), { ...good, session: "s" });
  const question = { id: "q", choices: ["a", 5, "b"] };
  assert.deepEqual(readMessage({ ...good, question })?.question, { id: "q", choices: ["a", "b"], approval: false });
  assert.equal(readMessage({ ...good, question: { ...question, kind: "approval" } })?.question?.approval, true);
  const file = { name: "a", mime: "b/c", blob: "d", bytes: 1 };
  assert.deepEqual(readMessage({ ...good, files: [file, { name: 5 }, null] })?.files, [file]);
  assert.deepEqual(readMessage({ ...good, files: "x" }), good);
  assert.deepEqual(readMessage({ ...good, question: { id: 5 } }), good);
  for (const odd of [null, 5, "x", [], {}, { ...good, n: "1" }, { ...good, role: "system" }, { ...good, text: null }])
    assert.equal(readMessage(odd), null);
  assert.deepEqual(readMessages({ messages: [good, null] }), [good]);
  assert.equal(readMessages({}), null);
});

test("a listing tolerates what is missing but not what is wrong", () => {
  assert.deepEqual(readListing({ chats: [{ chat: "a" }, { chat: "" }, 5] }), [
    { chat: "a", title: "", activeAt: 0, lastN: 0 },
  ]);
  for (const odd of [null, [], { chats: {} }]) assert.equal(readListing(odd), null);
});

test("events of a stream, also odd ones", () => {
  for (const [type, data, expected] of [
    ["hello", '{"boot":"b","version":"1"}', { type: "hello", boot: "b", offline: false }],
    ["hello", '{"boot":"b","offline":true}', { type: "hello", boot: "b", offline: true }],
    ["hello", "{}", { type: "hello", boot: null, offline: false }],
    ["hello", "5", { type: "hello", boot: null, offline: false }],
    ["live", "{}", { type: "live" }],
    ["live", "", { type: "live" }],
    ["draft", '{"text":"x"}', { type: "draft", text: "x" }],
    ["draft", '{"text":null}', { type: "draft", text: null }],
    ["draft", '{"text":5}', null],
    ["message", JSON.stringify(good), { type: "message", message: good }],
    ["message", "{", null],
  ] as const) {
    assert.deepEqual(readEvent(type, data), expected, data);
  }
});

test("what became of a question", () => {
  for (const [fate, read] of [
    [{ type: "open" }, { type: "open" }],
    [
      { type: "answered", choice: "deny", by: "x" },
      { type: "answered", choice: "deny" },
    ],
    [{ type: "expired", at: 5 }, { type: "expired" }],
    [
      { type: "withdrawn", why: "stopped" },
      { type: "withdrawn", why: "stopped" },
    ],
    [{ type: "answered" }, null],
    [{ type: "odd" }, null],
  ] as const)
    assert.deepEqual(readFate({ id: "q", fate }), read, JSON.stringify(fate));
  assert.equal(readFate({}), null);
});

test("the model and what was used, where it is known", () => {
  const total = { steps: 2, input: 10, cached: 5, output: 3, cost: 9, unpriced: 1 };
  const reply = (model: string | null, spent: object, models: readonly string[]) => ({
    session: { model },
    used: { total: spent, models },
  });
  assert.deepEqual(readUsed(reply(null, total, ["a/x"])), { model: "a/x", tokens: 13, cost: 9, working: false });
  assert.deepEqual(readUsed(reply("b/y", total, ["a/x"]))?.model, "b/y");
  assert.deepEqual(readUsed(reply(null, { ...total, unpriced: 2 }, ["a/x"]))?.cost, null);
  assert.deepEqual(readUsed(reply(null, {}, [])), { model: null, tokens: 0, cost: null, working: false });
  for (const [state, working] of [
    ["running", true],
    ["queued", true],
    ["waiting", false],
    ["done", false],
  ] as const)
    assert.equal(readUsed({ ...reply(null, total, []), turns: [{ state }] })?.working, working, state);
  assert.equal(readUsed({ session: {} }), null);
});

test("the answer to an upload", () => {
  const file = { name: "a", mime: "b/c", blob: "d", bytes: 1 };
  assert.deepEqual(outcome(200, JSON.stringify({ file })), { type: "stored", file });
  assert.deepEqual(outcome(401, ""), { type: "denied" });
  assert.deepEqual(outcome(413, JSON.stringify({ error: { code: "too-large", message: "It is too large." } })), {
    type: "failed",
    why: "It is too large.",
  });
  assert.deepEqual(outcome(502, "<html>"), { type: "failed", why: "The gateway refused it (HTTP 502)." });
});
