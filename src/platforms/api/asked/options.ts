// The parameters of a request beside its messages. Each is passed on to the model, has its meaning here, or is refused with
// its name: none is ignored where the caller would rely on it. Pure; the table in docs/platforms/api.md says the same.

import {
  type CallOptions,
  type ReasoningEffort,
  isNeutral,
  optionParams,
  reasoningEfforts,
} from "../../../core/call-options.ts";
import type { Models } from "../../../ports/agent.ts";
import { defaultModel } from "../api.ts";
import { type Refusal, invalid, unknownModel } from "../faults.ts";

type Fields = Readonly<Record<string, unknown>>;
type Writable = { -readonly [K in keyof CallOptions]: CallOptions[K] };

/** Reads one parameter into the options; a refusal where its value cannot be used. */
type Reader = (value: unknown, param: string, into: Writable) => Refusal | null;

type NumberRule = { readonly min: number; readonly max: number; readonly integer?: true };

function number(
  name: "temperature" | "topP" | "topK" | "maxOutputTokens" | "seed" | "presencePenalty" | "frequencyPenalty",
  { min, max, integer }: NumberRule,
): Reader {
  return (value, param, into) => {
    const isFine = typeof value === "number" && value >= min && value <= max && (!integer || Number.isInteger(value));
    if (!isFine) {
      const kind = integer === true ? "a whole number" : "a number";
      return invalid(`\`${param}\` must be ${kind} from ${min} to ${max}.`, param);
    }
    if (into[name] !== undefined && into[name] !== value)
      return invalid(`\`${param}\` contradicts another limit in this request.`, param);
    into[name] = value;
    return null;
  };
}

const tokens = number("maxOutputTokens", { min: 1, max: 1_000_000, integer: true });

const passedOn: Readonly<Record<string, Reader>> = {
  temperature: number("temperature", { min: 0, max: 2 }),
  top_p: number("topP", { min: 0, max: 1 }),
  top_k: number("topK", { min: 1, max: 1_000_000, integer: true }),
  presence_penalty: number("presencePenalty", { min: -2, max: 2 }),
  frequency_penalty: number("frequencyPenalty", { min: -2, max: 2 }),
  seed: number("seed", { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, integer: true }),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  stop: readStop,
  response_format: readFormat,
  reasoning_effort(value, param, into) {
    if (!reasoningEfforts.includes(value as ReasoningEffort))
      return invalid(`\`${param}\` must be one of ${reasoningEfforts.join(", ")}.`, param);
    into.reasoning = value as ReasoningEffort;
    return null;
  },
};

const stopsMax = 16;

function readStop(value: unknown, param: string, into: Writable): Refusal | null {
  const list: unknown = typeof value === "string" ? [value] : value;
  const isFine =
    Array.isArray(list) && list.length <= stopsMax && list.every((one) => typeof one === "string" && one !== "");
  if (!isFine) return invalid(`\`${param}\` must be a text or a list of at most ${stopsMax} texts.`, param);
  if (list.length > 0) into.stopSequences = list as readonly string[];
  return null;
}

function readFormat(value: unknown, param: string, into: Writable): Refusal | null {
  const { type, json_schema: given } = (typeof value === "object" && value !== null ? value : {}) as Fields;
  if (type === "text") return null;
  if (type === "json_object") {
    into.responseFormat = {};
    return null;
  }
  if (type !== "json_schema") return invalid(`\`${param}.type\` must be text, json_object or json_schema.`, param);
  const { schema, name, description, strict } = (typeof given === "object" && given !== null ? given : {}) as Fields;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    return invalid(`\`${param}.json_schema.schema\` must be a JSON schema.`, param);
  if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name))
    return invalid(`\`${param}.json_schema.name\` must be 1 to 64 letters, digits, _ or -.`, param);
  into.responseFormat = {
    schema: schema as Fields,
    name,
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
  return null;
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);

type Unsupported = { readonly isFine: (value: unknown) => boolean; readonly why: string };

const ownTools = "The gateway's agent has its own tools and calls them by itself.";

/** What the gateway cannot do. A value that asks for nothing is fine. */
const unsupported: Readonly<Record<string, Unsupported>> = {
  tools: { isFine: isEmpty, why: ownTools },
  functions: { isFine: isEmpty, why: ownTools },
  tool_choice: { isFine: oneOf("none", "auto"), why: ownTools },
  function_call: { isFine: oneOf("none", "auto"), why: ownTools },
  n: { isFine: oneOf(1), why: "A message has one answer." },
  logprobs: { isFine: oneOf(false), why: "Log probabilities are not passed on." },
  top_logprobs: { isFine: oneOf(0), why: "Log probabilities are not passed on." },
  logit_bias: { isFine: isEmpty, why: "It has no equivalent at most providers." },
  modalities: { isFine: (value) => JSON.stringify(value) === '["text"]', why: "Answers are text." },
  audio: { isFine: () => false, why: "Answers are text." },
  prediction: { isFine: isEmpty, why: "Predicted outputs are not passed on." },
  web_search_options: { isFine: () => false, why: ownTools },
  verbosity: { isFine: oneOf("medium"), why: "Ask for short or long answers in a system message." },
  service_tier: { isFine: oneOf("auto", "default"), why: "The tier is chosen by the gateway's configuration." },
};

/** What has its meaning elsewhere, or none that a caller could miss. */
const known = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "user",
  "store",
  "metadata",
  "parallel_tool_calls",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
]);

export function readOptions(fields: Fields): CallOptions | Refusal {
  const options: Writable = {};
  for (const [param, value] of Object.entries(fields)) {
    if (value === null || value === undefined || known.has(param)) continue;
    const refusal = readParameter(param, value, options);
    if (refusal !== null) return refusal;
  }
  return options;
}

function readParameter(param: string, value: unknown, options: Writable): Refusal | null {
  const read = Object.hasOwn(passedOn, param) ? passedOn[param] : undefined;
  if (read !== undefined) return read(value, param, options);
  const rule = Object.hasOwn(unsupported, param) ? unsupported[param] : undefined;
  const shown = param.slice(0, 64);
  if (rule === undefined)
    return invalid(`Unrecognized request argument supplied: \`${shown}\`.`, shown, "unknown_parameter");
  if (rule.isFine(value)) return null;
  return invalid(`This value of \`${param}\` is not supported. ${rule.why}`, param, "unsupported_parameter");
}

export function modelIds(models: Models | undefined): readonly string[] {
  return [defaultModel, ...new Set((models?.known ?? []).filter((name) => name !== ""))];
}

/** What is stored with the message, or why this agent cannot do it. Undefined where nothing was asked for. */
export function optionsFor(
  asked: { readonly model: string; readonly options: CallOptions },
  models: Models | undefined,
): CallOptions | undefined | Refusal {
  if (!modelIds(models).includes(asked.model)) return unknownModel(asked.model);
  const names = Object.keys(asked.options) as (keyof typeof optionParams)[];
  if (models === undefined) {
    const name = names.find((one) => !isNeutral(one, asked.options));
    if (name === undefined) return undefined;
    const why = "The agent of this gateway chooses its model calls by itself. Leave it out.";
    return invalid(
      `\`${optionParams[name]}\` is not supported here. ${why}`,
      optionParams[name],
      "unsupported_parameter",
    );
  }
  const named = asked.model === defaultModel ? {} : { model: asked.model };
  return names.length === 0 && asked.model === defaultModel ? undefined : { ...named, ...asked.options };
}
