// Google's generateContent, as the service answers it, whole or streamed: whole parts, thoughts and their signatures, the
// usage in each chunk.

import { type Answer, type Frame, type Seen, pieces } from "./plan.ts";

export function googleFrames(answer: Answer, model: string, nth: number): Frame[] {
  const parts = partsOf(answer);
  return parts.map((part, n) => {
    const chunk = chunkOf(answer, [part], n === parts.length - 1, model, nth);
    return `data: ${JSON.stringify(chunk)}\n\n`;
  });
}

export function googleAnswer(answer: Answer, model: string, nth: number): unknown {
  return chunkOf(answer, partsOf({ ...answer, grain: Number.MAX_SAFE_INTEGER }), true, model, nth);
}

function partsOf({ text = "", calls = [], grain = 12, thinking }: Answer): readonly unknown[] {
  const parts: unknown[] = [
    ...(thinking === undefined ? [] : [{ text: thinking.text, thought: true }]),
    ...pieces(text, grain).map((piece) => ({ text: piece })),
    ...calls.map(({ name, input }, n) => ({
      functionCall: { name, args: input },
      ...(thinking !== undefined && n === 0 ? { thoughtSignature: thinking.signature } : {}),
    })),
  ];
  return parts.length === 0 ? [{ text: "" }] : parts;
}

function chunkOf(answer: Answer, parts: readonly unknown[], isLast: boolean, model: string, nth: number): unknown {
  const { usage = { input: 100, output: 10 } } = answer;
  const candidate = {
    content: { role: "model", parts },
    index: 0,
    ...(isLast ? { finishReason: answer.finish ?? "STOP" } : {}),
  };
  const usageMetadata = {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    cachedContentTokenCount: usage.cached ?? 0,
    totalTokenCount: usage.input + usage.output,
  };
  return { candidates: [candidate], usageMetadata, modelVersion: model, responseId: `r${nth}` };
}

type Part = {
  text?: string;
  functionCall?: { name: string; args: unknown };
  functionResponse?: { name: string; response: unknown };
  inlineData?: { mimeType: string };
};
type Content = { role: string; parts: Part[] };

export function googleSeen(body: Record<string, unknown>, path: string): Seen {
  const system = body["systemInstruction"] as { parts: Part[] } | undefined;
  const tools = (body["tools"] ?? []) as { functionDeclarations?: { name: string }[] }[];
  return {
    model: /models\/([^:]+):/.exec(path)?.[1] ?? "",
    system: (system?.parts ?? []).map(({ text }) => text ?? "").join("\n"),
    tools: tools.flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)),
    messages: ((body["contents"] ?? []) as Content[]).map(({ role, parts }) => ({
      role: role === "model" ? "assistant" : role,
      text: parts.flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n"),
      calls: parts.flatMap(({ functionCall: call }) =>
        call === undefined ? [] : [{ id: call.name, name: call.name, input: call.args }],
      ),
      results: parts.flatMap(({ functionResponse: result }) =>
        result === undefined ? [] : [{ id: result.name, text: JSON.stringify(result.response) }],
      ),
      files: parts.flatMap(({ inlineData: data }) => (data === undefined ? [] : [data.mimeType])),
    })),
  };
}
