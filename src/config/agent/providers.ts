// What is known of each provider before anything of it is loaded: whether it wants a key, and which variable of the
// environment people keep it in. Pure.

import { nearest } from "../../core/route.ts";

export const providerNames = ["openai", "anthropic", "google", "openrouter", "ollama", "openai-compatible"] as const;
export type ProviderName = (typeof providerNames)[number];

type Known = {
  /** Without one it answers nobody, unless somebody else's server stands in for it. */
  readonly needsKey: boolean;
  /** Where its key is looked for when none is configured, the first one first. */
  readonly variables: readonly string[];
  /** It has no address of its own. */
  readonly needsAddress: boolean;
  /** How names of its models begin, for those who left the provider out. */
  readonly models: RegExp | null;
};

export const providers: Readonly<Record<ProviderName, Known>> = {
  openai: { needsKey: true, variables: ["OPENAI_API_KEY"], needsAddress: false, models: /^(gpt|o\d|chatgpt)/i },
  anthropic: { needsKey: true, variables: ["ANTHROPIC_API_KEY"], needsAddress: false, models: /^claude/i },
  google: {
    needsKey: true,
    variables: ["GOOGLE_API_KEY", "GEMINI_API_KEY"],
    needsAddress: false,
    models: /^(gemini|gemma)/i,
  },
  openrouter: { needsKey: true, variables: ["OPENROUTER_API_KEY"], needsAddress: false, models: null },
  ollama: { needsKey: false, variables: [], needsAddress: false, models: /^(llama|qwen|mistral|phi|deepseek)[^/]*$/i },
  "openai-compatible": { needsKey: false, variables: [], needsAddress: true, models: null },
};

/** The provider of a model that has been checked: `openrouter/a/b` is one of openrouter. */
export function providerOf(model: string): ProviderName {
  const name = model.slice(0, model.indexOf("/"));
  return providerNames.find((one) => one === name) ?? "openai-compatible";
}

/** Other names that people know a provider by. */
const alsoKnown: Readonly<Record<string, ProviderName>> = {
  claude: "anthropic",
  gemini: "google",
  chatgpt: "openai",
  local: "openai-compatible",
  lmstudio: "openai-compatible",
  vllm: "openai-compatible",
  "llama.cpp": "openai-compatible",
};

/** What somebody meant who wrote a model without its provider, or misspelt it; null when that is anybody's guess. */
export function meantModel(written: string): string | null {
  const model = written.trim();
  if (model === "" || model.length > 100 || /\s/.test(model)) return null;
  const slash = model.indexOf("/");
  if (slash > 0 && slash < model.length - 1) {
    const before = model.slice(0, slash).toLowerCase();
    const other = Object.hasOwn(alsoKnown, before) ? alsoKnown[before] : undefined;
    const near = other ?? nearest(before, providerNames);
    if (near !== null) return `${near}${model.slice(slash)}`;
  }
  const fits = providerNames.find((name) => providers[name].models?.test(model) === true);
  if (fits !== undefined && slash < 0) return `${fits}/${model}`;
  return slash > 0 && slash < model.length - 1 ? `openrouter/${model}` : null;
}
