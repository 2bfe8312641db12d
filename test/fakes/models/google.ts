// Google's generateContent, as the service streams it: whole parts, thoughts and their signatures, the usage in each chunk.

import { type Answer, type Frame, type Seen, pieces } from "./plan.ts";

export function googleFrames(answer: Answer, model: string, nth: number): Frame[] {
  const { text = "", calls = [], grain = 12, thinking, usage = { input: 100, output: 10 } } = answer;
  const parts: unknown[] = [
    ...(thinking === undefined ? [] : [{ text: thinking.text, thought: true }]),
    ...pieces(text, grain).map((piece) => ({ text: piece })),
    ...calls.map(({ name, input }, n) => ({
      functionCall: { name, args: input },
      ...(thinking !== undefined && n === 0 ? { thoughtSignature: thinking.signature } : {}),
    })),
  ];
  if (parts.length === 0) parts.push({ text: "" });
  return parts.map((part, n) => {
    const last = n === parts.length - 1;
    const candidate = {
      content: { role: "model", parts: [part] },
      index: 0,
      ...(last ? { finishReason: answer.finish ?? "STOP" } : {}),
    };
    const usageMetadata = {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      cachedContentTokenCount: usage.cached ?? 0,
      totalTokenCount: usage.input + usage.output,
    };
    const chunk = { candidates: [candidate], usageMetadata, modelVersion: model, responseId: `r${nth}` };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  });
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
