// Reads the stream of one model call to its end. Either the answer is whole, or there is none: what broke off, was cut or
// carried an error is thrown away. What comes in is shown as it grows.

import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "@ai-sdk/provider";

type Meta = { meta?: SharedV4ProviderMetadata };
export type CollectedPart =
  | ({ readonly type: "text"; text: string } & Meta)
  | ({ readonly type: "reasoning"; text: string } & Meta)
  | ({ readonly type: "call"; readonly id: string; readonly tool: string; readonly input: string } & Meta);

export type Collected = {
  readonly parts: readonly CollectedPart[];
  readonly finish: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
  readonly metadata: SharedV4ProviderMetadata | undefined;
};

/** Thrown where a stream ends and its answer is not whole. */
export class BrokeOff extends Error {
  override name = "BrokeOff";
}

export type Watch = {
  /** Each time something came. */
  readonly alive: () => void;
  /** What the package changed about the request; throws where that must not be. */
  readonly warned?: (warnings: readonly SharedV4Warning[]) => void;
  /** The text so far. */
  readonly show: (text: string) => void;
};

export async function collect(stream: ReadableStream<LanguageModelV4StreamPart>, watch: Watch): Promise<Collected> {
  const parts: CollectedPart[] = [];
  const open = new Map<string, Extract<CollectedPart, { text: string }>>();
  let end: Extract<LanguageModelV4StreamPart, { type: "finish" }> | null = null;
  for await (const part of stream) {
    watch.alive();
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const type = part.type === "text-start" ? "text" : "reasoning";
        const block = { type, text: "", ...metaOf(part) } as const;
        parts.push(block);
        open.set(`${type} ${part.id}`, block);
        break;
      }
      case "text-delta":
      case "reasoning-delta":
      case "text-end":
      case "reasoning-end": {
        const block = open.get(`${part.type.startsWith("text") ? "text" : "reasoning"} ${part.id}`);
        if (block === undefined) break;
        if ("delta" in part) block.text += part.delta;
        // A signature comes with the last words of a thought.
        if (part.providerMetadata !== undefined) block.meta = { ...block.meta, ...part.providerMetadata };
        if (part.type === "text-delta") watch.show(textOf(parts));
        break;
      }
      case "stream-start":
        watch.warned?.(part.warnings);
        break;
      case "tool-call":
        if (part.providerExecuted === true) break;
        parts.push({ type: "call", id: part.toolCallId, tool: part.toolName, input: part.input, ...metaOf(part) });
        break;
      case "error":
        throw part.error;
      case "finish":
        end = part;
        break;
      default:
        break;
    }
  }
  if (end === null) throw new BrokeOff("the stream ended early");
  const { finishReason: finish } = end;
  if (finish.raw === undefined || finish.unified === "error" || finish.unified === "interrupted") {
    throw new BrokeOff(finish.raw === undefined ? "the stream ended early" : `it ended with ${finish.raw}`);
  }
  return { parts, finish, usage: end.usage, metadata: end.providerMetadata };
}

/**
 * Whether the provider broke it off because of its content. A model that refuses in words of its own ends as it always does
 * (OpenAI's packages call that a filter too), and its answer is whole.
 */
export function isFiltered({ finish }: Pick<Collected, "finish">): boolean {
  return finish.unified === "content-filter" && finish.raw !== "stop";
}

function metaOf(part: { readonly providerMetadata?: SharedV4ProviderMetadata }): Meta {
  return part.providerMetadata === undefined ? {} : { meta: part.providerMetadata };
}

/** The words of an answer; blocks of it are paragraphs. */
export function textOf(parts: readonly CollectedPart[]): string {
  return parts
    .flatMap((part) => (part.type === "text" && part.text.trim() !== "" ? [part.text] : []))
    .reduce((all, text) => (all === "" || /\s$/.test(all) || /^\s/.test(text) ? all + text : `${all}\n\n${text}`), "");
}
