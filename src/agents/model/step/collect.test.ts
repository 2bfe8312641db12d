import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { BrokeOff, collect, textOf } from "./collect.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finish = (unified: LanguageModelV4FinishReason["unified"], raw?: string): LanguageModelV4StreamPart => ({
  type: "finish",
  usage,
  finishReason: { unified, raw },
});
const text = (id: string, ...deltas: readonly string[]): readonly LanguageModelV4StreamPart[] => [
  { type: "text-start", id },
  ...deltas.map((delta) => ({ type: "text-delta", id, delta }) as const),
  { type: "text-end", id },
];

async function read(...parts: readonly LanguageModelV4StreamPart[]) {
  const shown: string[] = [];
  let alive = 0;
  const stream = ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart>;
  const collected = await collect(stream, { alive: () => alive++, show: (words) => void shown.push(words) });
  return { collected, shown, alive };
}

describe("the stream of a call", () => {
  test("text grows, block by block", async () => {
    const { collected, shown, alive } = await read(
      ...text("1", "He", "llo"),
      ...text("2", "there"),
      finish("stop", "stop"),
    );
    assert.equal(textOf(collected.parts), "Hello\n\nthere");
    assert.deepEqual(shown, ["He", "Hello", "Hello\n\nthere"]);
    assert.equal(alive, 8);
  });

  test("thoughts are not shown, and keep the signature that comes behind them", async () => {
    const { collected, shown } = await read(
      { type: "reasoning-start", id: "1" },
      { type: "reasoning-delta", id: "1", delta: "hm" },
      { type: "reasoning-delta", id: "1", delta: "", providerMetadata: { anthropic: { signature: "S" } } },
      { type: "reasoning-end", id: "1" },
      ...text("1", "so"),
      finish("stop", "end_turn"),
    );
    assert.deepEqual(shown, ["so"]);
    assert.deepEqual(collected.parts, [
      { type: "reasoning", text: "hm", meta: { anthropic: { signature: "S" } } },
      { type: "text", text: "so" },
    ]);
  });

  test("what the provider ran itself is no call of ours", async () => {
    const call = { type: "tool-call", toolCallId: "a", toolName: "search", input: "{}" } as const;
    const { collected } = await read({ ...call, providerExecuted: true }, call, finish("tool-calls", "tool_use"));
    assert.deepEqual(collected.parts, [{ type: "call", id: "a", tool: "search", input: "{}" }]);
  });

  for (const [name, end] of [
    ["nobody says why it ended", finish("other")],
    ["it was interrupted", finish("interrupted")],
    ["it ended with an error", finish("error", "malformed_function_call")],
    ["no end at all", null],
  ] as const) {
    test(`not whole: ${name}`, async () => {
      await assert.rejects(read(...text("1", "half"), ...(end === null ? [] : [end])), BrokeOff);
    });
  }

  test("an error in the middle is thrown as it is", async () => {
    const error = { type: "overloaded_error" };
    await assert.rejects(
      read(...text("1", "half"), { type: "error", error }, finish("stop", "stop")),
      (given) => given === error,
    );
  });
});
