// What a step keeps beside its text and its calls, so that the next request can give a model back exactly what it said:
// its thoughts with their signatures, the order of the parts, the marks of its provider. Read as if strangers had written
// it, because an older version may have.

import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";

export type DataPart =
  /** Without its text it is the text of the step. */
  | { readonly type: "text"; readonly text?: string; readonly meta?: SharedV4ProviderMetadata }
  | { readonly type: "reasoning"; readonly text: string; readonly meta?: SharedV4ProviderMetadata }
  | { readonly type: "call"; readonly call: string; readonly meta?: SharedV4ProviderMetadata };

export type SaidData = {
  /** Who said it; its parts mean nothing to another model. */
  readonly model: string;
  readonly finish: string;
  /** How large we thought the request was, in tokens. */
  readonly estimated: number;
  readonly parts: readonly DataPart[];
};

export function readData(data: unknown): SaidData | null {
  if (typeof data !== "object" || data === null) return null;
  const { model, finish, estimated, parts } = data as Partial<SaidData>;
  if (typeof model !== "string" || !Array.isArray(parts)) return null;
  return {
    model,
    finish: typeof finish === "string" ? finish : "stop",
    estimated: typeof estimated === "number" ? estimated : 0,
    parts: (parts as readonly DataPart[]).filter(isPart),
  };
}

function isPart(part: DataPart | null): part is DataPart {
  if (typeof part !== "object" || part === null) return false;
  if (part.type === "text") return part.text === undefined || typeof part.text === "string";
  return part.type === "reasoning" ? typeof part.text === "string" : part.type === "call";
}
