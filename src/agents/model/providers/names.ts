// Names of models and providers: how one is read, which are near to what was typed, and where a provider usually is. Pure.

import { type Access, type ModelOptions, type ProviderName, providerNames } from "../options.ts";

export type ModelName = { readonly provider: ProviderName; readonly name: string };

type Known = {
  readonly baseUrl: string;
  readonly needsKey: boolean;
  /** Whose words it speaks. */
  readonly protocol: "openai" | "anthropic" | "google" | "compatible";
};

export const known: Readonly<Record<ProviderName, Known>> = {
  openai: { baseUrl: "https://api.openai.com/v1", needsKey: true, protocol: "openai" },
  anthropic: { baseUrl: "https://api.anthropic.com/v1", needsKey: true, protocol: "anthropic" },
  google: { baseUrl: "https://generativelanguage.googleapis.com/v1beta", needsKey: true, protocol: "google" },
  openrouter: { baseUrl: "https://openrouter.ai/api/v1", needsKey: true, protocol: "compatible" },
  ollama: { baseUrl: "http://127.0.0.1:11434/v1", needsKey: false, protocol: "compatible" },
  "openai-compatible": { baseUrl: "http://127.0.0.1:8080/v1", needsKey: false, protocol: "compatible" },
};

/** Reads provider/name; the name may have slashes of its own. Null when it is not one. */
export function parseModel(text: string): ModelName | null {
  const slash = text.indexOf("/");
  const provider = text.slice(0, Math.max(0, slash));
  const name = text.slice(slash + 1);
  return isProvider(provider) && name !== "" ? { provider, name } : null;
}

export function isProvider(text: string): text is ProviderName {
  return (providerNames as readonly string[]).includes(text);
}

export function accessOf(options: Pick<ModelOptions, "providers">, provider: ProviderName): Access {
  return options.providers[provider] ?? { keys: [] };
}

export function baseUrlOf(options: Pick<ModelOptions, "providers">, provider: ProviderName): string {
  return (accessOf(options, provider).baseUrl ?? known[provider].baseUrl).replace(/\/+$/, "");
}

/** Whether anything can be asked of it: it has a key, or needs none. */
export function isUsable(options: Pick<ModelOptions, "providers">, provider: ProviderName): boolean {
  return !known[provider].needsKey || accessOf(options, provider).keys.length > 0;
}

/** What somebody typed, as the name to store; or why it cannot be used. */
export function readModel(
  options: Pick<ModelOptions, "model" | "fallback" | "providers">,
  typed: string,
): { readonly model: string } | { readonly wrong: string } {
  const text = typed.trim();
  const chosen = [options.model, ...options.fallback];
  if (text === "" || /\s/.test(text)) {
    return { wrong: `A model is written as provider/name, for example ${options.model}.` };
  }
  const exact = chosen.find((one) => one === text || one.slice(one.indexOf("/") + 1) === text);
  if (exact !== undefined) return { model: exact };
  const read = parseModel(text);
  if (read !== null) {
    if (isUsable(options, read.provider)) return { model: text };
    return {
      wrong: `There is no key for ${read.provider}: set agent.providers.${read.provider}.apiKey. You can use ${list(chosen)}.`,
    };
  }
  const provider = text.includes("/") ? text.slice(0, text.indexOf("/")) : null;
  const current = parseModel(options.model);
  // A name alone is one of the provider in use; so is any name with a slash where names have slashes.
  if (current !== null && (provider === null || current.provider === "openrouter")) {
    const close = near(
      text,
      chosen.map((one) => one.slice(one.indexOf("/") + 1)),
    );
    // One with a number may well be another version.
    if (close.length > 0 && provider === null && !/\d/.test(text))
      return { wrong: `There is no model ${text}. Did you mean ${list(close)}?` };
    return { model: `${current.provider}/${text}` };
  }
  const close = near(provider ?? text, providerNames);
  return {
    wrong: `There is no provider ${provider ?? text}${close.length > 0 ? `. Did you mean ${list(close)}?` : `; there are ${list(providerNames)}.`}`,
  };
}

function list(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** Those that are like what was typed, the nearest first. */
export function near(typed: string, names: readonly string[], most = 3): readonly string[] {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  const wanted = plain(typed);
  const far = Math.max(2, Math.floor(wanted.length / 3));
  return [...new Set(names)]
    .map((name) => ({ name, away: apart(wanted, plain(name)) }))
    .filter(({ away }) => away <= far)
    .toSorted((a, b) => a.away - b.away || a.name.localeCompare(b.name))
    .slice(0, most)
    .map(({ name }) => name);
}

/** How much would have to be typed otherwise; a name that begins with the other is near whatever follows. */
function apart(a: string, b: string): number {
  if (a !== "" && (b.startsWith(a) || a.startsWith(b))) return Math.min(2, Math.abs(a.length - b.length));
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
