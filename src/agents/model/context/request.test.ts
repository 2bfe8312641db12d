import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Entry } from "../../../core/journal.ts";
import type { Message as Line } from "../../../core/message.ts";
import { noteFor } from "../../../core/resume.ts";
import type { AgentJob } from "../../../ports/agent.ts";
import type { Tool } from "../../../ports/tool.ts";
import { aMessage, anAddress, anInbound, at, sessionId, turnId } from "../../../testing/samples.ts";
import { abilitiesOf } from "../providers/abilities.ts";
import { gather } from "./gather.ts";
import { hidePrompt } from "./hide.ts";
import { layOut, promptOf } from "./request.ts";

const now = at(0);
const tool = (name: string): Tool => ({
  name,
  description: "Does it.",
  effect: "pure",
  input: { type: "object" },
  run: async () => ({ type: "ok", output: "" }),
});

function job(journal: readonly Entry[], more: Partial<AgentJob> = {}): AgentJob {
  return {
    session: sessionId("s1"),
    address: anAddress("c1"),
    turn: turnId("now"),
    attempt: 1,
    input: anInbound("the question", { key: "own" }),
    journal,
    note: noteFor(journal),
    history: async () => [],
    journalOf: async () => [],
    summary: async () => null,
    memories: async () => [],
    model: null,
    now: () => now,
    pause: async () => undefined,
    draft: () => undefined,
    ...more,
  };
}

type Settings = { readonly contextTokens?: number; readonly instructions?: string; readonly model?: string };
async function laidOut(given: AgentJob, tools: readonly Tool[] = [], set: Settings = {}) {
  const model = set.model ?? "openai/gpt-5";
  const options = { model, instructions: "", facts: { workspace: "/ws", system: "Linux" }, blobs: null, ...set };
  const kept: string[] = [];
  const keep = async (text: string): Promise<string> => `kept/${kept.push(text)}`;
  const gathered = await gather(given, abilitiesOf(model, options), keep, null);
  const layout = layOut(given, gathered, model, options, tools);
  const prompt = promptOf(layout, [], model);
  const texts = prompt.map((message) =>
    message.role === "system"
      ? message.content
      : message.content
          .map((part) => {
            if (part.type === "text") return part.text.replace(/^\[[^\]]* UTC\] /, "");
            if (part.type !== "tool-result") return part.type;
            return "value" in part.output && typeof part.output.value === "string" ? part.output.value : "";
          })
          .join(" | "),
  );
  return { gathered, layout, texts, system: texts[0] ?? "", messages: texts.slice(1), kept };
}

const done = (call: string, output: unknown, more: object = {}): readonly Entry[] => [
  { type: "said", text: "", calls: [{ call, tool: "look", input: {} }], final: false },
  { type: "tool-ended", call, result: { type: "ok", output, ...more } },
];
const line = (n: number, text: string, more: Partial<Line> = {}): Line => ({
  ...aMessage(`k${n}`),
  turn: turnId(`t${n}`),
  role: "user",
  text,
  n,
  ...more,
});

describe("a request", () => {
  test("the fixed words: ours, the owner's, where and when", async () => {
    const { system } = await laidOut(job([]), [], { instructions: "Speak like a sailor." });
    assert.match(system, /From your owner:\nSpeak like a sailor\./);
    assert.match(system, /Today is \w+day, \d{4}-\d\d-\d\d \(UTC\)\. You run on Linux.*the folder \/ws/s);
  });

  test("what was remembered, the newest, and no more than a little", async () => {
    const memories = Array.from({ length: 60 }, (_, n) => ({
      id: `m${n}`,
      scope: "owner",
      text: `${n} ${"y".repeat(300)}`,
      at: now,
    }));
    const { system } = await laidOut(job([], { memories: async () => memories }));
    assert.match(system, /- m59: 59 y/);
    assert.doesNotMatch(system, /- m0:/);
    assert.ok(system.length < 9_000, String(system.length));
    assert.ok(system.indexOf("m58:") < system.indexOf("m59:"));
  });

  test("after an interruption: the note once, and what joined since once", async () => {
    const journal: readonly Entry[] = [
      ...done("a", "fine"),
      { type: "resumed", attempt: 2, reason: "crash" },
      { type: "joined", message: anInbound("are you there?", { key: "j" }) },
    ];
    const { messages } = await laidOut(job(journal));
    assert.equal(messages.length, 4);
    assert.match(messages[3] ?? "", /^\[System note: .*gateway interruption.*\] \| are you there\?$/);
  });

  test("from a summary on: it leads, the message that is answered stays, and what it tells is left out", async () => {
    const journal: readonly Entry[] = [
      ...done("a", "told"),
      ...done("b", "kept"),
      { type: "compacted", summary: "All of it.", entries: 2, upTo: 1 },
    ];
    const history = async (): Promise<readonly Line[]> => [
      line(1, "told too"),
      line(2, "not yet told"),
      line(3, "the question", { key: "own", turn: turnId("now") }),
    ];
    const stored = { upTo: 0, text: "An older one." };
    const { messages } = await laidOut(job(journal, { history, summary: async () => stored }));
    assert.deepEqual(messages, [
      "(A summary of everything before, which you made because it had grown too long:)\nAll of it. | not yet told | the question",
      "tool-call",
      "kept",
    ]);
  });

  test("a summary of an earlier turn", async () => {
    const history = async (): Promise<readonly Line[]> => [line(1, "old"), line(2, "new")];
    const { messages } = await laidOut(job([], { history, summary: async () => ({ upTo: 1, text: "The old." }) }));
    assert.match(messages[0] ?? "", /The old\. \| new \| the question$/);
  });

  test("a transcript that is longer than what is read is full, until a summary reaches into it", async () => {
    const all = Array.from({ length: 300 }, (_, n) => line(n + 50, "x"));
    const history = async (limit: number): Promise<readonly Line[]> => all.slice(-limit);
    assert.equal((await laidOut(job([], { history }))).gathered.stays < 1, true);
    assert.equal(
      (await laidOut(job([], { history, summary: async () => ({ upTo: 60, text: "s" }) }))).gathered.stays < 1,
      false,
    );
    assert.equal((await laidOut(job([], { history: async () => all.slice(1) }))).gathered.stays < 1, false);
  });

  test("a long result is kept as a file, marked where strangers wrote it", async () => {
    const text = "z".repeat(40_000);
    const own = await laidOut(job(done("a", text)));
    assert.deepEqual(own.kept, [text]);
    assert.match(own.messages.at(-1) ?? "", /the file kept\/1,/);
    const strange = await laidOut(job(done("a", text, { outside: true })));
    assert.match(strange.kept[0] ?? "", /^<<<outside/);
    assert.match(strange.messages.at(-1) ?? "", /^<<<outside.*kept\/1,.*<<<\/outside \w+>>>$/s);
  });

  test("where the window is small, results are too", async () => {
    const { messages } = await laidOut(job(done("a", "z".repeat(15_000))), [], { contextTokens: 8_000 });
    assert.ok((messages.at(-1)?.length ?? 0) < 4_300, String(messages.at(-1)?.length));
  });

  test("its size is what the provider would count, as far as it has told", async () => {
    const said = (input: number): readonly Entry[] => [
      {
        type: "said",
        text: "x".repeat(7_000),
        calls: [],
        final: false,
        data: { model: "openai/gpt-5", finish: "stop", estimated: 1_000, parts: [] },
        usage: { model: "openai/gpt-5", input, cached: 0, output: 1, cost: null },
      },
    ];
    const sizes = await Promise.all(
      [1_000, 1_500, 9_000, 0].map(async (input) => (await laidOut(job(said(input)))).layout),
    );
    const [plain = 0, more = 0, nonsense = 0, unknown = 0] = sizes.map(({ tokens }) => tokens);
    assert.ok(plain > 2_000);
    assert.ok(Math.abs(more / plain - 1.5) < 0.01);
    assert.ok(Math.abs(nonsense / plain - 2) < 0.01);
    assert.equal(unknown, plain);
  });

  test("a tool that is there twice or has no proper name is shown once or not at all", async () => {
    const { layout } = await laidOut(job([]), [tool("look"), tool("look"), tool("not ok"), tool("other__tool-1")]);
    assert.deepEqual(
      layout.tools.map(({ name }) => name),
      ["look", "other__tool-1"],
    );
  });

  test("a secret in a thought takes the thought away, because a changed one would not be believed", () => {
    const [message] = hidePrompt(
      [
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "the key is k1" },
            { type: "reasoning", text: "fine" },
            { type: "tool-call", toolCallId: "a", toolName: "look", input: { deep: ["k1"] } },
          ],
        },
      ],
      (text) => text.replaceAll("k1", "[hidden]"),
    );
    assert.deepEqual(message?.content, [
      { type: "reasoning", text: "fine" },
      { type: "tool-call", toolCallId: "a", toolName: "look", input: { deep: ["[hidden]"] } },
    ]);
  });
});
