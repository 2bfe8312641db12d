// Opens a model through its provider's package, which is loaded when it is wanted for the first time. The packages make
// one request a call and repeat nothing by themselves. They never see the environment: each is given its key or none.

import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelOptions } from "../options.ts";
import { type ModelName, accessOf, baseUrlOf, known } from "./names.ts";
import { patientFetch } from "./patient.ts";

/** Packages insist on a key; servers that need none do not look at it. */
const noKey = "none";

export async function openModel(
  options: Pick<ModelOptions, "providers" | "fetch" | "connected">,
  { provider, name }: ModelName,
  key: string | null,
): Promise<LanguageModelV4> {
  const { headers = {} } = accessOf(options, provider);
  const baseURL = baseUrlOf(options, provider);
  // One that needs no key is somebody's own server, and such a one may be slow.
  const own = options.fetch ?? (known[provider].needsKey ? options.connected : patientFetch);
  const through = own === undefined ? {} : { fetch: own };
  const settings = { baseURL, apiKey: key ?? noKey, headers: { ...headers }, ...through };
  switch (known[provider].protocol) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(settings).chat(name);
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(settings)(name);
    }
    case "google": {
      const { createGoogle } = await import("@ai-sdk/google");
      return createGoogle(settings)(name);
    }
    case "compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const { apiKey, ...rest } = settings;
      const keyed = key === null ? rest : { ...rest, apiKey };
      // One that cannot do structured outputs refuses the request, and the caller reads why.
      const can = { includeUsage: true, supportsStructuredOutputs: true };
      return createOpenAICompatible({ ...keyed, name: provider, ...can, ...routedOf({ provider, name }) })(name);
    }
  }
}

/** OpenRouter tells what a call cost when it is asked to, and marks what Anthropic's models may cache when it is told to. */
function routedOf({ provider, name }: ModelName) {
  if (provider !== "openrouter") return {};
  const cache = name.startsWith("anthropic/") ? { cache_control: { type: "ephemeral" } } : {};
  return { transformRequestBody: (body: Record<string, unknown>) => ({ ...body, ...cache, usage: { include: true } }) };
}
