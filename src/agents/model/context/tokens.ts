// How large a request is, in tokens: estimated from its bytes, and put right by what the provider counted before. Pure.

import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { Entry } from "../../../core/journal.ts";
import { readData } from "../step/data.ts";

const bytesPerToken = 3.5;
const perMessage = 6;
const perImage = 1_500;

export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

export function messageTokens(message: LanguageModelV4Message): number {
  if (message.role === "system") return textTokens(message.content) + perMessage;
  let sum = perMessage;
  for (const part of message.content) {
    switch (part.type) {
      case "text":
      case "reasoning":
        sum += textTokens(part.text);
        break;
      case "tool-call":
        sum += textTokens(part.toolName + JSON.stringify(part.input)) + perMessage;
        break;
      case "tool-result":
        sum += ("value" in part.output ? textTokens(JSON.stringify(part.output.value)) : 0) + perMessage;
        break;
      case "file":
        sum += fileTokens(part.mediaType, part.data.type === "data" ? part.data.data.length : 0);
        break;
      default:
        break;
    }
  }
  return sum;
}

function fileTokens(mime: string, bytes: number): number {
  return mime.startsWith("image/") ? perImage : Math.max(perImage, Math.ceil(bytes / 40));
}

export function promptTokens(messages: readonly LanguageModelV4Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/**
 * How far our estimates are from what this model counts, from the newest step that tells both. Small requests tell
 * nothing, and a provider that counts nonsense is not believed.
 */
export function correction(journals: readonly (readonly Entry[])[], model: string): number {
  for (const entry of journals.flat().toReversed()) {
    if (entry.type !== "said" || entry.usage === undefined || entry.usage.model !== model) continue;
    const estimated = readData(entry.data)?.estimated ?? 0;
    if (estimated < 200 || entry.usage.input === 0) continue;
    return Math.min(2, Math.max(0.5, entry.usage.input / estimated));
  }
  return 1;
}
