// What of a transcript is the answer to a message, and how it is shown.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Instant, SessionId, TurnId } from "../../core/ids.ts";
import type { Message } from "../../core/message.ts";
import { type Turn, type TurnState, newTurn } from "../../core/turn.ts";
import type { EntryLine } from "../../ports/store.ts";
import { addressOf, toInbound } from "./inbound.ts";
import { found, shown, toLine, usageOf } from "./outbound.ts";

const at = (n: number) => n as Instant;
const own = "t1" as TurnId;

function turnIn(now: TurnState): Turn {
  const input = toInbound("app", "id", addressOf("app", "s"), { text: "hi", files: [], print: "p" }, at(1));
  return { ...newTurn(own, "s1" as SessionId, input, at(1)), now };
}

function line(n: number, text: string, more: Partial<Message> = {}): Message {
  return { n, key: `k${n}`, session: "s1" as SessionId, turn: own, role: "assistant", text, at: at(n), ...more };
}

const other = { turn: "t2" as TurnId };
const question = { id: "q1", choices: ["Tea", "Coffee"] };
const done = (outcome: "replied" | "silent" | "cancelled" | "failed" | "joined", why?: string): TurnState => ({
  state: "done",
  outcome,
  doneAt: at(9),
  ...(why === undefined ? {} : { why }),
});

describe("the answer to a message", () => {
  const cases: readonly (readonly [
    what: string,
    now: TurnState,
    after: readonly Message[],
    isDone: boolean,
    text: string,
  ])[] = [
    ["waits its turn", { state: "queued" }, [line(2, "another's", other)], false, ""],
    ["is being made", { state: "running", boot: "b1" as never, startedAt: at(1) }, [], false, ""],
    ["is there", done("replied"), [line(2, "Yes.")], true, "Yes."],
    [
      "is in several lines",
      done("replied"),
      [line(2, "One."), line(3, "x", other), line(4, "Two.")],
      true,
      "One.\n\nTwo.",
    ],
    [
      "has notices beside it",
      done("replied"),
      [line(2, "I restart.", { role: "notice" }), line(3, "Yes.")],
      true,
      "Yes.",
    ],
    [
      "is a question",
      { state: "waiting", question: "q1", until: at(99) },
      [line(2, "Which?", { question })],
      true,
      "Which?\n\n1. Tea\n2. Coffee\n\nAnswer with a number or in your own words.",
    ],
    [
      "is still that question when it was answered later",
      done("replied"),
      [line(2, "Which?", { question }), line(3, "tea", { role: "user" }), line(4, "Here.")],
      true,
      "Which?\n\n1. Tea\n2. Coffee\n\nAnswer with a number or in your own words.",
    ],
    ["is silence", done("silent"), [], true, ""],
    ["was stopped", done("cancelled", "a newer message took its place"), [], true, ""],
    [
      "was stopped after it had said something",
      done("cancelled", "a newer message took its place"),
      [line(2, "One moment.")],
      true,
      "One moment.\n\n(This was stopped: a newer message took its place.)",
    ],
    [
      "was given by the turn that took it in",
      done("joined"),
      [line(2, "Both.", other), line(3, "Later.", other)],
      true,
      "Both.",
    ],
    ["will be given by the turn that took it in", done("joined"), [], false, ""],
  ];
  for (const [what, now, after, isDone, text] of cases) {
    test(what, () => {
      const seen = found(turnIn(now), after);
      assert.deepEqual([seen.isDone, seen.text], [isDone, text]);
      assert.equal(seen.isRunning, now.state === "running");
    });
  }
});

test("leave is asked for in words, files are where they can be had", () => {
  const asked = shown({ text: "May I?", question: { id: "q", choices: ["approve", "deny"], kind: "approval" } });
  assert.equal(asked, "May I?\n\nAnswer with one of these words: approve, deny.");
  const files = [{ name: "a [b].txt", mime: "text/plain", blob: "abc", bytes: 1 }];
  assert.equal(shown({ text: "", files }), "[a _b_.txt](/v1/files/abc/content?name=a%20%5Bb%5D.txt) (text/plain)");
  assert.deepEqual(toLine(line(3, "Yes.")), { n: 3, id: "k3", role: "assistant", content: "Yes.", created: 0 });
});

test("what was used between two moments is added up; nothing is made up", () => {
  const said = (n: number, input: number): EntryLine => ({
    n,
    at: at(n),
    entry: {
      type: "said",
      text: "",
      calls: [],
      final: false,
      usage: { model: "m", input, cached: 1, output: 2, cost: null },
    },
  });
  const entries = [said(1, 10), said(5, 20), said(6, 30), said(9, 40)];
  assert.deepEqual(usageOf(entries, 5, 6), {
    prompt_tokens: 50,
    completion_tokens: 4,
    total_tokens: 54,
    prompt_tokens_details: { cached_tokens: 2 },
  });
  assert.equal(usageOf(entries, 2, 4), null);
  assert.equal(usageOf([], 0, null), null);
});
