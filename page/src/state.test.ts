import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "./net/wire.ts";
import { cursorOf, emptyFeed, type Feed, type FeedEvent, fold, isWorking, openQuestion, windowSize } from "./state.ts";

function message(n: number, role: Message["role"] = "assistant", text = `text ${n}`): Message {
  return { n, key: `k${n}`, role, text, at: n };
}

function asking(n: number, id: string): Message {
  return { ...message(n), question: { id, choices: ["yes", "no"], approval: false } };
}

const said = (n: number, role?: Message["role"]): FeedEvent => ({ type: "message", message: message(n, role) });
const after = (...events: readonly FeedEvent[]): Feed => events.reduce(fold, emptyFeed);
const numbers = (feed: Feed) => feed.messages.map((one) => one.n);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test("messages stand in order, each once, however they arrive", () => {
  for (const [arrived, stand] of [
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
    [
      [1, 1, 2, 1],
      [1, 2],
    ],
    [
      [3, 1, 2],
      [1, 2, 3],
    ],
    [
      [5, 7, 6, 6, 5],
      [5, 6, 7],
    ],
    [[], []],
  ] as const) {
    assert.deepEqual(numbers(after(...arrived.map((n) => said(n)))), stand, arrived.join());
  }
});

test("the cursor is the newest message", () => {
  assert.equal(cursorOf(emptyFeed), null);
  assert.equal(cursorOf(after(said(4), said(9))), 9);
});

test("a growing answer is replaced, kept over a gap as stale, and ended by the answer", () => {
  const draft = (text: string | null): FeedEvent => ({ type: "draft", text });
  for (const [name, events, expected] of [
    ["replaced", [draft("1"), draft("1, 2")], { text: "1, 2", stale: false }],
    ["taken away", [draft("1"), draft(null)], null],
    ["stale when lost", [draft("1"), { type: "lost" }], { text: "1", stale: true }],
    [
      "still there after a restart",
      [draft("1"), { type: "lost" }, { type: "hello", boot: "b" }, { type: "live" }],
      { text: "1", stale: true },
    ],
    ["still there when the turn is taken up", [draft("1"), { type: "lost" }, draft("")], { text: "1", stale: true }],
    ["gone when the turn ended", [draft("1"), { type: "lost" }, draft(""), draft(null)], null],
    ["fresh again", [draft("1"), { type: "lost" }, draft("1, 2")], { text: "1, 2", stale: false }],
    ["ended by the answer", [draft("1"), said(1)], null],
    ["ended by a notice", [draft("1"), said(1, "notice")], null],
    ["not by the user", [draft("1"), said(1, "user")], { text: "1", stale: false }],
    ["not by a repeat", [said(1), draft("1"), said(1)], { text: "1", stale: false }],
    ["nothing to lose", [{ type: "lost" }], null],
  ] satisfies readonly (readonly [string, readonly FeedEvent[], Feed["draft"]])[]) {
    assert.deepEqual(after(...events).draft, expected, name);
  }
});

test("a restart leaves its mark behind the last message, once", () => {
  const hello = (boot: string | null): FeedEvent => ({ type: "hello", boot });
  assert.deepEqual(after(hello("a"), said(1)).restarts, []);
  assert.deepEqual(after(hello("a"), said(1), { type: "lost" }, hello("a")).restarts, []);
  assert.deepEqual(after(hello("a"), said(1), hello("b"), hello("c"), said(2), hello("d")).restarts, [1, 2]);
  assert.deepEqual(after(hello("a"), said(1), hello(null), hello("a")).restarts, []);
});

test("it is known whether there is anything earlier", () => {
  const window = (from: number, to: number): FeedEvent[] => range(from, to).map((n) => said(n));
  const full = after(...window(101, 100 + windowSize), { type: "live" });
  assert.equal(full.complete, false);
  assert.equal(after(...window(1, 3), { type: "live" }).complete, true);
  assert.equal(after({ type: "live" }).complete, true);
  const page = range(51, 100).map((n) => message(n));
  const more = fold(full, { type: "earlier", messages: page });
  assert.equal(more.complete, false);
  assert.deepEqual(numbers(more), range(51, 150));
  const all = fold(more, { type: "earlier", messages: [message(50), message(51)] });
  assert.equal(all.complete, true);
  assert.deepEqual(numbers(all), range(50, 150));
});

test("a long conversation is trimmed at its beginning, which can be loaded again", () => {
  const long = after(...range(1, 501).map((n) => said(n)), { type: "live" }, { type: "trim" });
  assert.deepEqual(numbers(long), range(202, 501));
  assert.equal(long.complete, false);
  const short = after(said(1), { type: "live" });
  assert.equal(fold(short, { type: "trim" }), short);
});

test("a question is open until the user has said something; commands do not count", () => {
  for (const [messages, open] of [
    [[], null],
    [[message(1, "user")], null],
    [[asking(1, "q")], "q"],
    [[asking(1, "q"), message(2, "notice")], "q"],
    [[asking(1, "q"), message(2, "user", "/status"), message(3)], "q"],
    [[asking(1, "q"), message(2, "user")], null],
    [[asking(1, "q"), message(2, "user"), asking(3, "r")], "r"],
  ] as const) {
    assert.equal(openQuestion(messages), open);
  }
});

test("work is shown from the user's word to the answer", () => {
  assert.equal(isWorking(emptyFeed), false);
  assert.equal(isWorking(after(said(1, "user"))), true);
  assert.equal(isWorking(after(said(1, "user"), said(2))), false);
  assert.equal(isWorking(after(said(2), { type: "draft", text: "" })), true);
});
