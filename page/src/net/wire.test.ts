import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { readEvent } from "./stream.ts";
import { readListing, readMessage, readMessages } from "./wire.ts";

// What the page tells the console is no news in a test.
beforeEach(() => void mock.method(console, "warn", () => undefined));

const good = { n: 1, key: "k", role: "user", text: "t", at: 5 };

test("a message is read whole or not at all", () => {
  assert.deepEqual(readMessage({ ...good, session: "s", turn: null }), good);
  const question = { id: "q", choices: ["a", 5, "b"] };
  assert.deepEqual(readMessage({ ...good, question })?.question, { id: "q", choices: ["a", "b"] });
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
    ["hello", '{"boot":"b","version":"1"}', { type: "hello", boot: "b" }],
    ["hello", "{}", { type: "hello", boot: null }],
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
