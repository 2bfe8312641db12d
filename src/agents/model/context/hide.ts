// Takes what is secret out of every text of a request, whoever wrote it: people, tools, the model itself. Signatures and
// pictures stay as they are. Pure.

import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from "@ai-sdk/provider";

export function hidePrompt(prompt: LanguageModelV4Prompt, hide: (text: string) => string): LanguageModelV4Prompt {
  return prompt.map((message) =>
    hidden(message.role === "assistant" ? { ...message, content: message.content.filter(isClean) } : message, hide),
  ) as LanguageModelV4Prompt;

  /** A thought is signed as it was: one that would be changed is left out. */
  function isClean(part: { readonly type: string; readonly text?: string }): boolean {
    return part.type !== "reasoning" || part.text === undefined || hide(part.text) === part.text;
  }
}

export function hideTools(
  tools: readonly LanguageModelV4FunctionTool[],
  hide: (text: string) => string,
): LanguageModelV4FunctionTool[] {
  return tools.map((tool) => hidden(tool, hide) as LanguageModelV4FunctionTool);
}

function hidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((one) => hidden(one, hide));
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, key === "providerOptions" ? one : hidden(one, hide)]),
  );
}
