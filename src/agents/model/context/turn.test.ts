import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Entry, Said, ToolResult } from "../../../core/journal.ts";
import { anInbound } from "../../../testing/samples.ts";
import { dice } from "../../../testing/dice.ts";
import { type Message, type Scene, inboundMessage, joinedUp, journalPieces } from "./turn.ts";

function scene(more: Partial<Scene> = {}): Scene {
  return {
    model: "openai/x",
    resultMax: 1_000,
    keptAt: () => null,
    files: () => [],
    hears: false,
    ids: new Set(),
    ...more,
  };
}
const said = (text: string, calls: readonly string[] = [], more: Partial<Said> = {}): Entry => ({
  type: "said",
  text,
  calls: calls.map((call) => ({ call, tool: "look", input: { call } })),
  final: false,
  ...more,
});
const ok = (output: unknown = "fine"): ToolResult => ({ type: "ok", output });
const ended = (call: string, result: ToolResult = ok()): Entry => ({ type: "tool-ended", call, result });
const joined = (text: string): Entry => ({ type: "joined", message: anInbound(text) });

/** A request in short: who speaks, with what. */
function brief(messages: readonly Message[]): readonly string[] {
  return messages.map((message) => {
    if (message.role === "system") return "system";
    const parts = message.content.map((part) => {
      if (part.type === "text" || part.type === "reasoning") return part.text.replace(/^\[[^\]]* UTC\] /, "");
      if (part.type === "tool-call") return `call ${part.toolCallId}`;
      if (part.type === "tool-result") {
        return `${part.toolCallId}: ${part.output.type.endsWith("text") && "value" in part.output ? (part.output.value as string) : ""}`;
      }
      return part.type;
    });
    return `${message.role}: ${parts.join(" | ")}`;
  });
}

function rendered(journal: readonly Entry[], from = 0, note: string | null = null, more: Partial<Scene> = {}) {
  const at = scene(more);
  const pieces = journalPieces(journal, from, note, at);
  return brief(joinedUp([inboundMessage(anInbound("hi"), [], at), ...pieces.flatMap(({ messages }) => messages)]));
}

const notDone = "This failed: it was broken off before anything came of it; it may be done again if it is still wanted";
const notAllowed = "This is not done yet: it still waits for the user's approval; do not ask for it again.";
const notAnswered = "There is no answer yet: this still waits for the user's answer; do not ask it again.";
const comesAfter =
  "This is not done yet: it is done once the user has answered what is asked before it; do not ask for it again.";
const decided =
  "The user has answered what was asked about this, and nothing has come of it so far; do not do it again unless the user wants it.";
const unknown =
  "Nobody knows what became of this: it was broken off while it ran. Find out what has happened before you do it again.";
const asking = (question: string, kind: "approval" | "question" = "approval"): Entry => ({
  type: "call-asked",
  question,
  call: "a",
  kind,
  text: "May I?",
  choices: [],
  bound: "x",
  subject: null,
});
const begun: Entry = { type: "tool-begun", call: "a", effect: "once" };
const approved: Entry = { type: "answered", question: "q", choice: "approve" };

describe("a call without a result, as far as anybody knows what became of it", () => {
  for (const [name, since, gives] of [
    ["nothing was on record yet", [], notDone],
    ["it was begun", [begun], unknown],
    ["another one was begun", [{ ...begun, call: "b" }], notDone],
    ["it waits to be allowed", [asking("q")], notAllowed],
    ["it was allowed, and not begun yet", [asking("q"), approved], decided],
    ["it was allowed and begun", [asking("q"), approved, begun], unknown],
    ["it was asked about again before anything happened", [asking("q"), approved, begun, asking("q2")], notAllowed],
    ["another question was answered", [asking("q2"), approved], notAllowed],
    ["the user was asked for words", [asking("q", "question")], notAnswered],
    ["what is asked before it waits", [{ ...asking("q"), call: "b" } as Entry], comesAfter],
    ["what was asked before it was answered", [{ ...asking("q"), call: "b" } as Entry, approved], notDone],
    ["what was asked before it was withdrawn", [{ ...asking("q"), call: "b" } as Entry, ended("b")], notDone],
    ["it was withdrawn", [asking("q"), ended("a", { type: "failed", why: "no more" })], "This failed: no more"],
  ] as const satisfies readonly (readonly [string, readonly Entry[], string])[]) {
    test(name, () => assert.deepEqual(rendered([said("", ["a"]), ...since]).at(-1), `tool: a: ${gives}`));
  }

  test("what another step began under the same id does not count", () => {
    const journal = [said("", ["a"]), begun, ended("a"), said("", ["a"])];
    assert.equal(rendered(journal).at(-1), `tool: a_2: ${notDone}`);
  });
});

describe("a journal as a request", () => {
  for (const [name, journal, gives, from = 0, note = null] of [
    ["nothing yet", [], ["user: hi"]],
    [
      "a call and its result",
      [said("", ["a"]), { type: "tool-begun", call: "a", effect: "once" }, ended("a")],
      ["user: hi", "assistant: call a", "tool: a: fine"],
    ],
    [
      "results come in the order of the calls, whatever their own was",
      [said("two", ["a", "b"]), ended("b", ok("2")), ended("a", ok("1"))],
      ["user: hi", "assistant: two | call a | call b", "tool: a: 1 | b: 2"],
    ],
    ["a call without a result gets one", [said("", ["a"])], ["user: hi", "assistant: call a", `tool: a: ${notDone}`]],
    [
      "one of two has a result",
      [said("", ["a", "b"]), ended("a"), said("well")],
      ["user: hi", "assistant: call a | call b", `tool: a: fine | b: ${notDone}`, "assistant: well", "user: Go on."],
    ],
    [
      "a result without a call is dropped",
      [ended("x"), said("", ["a"]), ended("y"), ended("a")],
      ["user: hi", "assistant: call a", "tool: a: fine"],
    ],
    [
      "a second result is dropped",
      [said("", ["a"]), ended("a", ok("1")), ended("a", ok("2"))],
      ["user: hi", "assistant: call a", "tool: a: 1"],
    ],
    [
      "the same id in every step",
      [said("", ["a"]), ended("a", ok("1")), said("", ["a"]), ended("a", ok("2"))],
      ["user: hi", "assistant: call a", "tool: a: 1", "assistant: call a_2", "tool: a_2: 2"],
    ],
    [
      "what joins comes behind the results",
      [said("", ["a"]), joined("hurry"), ended("a")],
      ["user: hi", "assistant: call a", "tool: a: fine", "user: hurry"],
    ],
    ["what joins before the first step", [joined("and"), joined("so on")], ["user: hi | and | so on"]],
    [
      "steps that say nothing are left out",
      [said(""), said("  "), said("", ["a"]), ended("a")],
      ["user: hi", "assistant: call a", "tool: a: fine"],
    ],
    [
      "steps one behind the other are one",
      [said("one"), said("two", ["a"]), ended("a")],
      ["user: hi", "assistant: one | two | call a", "tool: a: fine"],
    ],
    [
      "a question and its answer",
      [
        { type: "asked", question: "q", text: "Tea?", choices: ["yes", "no"] },
        { type: "answered", question: "q", choice: "yes" },
      ],
      ["user: hi", "assistant: Tea?\n(yes / no)", "user: yes"],
    ],
    [
      "a question that nobody answered",
      [
        { type: "asked", question: "q", text: "Tea?", choices: [] },
        { type: "answered", question: "q", choice: null },
      ],
      ["user: hi", "assistant: Tea?", "user: (no answer came in time)"],
    ],
    [
      "an approval leaves its mark in the result alone",
      [
        said("", ["a"]),
        {
          type: "call-asked",
          question: "q",
          call: "a",
          kind: "approval",
          text: "May I?",
          choices: [],
          bound: "x",
          subject: null,
        },
        { type: "answered", question: "q", choice: "deny" },
        ended("a", { type: "failed", why: "it was denied" }),
      ],
      ["user: hi", "assistant: call a", "tool: a: This failed: it was denied"],
    ],
    [
      "the note stands where the interruption was",
      [said("", ["a"]), ended("a"), { type: "resumed", attempt: 2, reason: "crash" }, joined("hello?")],
      ["user: hi", "assistant: call a", "tool: a: fine", "user: [note] | hello?"],
      0,
      "[note]",
    ],
    [
      "the note comes last where the interruption is in a summary",
      [said("", ["a"]), ended("a"), { type: "resumed", attempt: 2, reason: "crash" }, said("", ["b"]), ended("b")],
      ["user: hi", "assistant: call b", "tool: b: fine", "user: [note]"],
      3,
      "[note]",
    ],
    [
      "from the middle on",
      [said("", ["a"]), ended("a"), said("", ["b"]), ended("b")],
      ["user: hi", "assistant: call b", "tool: b: fine"],
      2,
    ],
    [
      "from within a step: its rest is orphaned and goes",
      [said("", ["a"]), ended("a"), said("", ["b"]), ended("b")],
      ["user: hi", "assistant: call b", "tool: b: fine"],
      1,
    ],
    [
      "a compaction is no message",
      [said("", ["a"]), ended("a"), { type: "compacted", summary: "s", entries: 0, upTo: 0 }],
      ["user: hi", "assistant: call a", "tool: a: fine"],
    ],
    [
      "an odd id is made one that everybody takes",
      [said("", ["functions.look:0 ü"]), ended("functions.look:0 ü")],
      ["user: hi", "assistant: call call_functionslook0", "tool: call_functionslook0: fine"],
    ],
  ] as readonly (readonly [string, readonly Entry[], readonly string[], number?, (string | null)?])[]) {
    test(name, () => assert.deepEqual(rendered(journal, from, note), gives));
  }

  test("thoughts go back to the model that had them, with their signature, and to no other", () => {
    const data = {
      model: "anthropic/c",
      finish: "tool-calls",
      estimated: 1,
      parts: [
        { type: "reasoning", text: "hm", meta: { anthropic: { signature: "S" } } },
        { type: "text" },
        { type: "call", call: "a", meta: { google: { thoughtSignature: "T" } } },
      ],
    };
    const journal = [said("so", ["a"], { data }), ended("a")];
    const own = journalPieces(journal, 0, null, scene({ model: "anthropic/c" }))[0]?.messages[0];
    assert.deepEqual(own?.content, [
      { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "S" } } },
      { type: "text", text: "so" },
      {
        type: "tool-call",
        toolCallId: "a",
        toolName: "look",
        input: { call: "a" },
        providerOptions: { google: { thoughtSignature: "T" } },
      },
    ]);
    const other = journalPieces(journal, 0, null, scene({ model: "openai/x" }))[0]?.messages[0];
    assert.deepEqual(other?.content, [
      { type: "text", text: "so" },
      { type: "tool-call", toolCallId: "a", toolName: "look", input: { call: "a" } },
    ]);
  });

  for (const data of [
    null,
    7,
    "x",
    {},
    { model: "openai/x" },
    { model: "openai/x", parts: [null, 3, { type: "reasoning" }] },
  ]) {
    test(`data of another kind is left alone: ${JSON.stringify(data)}`, () => {
      assert.deepEqual(rendered([said("so", ["a"], { data }), ended("a")]), [
        "user: hi",
        "assistant: so | call a",
        "tool: a: fine",
      ]);
    });
  }

  test("an empty message and one of files alone say so", () => {
    assert.match(brief([inboundMessage(anInbound(" "), [], scene())])[0] ?? "", /an empty message/);
  });
});

/** What every provider demands, whatever the journal was. */
function faultsOf(messages: readonly Message[]): readonly string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  let open: string[] = [];
  for (const [n, message] of messages.entries()) {
    if (message.role === "system") continue;
    if (message.content.length === 0) faults.push(`${n} is empty`);
    if (messages[n - 1]?.role === message.role) faults.push(`${n} repeats its role`);
    if (message.role === "tool") {
      const results = message.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []));
      if (results.join() !== open.join()) faults.push(`${n}: ${results.join()} for ${open.join()}`);
      open = [];
      continue;
    }
    if (open.length > 0) faults.push(`${n}: open ${open.join()}`);
    for (const part of message.content) {
      if (part.type === "text" && part.text.trim() === "") faults.push(`${n}: blank text`);
      if (part.type !== "tool-call") continue;
      if (ids.has(part.toolCallId)) faults.push(`${n}: ${part.toolCallId} twice`);
      ids.add(part.toolCallId);
      open.push(part.toolCallId);
    }
  }
  if (open.length > 0) faults.push("open at the end");
  if (messages[0]?.role !== "user") faults.push("does not begin with the user");
  if (messages.at(-1)?.role === "assistant") faults.push("ends with the model");
  return faults;
}

test("whatever a journal looks like, the request is one that providers take", () => {
  for (let seed = 1; seed <= 2_000; seed++) {
    const { throw: roll } = dice(seed);
    const journal = Array.from({ length: roll(14) }, (): Entry => {
      const some = ["a", "b", "c", "ü?", ""].filter(() => roll(3) === 0);
      switch (roll(8)) {
        case 0:
        case 1:
          return said(roll(2) === 0 ? "" : "words", some, { final: roll(4) === 0 });
        case 2:
        case 3:
          return ended(["a", "b", "c", "ü?", ""][roll(5)] ?? "a", roll(2) === 0 ? ok() : { type: "failed", why: "x" });
        case 4:
          return joined(roll(2) === 0 ? "" : "more");
        case 5:
          return { type: "resumed", attempt: 2, reason: "crash" };
        case 6:
          return { type: "asked", question: "q", text: roll(2) === 0 ? "" : "Tea?", choices: [] };
        default:
          return { type: "answered", question: "q", choice: roll(2) === 0 ? null : "" };
      }
    });
    const at = scene();
    const pieces = journalPieces(journal, roll(journal.length + 1), roll(2) === 0 ? null : "[note]", at);
    const messages = joinedUp([inboundMessage(anInbound("hi"), [], at), ...pieces.flatMap((piece) => piece.messages)]);
    assert.deepEqual(faultsOf(messages), [], `seed ${seed}: ${JSON.stringify(journal)}`);
  }
});
