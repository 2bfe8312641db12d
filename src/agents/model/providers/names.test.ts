import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { abilitiesOf } from "./abilities.ts";
import { near, parseModel, readModel } from "./names.ts";

describe("names of models", () => {
  for (const [text, gives] of [
    ["openai/gpt-5", { provider: "openai", name: "gpt-5" }],
    ["openrouter/anthropic/claude-x", { provider: "openrouter", name: "anthropic/claude-x" }],
    ["ollama/llama3.2:3b", { provider: "ollama", name: "llama3.2:3b" }],
    ["gpt-5", null],
    ["nobody/x", null],
    ["openai/", null],
    ["/x", null],
    ["", null],
  ] as const) {
    test(JSON.stringify(text), () => assert.deepEqual(parseModel(text), gives));
  }
});

const options = {
  model: "openai/gpt-5",
  fallback: ["anthropic/claude-sonnet-x"],
  providers: { openai: { keys: ["a"] }, anthropic: { keys: ["b"] } },
};

describe("what somebody typed", () => {
  for (const [typed, gives] of [
    ["openai/gpt-5", "openai/gpt-5"],
    [" anthropic/claude-sonnet-x ", "anthropic/claude-sonnet-x"],
    ["claude-sonnet-x", "anthropic/claude-sonnet-x"],
    ["anthropic/other", "anthropic/other"],
    ["gpt-5-mini", "openai/gpt-5-mini"],
    ["ollama/llama3", "ollama/llama3"],
    ["google/gemini-x", /no key for google.*agent\.providers\.google\.apiKey.*openai\/gpt-5 or anthropic/],
    ["opnai/gpt-5", /no provider opnai.*openai/],
    ["zzz/gpt", /no provider zzz; there are openai, anthropic/],
    ["claude-sonet-x", /Did you mean claude-sonnet-x\?/],
    ["", /provider\/name/],
    ["two words", /provider\/name/],
  ] as const) {
    test(JSON.stringify(typed), () => {
      const read = readModel(options, typed);
      if (typeof gives === "string") assert.deepEqual(read, { model: gives });
      else assert.match("wrong" in read ? read.wrong : JSON.stringify(read), gives);
    });
  }

  test("where names have slashes of their own", () => {
    const routed = { ...options, model: "openrouter/meta/llama", providers: { openrouter: { keys: ["a"] } } };
    assert.deepEqual(readModel(routed, "mistral/large"), { model: "openrouter/mistral/large" });
  });
});

describe("near names", () => {
  for (const [typed, names, gives] of [
    ["gpt-5-mimi", ["gpt-5-mini", "gpt-5", "whisper-1"], ["gpt-5-mini", "gpt-5"]],
    ["Claude Sonnet", ["claude-sonnet-4-5", "gpt-5"], ["claude-sonnet-4-5"]],
    ["zzzz", ["gpt-5"], []],
    ["", ["gpt-5"], []],
  ] as const) {
    test(JSON.stringify(typed), () => assert.deepEqual(near(typed, names), gives));
  }
});

describe("what models take", () => {
  for (const [model, window, images, pdf] of [
    ["anthropic/claude-sonnet-4-5", 200_000, true, true],
    ["openrouter/anthropic/claude-opus-4", 200_000, true, false],
    ["openai/gpt-5-mini", 272_000, true, true],
    ["openai/gpt-4o-mini", 128_000, true, true],
    ["openai/gpt-4.1", 1_000_000, true, true],
    ["openai/o3", 200_000, true, true],
    ["google/gemini-3-pro", 1_000_000, true, true],
    ["ollama/llama3.1:8b", 16_000, false, false],
    ["ollama/llava:13b", 16_000, true, false],
    ["ollama/gemma3:12b", 16_000, true, false],
    ["openai-compatible/my-own", 32_000, false, false],
    ["openai-compatible/qwen2.5-vl-7b", 32_000, true, false],
  ] as const) {
    test(model, () => assert.deepEqual(abilitiesOf(model, {}), { window, images, pdf }));
  }

  test("the settings know better, for the model they name", () => {
    const set = { model: "openai-compatible/my-own", contextTokens: 100_000, vision: true };
    assert.deepEqual(abilitiesOf("openai-compatible/my-own", set), { window: 100_000, images: true, pdf: false });
    assert.deepEqual(abilitiesOf("ollama/llama3.1", set), { window: 16_000, images: false, pdf: false });
  });
});
