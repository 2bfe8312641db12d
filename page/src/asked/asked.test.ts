import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fetched } from "../net/client.ts";
import type { Fate, Message } from "../net/wire.ts";
import { cardText, choiceStanding, fates, standingOf } from "./fates.ts";
import { givenWords, pressedWords, saidTo } from "./given.ts";
import { usage, usedWords } from "./used.ts";

function asking(n: number, id: string, approval = true): Message {
  return {
    n,
    key: `k${n}`,
    role: "assistant",
    text: "May I?",
    at: n,
    question: { id, choices: ["approve"], approval },
  };
}

test("approvals are asked about until they are settled, each once", async () => {
  const asked: string[] = [];
  const answers: Record<string, Fetched<Fate>> = {
    q1: { type: "got", value: { type: "answered", choice: "approve" } },
    q2: { type: "got", value: { type: "open" } },
    q3: { type: "later" },
    plain: { type: "got", value: { type: "answered", choice: "in my own words" } },
  };
  const known = fates({
    fate: async (question) => {
      asked.push(question);
      return answers[question] ?? assert.fail(question);
    },
  });
  const messages = [asking(1, "q1"), asking(2, "q2"), asking(3, "q3"), asking(4, "plain", false)];
  await Promise.all([known.look(messages), known.look(messages)]);
  assert.deepEqual(asked, ["q1", "q2", "q3", "plain"], "two looks at once are one");
  await known.look(messages);
  assert.deepEqual(asked.slice(4), ["q2", "q3"]);
  assert.deepEqual(known.known.value.get("q1"), { type: "answered", choice: "approve" });
  assert.equal(known.known.value.has("q3"), false);
});

const standings: readonly (readonly [Fate | undefined, string | undefined, string])[] = [
  [undefined, undefined, "open"],
  [{ type: "open" }, undefined, "open"],
  [{ type: "open" }, "deny", "deny: Sending your answer…"],
  [{ type: "answered", choice: "approve" }, undefined, "approve: Approved, this once."],
  [{ type: "answered", choice: "always" }, "always", "always: Allowed, from now on too."],
  [{ type: "answered", choice: "deny" }, "approve", "deny: Denied."],
  [{ type: "answered", choice: "deny: not today" }, undefined, "deny: Denied. not today"],
  [{ type: "expired" }, undefined, "null: Nobody answered in time, so it was not done."],
  [{ type: "withdrawn", why: "it was stopped" }, undefined, "null: No longer asked: it was stopped"],
  [{ type: "withdrawn", why: "" }, undefined, "null: No longer asked."],
];
for (const [fate, given, words] of standings) {
  test(`${JSON.stringify(fate)} ${given ?? ""} is ${words}`, () => {
    const standing = standingOf(fate, given);
    assert.equal(standing.open ? "open" : `${standing.chosen}: ${standing.words}`, words);
  });
}

test("a card does without the line about commands, and loses nothing else", () => {
  const text = 'May I?\n\n```\nrm x\n\nAnswer /approve or /deny\n```\n\n"always" also allows: `rm x`';
  // Questions from before are still in the transcript.
  for (const end of [".", ", or press a button."])
    assert.equal(cardText(`${text}\n\nAnswer /approve or /deny${end}`), text);
  assert.equal(cardText(text), text);
});

test("what was used, in a few words", () => {
  for (const [used, words] of [
    [{ model: "a/x", tokens: 950, cost: 0 }, "a/x · 950 tokens so far · $0.00"],
    [{ model: "a/x", tokens: 12_345, cost: 1_234 }, "a/x · 12k tokens so far · $0.0012"],
    [{ model: "a/x", tokens: 2_500_000, cost: 3_210_000 }, "a/x · 2.5M tokens so far · $3.21"],
    [{ model: "a/x", tokens: 5, cost: null }, "a/x · 5 tokens so far"],
    [{ model: "a/x", tokens: 0, cost: null }, "a/x"],
    [{ model: null, tokens: 0, cost: null }, ""],
  ] as const)
    assert.equal(usedWords(used), words);
});

test("what was used belongs to the session that is shown, also when an answer is late", async () => {
  const waiting = new Map<string, (model: string) => void>();
  const shown = usage({
    used: (session) =>
      new Promise((resolve) => {
        const value = (model: string) => ({ model, tokens: 0, cost: null, working: true });
        waiting.set(session, (model) => resolve({ type: "got", value: value(model) }));
      }),
  });
  const message = (session: string): Message => ({ n: 1, key: "k", role: "user", text: "", at: 1, session });
  const first = shown.look([message("s1")]);
  const second = shown.look([message("s2")]);
  waiting.get("s2")?.("two");
  await second;
  waiting.get("s1")?.("one");
  await first;
  assert.equal(shown.words.value, "two");
  assert.equal(shown.workingAfter.value, 1);
  const next = shown.look([message("s2"), { ...message("s2"), n: 2 }]);
  waiting.get("s2")?.("two");
  await next;
  assert.equal(shown.workingAfter.value, 2);
  await shown.look([]);
  assert.equal(shown.words.value, "");
});

test("a question with choices tells that it was answered also when that was none of them", () => {
  const choices = ["red", "blue"];
  for (const [fate, given, newest, standing] of [
    [undefined, undefined, true, [true, null, ""]],
    [undefined, undefined, false, [false, null, ""]],
    [{ type: "open" }, "red", true, [false, "red", ""]],
    [undefined, "some green", false, [false, null, "Answered"]],
    [{ type: "answered", choice: "blue" }, undefined, false, [false, "blue", ""]],
    [{ type: "answered", choice: "some green" }, undefined, true, [false, null, "Answered"]],
    [{ type: "expired" }, undefined, true, [false, null, "Nobody answered in time."]],
    [{ type: "withdrawn", why: "stopped" }, undefined, false, [false, null, "No longer asked: stopped"]],
  ] satisfies readonly (readonly [Fate | undefined, string | undefined, boolean, readonly unknown[]])[]) {
    const { open, chosen, words } = choiceStanding(choices, fate, given, newest);
    assert.deepEqual([open, chosen, words], standing, JSON.stringify(fate));
  }
});

test("answers that were pressed are told as such, and what was typed otherwise stays what it is", () => {
  const asked: Message = {
    ...asking(1, "q1"),
    turn: "t1",
    question: { id: "q1", choices: ["approve", "deny"], approval: true },
  };
  const plain: Message = { ...asking(2, "q2", false), turn: "t2" };
  for (const [text, turn, words] of [
    ["approve", "t1", "Approved"],
    ["deny", "t1", "Denied"],
    ["deny: not today", "t1", "Denied: not today"],
    ["always", "t1", null],
    ["approve: all", "t1", null],
    ["approve", "t3", null],
    ["approve", "t2", null],
    ["/approve", "t1", null],
    ["constructor", "t1", null],
  ] as const) {
    const message: Message = { n: 3, key: "k", role: "user", text, at: 3, turn };
    assert.equal(givenWords(message, [asked, plain, message]), words, `${text} ${turn}`);
  }
  assert.equal(pressedWords("q1", "approve", [asked, plain]), "Approved");
  assert.equal(pressedWords("q2", "approve", [asked, plain]), null);
  const later = (n: number, text: string, turn: string): Message => ({
    n,
    key: `k${n}`,
    role: "user",
    text,
    at: n,
    turn,
  });
  const talk = [asked, plain, later(3, "/status", "t2"), later(4, "elsewhere", "t3"), later(5, "green", "t2")];
  assert.equal(saidTo(plain, talk), "green");
  assert.equal(saidTo(asked, talk), undefined);
});
