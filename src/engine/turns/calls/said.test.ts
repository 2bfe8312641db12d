// What counts as said by the user, and which earlier calls were allowed.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../../../core/journal.ts";
import type { Message } from "../../../core/message.ts";
import { aSession, aTurn, anInbound, at, sessionId, turnId } from "../../../testing/samples.ts";
import { earlierTalk } from "./said.ts";

const message = (text: string, more: Partial<Message> = {}): Message => ({
  key: text,
  session: sessionId("s1"),
  turn: null,
  role: "user",
  text,
  at: at(0),
  n: 1,
  ...more,
});
const said = (...urls: readonly string[]): Entry => ({
  type: "said",
  text: "",
  final: false,
  calls: urls.map((url, i) => ({ call: `c${i}`, tool: "fetch_url", input: { url } })),
});
const ended = (call: string, output: string): Entry => ({ type: "tool-ended", call, result: { type: "ok", output } });
const asked: Entry = {
  type: "call-asked",
  question: "q",
  call: "c0",
  kind: "approval",
  text: "",
  choices: [],
  bound: "",
  subject: null,
};

test("own words are those of users without anything from others; calls know whether they were approved", async () => {
  const earlier = turnId("t0");
  const journal: readonly Entry[] = [
    said("https://a.example/"),
    asked,
    { type: "answered", question: "q", choice: "approve" },
    ended("c0", "A"),
    // The same id in the next step is another call.
    said("https://b.example/", "https://c.example/"),
    ended("c0", "B"),
    { type: "tool-ended", call: "c1", result: { type: "failed", why: "gone" } },
    { type: "joined", message: anInbound("joined words") },
    { type: "joined", message: anInbound("strange words", { outside: true }) },
  ];
  const before: readonly Entry[] = [
    said("https://d.example/"),
    asked,
    { type: "answered", question: "q", choice: "deny" },
  ];
  const archive = {
    history: async () => [
      message("first"),
      message("theirs", { outside: true }),
      message("quoted", { carries: true }),
      message("ours", { role: "assistant" }),
    ],
    turns: async () => [aTurn("t0"), aTurn("t1")],
  };
  const store = { journalOf: async (id: string) => (id === earlier ? before : assert.fail("only of other turns")) };
  const running = { session: aSession(), turn: aTurn("t1", { input: anInbound("now") }) };
  const talk = await earlierTalk({ archive, store } as never, running, "fetch_url", journal);
  assert.deepEqual(talk.own, ["first", "now", "joined words"]);
  assert.deepEqual(talk.calls, [
    { input: { url: "https://a.example/" }, output: "A", isApproved: true },
    { input: { url: "https://b.example/" }, output: "B", isApproved: false },
  ]);
  const none = await earlierTalk({ archive, store } as never, running, "terminal", journal);
  assert.deepEqual(none.calls, []);
});
