// Converts the tokens and money that an ACP agent reports into our usage records. Tokens come with the end of a prompt; money comes as
// the total of the agent's session so far.

import type { Usage } from "../../core/usage.ts";
import { list, record, words } from "./choices.ts";

type Tokens = Pick<Usage, "input" | "cached" | "output">;

/**
 * The tokens of one prompt, from its response. The protocol counts cached tokens apart from the input and thoughts apart
 * from the output; some agents count them inside. The total says which of the two it is.
 */
export function tokensOf(response: unknown): Tokens | null {
  const { usage, _meta: meta } = record(response);
  const given = record(usage);
  const [input, output] = [count(given["inputTokens"]), count(given["outputTokens"])];
  if (input === null || output === null) return tokensInQuota(meta);
  const read = count(given["cachedReadTokens"]) ?? 0;
  const cache = read + (count(given["cachedWriteTokens"]) ?? 0);
  const thoughts = count(given["thoughtTokens"]) ?? 0;
  const total = count(given["totalTokens"]) ?? input + cache + output;
  const isCacheApart = input + cache + output <= total;
  const allInput = isCacheApart ? input + cache : input;
  const isThoughtApart = allInput + output + thoughts <= total;
  return { input: allInput, cached: read, output: isThoughtApart ? output + thoughts : output };
}

/** Gemini CLI has no `usage`; it counts in `_meta.quota`. */
function tokensInQuota(meta: unknown): Tokens | null {
  const { input_tokens: input, output_tokens: output } = record(record(record(meta)["quota"])["token_count"]);
  const [sent, received] = [count(input), count(output)];
  return sent === null || received === null ? null : { input: sent, cached: 0, output: received };
}

/** The models that a response names, as far as it does. */
export function modelsOf(response: unknown): readonly string[] {
  const { model_usage: models } = record(record(record(response)["_meta"])["quota"]);
  return list(models).flatMap((one) => words(record(one)["model"]) || []);
}

/** The cost of a session so far in millionths of a dollar, from an update; null where it says none. */
export function costIn(update: unknown): number | null {
  const { sessionUpdate, cost } = record(update);
  const { amount, currency } = record(cost);
  if (sessionUpdate !== "usage_update" || currency !== "USD" || typeof amount !== "number") return null;
  return Number.isFinite(amount) && amount >= 0 ? Math.round(amount * 1e6) : null;
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : null;
}

/** Adds up what one session of an agent uses between two steps. */
export interface Meter {
  update(update: unknown): void;
  /** A prompt has ended with this response. */
  ended(response: unknown): void;
  /** What is new since this was asked last; null where nothing is known. */
  take(): Usage | null;
  /** The cost of the agent's session so far, as the agent counts it; null where it never said. */
  total(): number | null;
}

/** `before` is the cost of the session that is on record already. */
export function usageMeter(agent: string, before: number | null): Meter {
  let tokens: Tokens | null = null;
  let cost: number | null = null;
  let total = before;
  let model = agent;
  return {
    update(update) {
      const now = costIn(update);
      if (now === null) return;
      // An agent that counts from its own start begins again after a restart.
      const more = total === null || now < total ? now : now - total;
      cost = (cost ?? 0) + more;
      total = now;
    },
    ended(response) {
      const more = tokensOf(response);
      if (more !== null) tokens = tokens === null ? more : sumOf(tokens, more);
      const [one, ...others] = modelsOf(response);
      model = one === undefined || others.length > 0 ? agent : `${agent}/${one}`;
    },
    take() {
      if (tokens === null && (cost ?? 0) === 0) return null;
      const used: Usage = { model: `acp/${model}`, ...(tokens ?? { input: 0, cached: 0, output: 0 }), cost };
      [tokens, cost] = [null, null];
      return used;
    },
    total: () => total,
  };
}

function sumOf(one: Tokens, other: Tokens): Tokens {
  return {
    input: one.input + other.input,
    cached: one.cached + other.cached,
    output: one.output + other.output,
  };
}
