// Every parameter that OpenAI documents for chat completions: passed on, without effect, or refused by its name.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Models } from "../../../ports/agent.ts";
import { table } from "../../../testing/table.ts";
import { modelIds, optionsFor, readOptions } from "./options.ts";

const models: Models = { current: "openai/a", known: ["openai/a", "openai/b"], read: (model) => ({ model }) };
const schema = { type: "object", properties: { a: { type: "number" } } };

table(
  "parameters that are passed on",
  [
    { name: "temperature", given: { temperature: 0 }, options: { temperature: 0 } },
    { name: "top_p", given: { top_p: 0.5 }, options: { topP: 0.5 } },
    { name: "top_k", given: { top_k: 40 }, options: { topK: 40 } },
    { name: "max_tokens", given: { max_tokens: 5 }, options: { maxOutputTokens: 5 } },
    { name: "max_completion_tokens", given: { max_completion_tokens: 5 }, options: { maxOutputTokens: 5 } },
    { name: "both alike", given: { max_tokens: 5, max_completion_tokens: 5 }, options: { maxOutputTokens: 5 } },
    { name: "stop", given: { stop: "END" }, options: { stopSequences: ["END"] } },
    { name: "stops", given: { stop: ["A", "B"] }, options: { stopSequences: ["A", "B"] } },
    { name: "no stop", given: { stop: [] }, options: {} },
    { name: "seed", given: { seed: -7 }, options: { seed: -7 } },
    {
      name: "penalties",
      given: { presence_penalty: 1, frequency_penalty: -2 },
      options: { presencePenalty: 1, frequencyPenalty: -2 },
    },
    { name: "reasoning_effort", given: { reasoning_effort: "low" }, options: { reasoning: "low" } },
    { name: "text", given: { response_format: { type: "text" } }, options: {} },
    { name: "json_object", given: { response_format: { type: "json_object" } }, options: { responseFormat: {} } },
    {
      name: "json_schema",
      given: { response_format: { type: "json_schema", json_schema: { name: "x", schema, strict: true } } },
      options: { responseFormat: { name: "x", schema, strict: true } },
    },
    { name: "null is absent", given: { temperature: null, tools: null, nonsense: null }, options: {} },
    {
      name: "what asks for nothing",
      given: {
        n: 1,
        tools: [],
        functions: [],
        tool_choice: "auto",
        logprobs: false,
        logit_bias: {},
        modalities: ["text"],
      },
      options: {},
    },
    {
      name: "what has no effect",
      given: { store: true, metadata: { a: "b" }, parallel_tool_calls: false, service_tier: "auto", user: "u" },
      options: {},
    },
  ],
  ({ given, options }) => assert.deepEqual(readOptions(given), options),
);

table(
  "parameters that are refused by their name",
  [
    { name: "tools", given: { tools: [{}] }, code: "unsupported_parameter" },
    { name: "functions", given: { functions: [{}] }, code: "unsupported_parameter" },
    { name: "tool_choice", given: { tool_choice: "required" }, code: "unsupported_parameter" },
    { name: "n", given: { n: 2 }, code: "unsupported_parameter" },
    { name: "logprobs", given: { logprobs: true }, code: "unsupported_parameter" },
    { name: "top_logprobs", given: { top_logprobs: 3 }, code: "unsupported_parameter" },
    { name: "logit_bias", given: { logit_bias: { 5: 1 } }, code: "unsupported_parameter" },
    { name: "modalities", given: { modalities: ["text", "audio"] }, code: "unsupported_parameter" },
    { name: "audio", given: { audio: {} }, code: "unsupported_parameter" },
    { name: "prediction", given: { prediction: { type: "content" } }, code: "unsupported_parameter" },
    { name: "web_search_options", given: { web_search_options: {} }, code: "unsupported_parameter" },
    { name: "service_tier", given: { service_tier: "flex" }, code: "unsupported_parameter" },
    { name: "verbosity", given: { verbosity: "low" }, code: "unsupported_parameter" },
    { name: "nonsense", given: { nonsense: 1 }, code: "unknown_parameter" },
    { name: "constructor", given: { constructor: 1 }, code: "unknown_parameter" },
    { name: "temperature", given: { temperature: 3 }, code: "invalid_value" },
    { name: "temperature", given: { temperature: "1" }, code: "invalid_value" },
    { name: "max_tokens", given: { max_tokens: 0 }, code: "invalid_value" },
    { name: "max_completion_tokens", given: { max_tokens: 5, max_completion_tokens: 6 }, code: "invalid_value" },
    { name: "seed", given: { seed: 1.5 }, code: "invalid_value" },
    { name: "stop", given: { stop: [""] }, code: "invalid_value" },
    { name: "reasoning_effort", given: { reasoning_effort: "huge" }, code: "invalid_value" },
    { name: "response_format", given: { response_format: { type: "yaml" } }, code: "invalid_value" },
    { name: "response_format", given: { response_format: { type: "json_schema" } }, code: "invalid_value" },
    { name: "response_format", given: { response_format: "json" }, code: "invalid_value" },
  ].map((one) => ({ ...one, param: one.name, name: `${one.name}: ${JSON.stringify(one.given)}` })),
  ({ given, code, param }) => {
    const found = readOptions(given);
    assert.ok("status" in found);
    assert.deepEqual([found.status, found.param, found.code], [400, param, code]);
  },
);

test("a model is the default, one that is listed, or unknown", () => {
  const options = {};
  assert.deepEqual(modelIds(models), ["everturn", "openai/a", "openai/b"]);
  assert.deepEqual(modelIds(undefined), ["everturn"]);
  assert.equal(optionsFor({ model: "everturn", options }, models), undefined);
  assert.deepEqual(optionsFor({ model: "openai/b", options }, models), { model: "openai/b" });
  for (const known of [models, undefined]) {
    const found = optionsFor({ model: "gpt-x", options }, known);
    assert.ok(found !== undefined && "status" in found);
    assert.deepEqual([found.status, found.code, found.param], [404, "model_not_found", "model"]);
  }
});

test("an agent without models takes no options, unless they change nothing", () => {
  const neutral = { temperature: 1, topP: 1, presencePenalty: 0, frequencyPenalty: 0 };
  assert.equal(optionsFor({ model: "everturn", options: neutral }, undefined), undefined);
  const found = optionsFor({ model: "everturn", options: { ...neutral, seed: 1 } }, undefined);
  assert.ok(found !== undefined && "status" in found);
  assert.deepEqual([found.status, found.param], [400, "seed"]);
  assert.deepEqual(optionsFor({ model: "everturn", options: neutral }, models), neutral);
});
