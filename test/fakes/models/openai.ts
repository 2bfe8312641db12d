// OpenAI chat completions, as the service streams them: chunks with deltas, arguments of tool calls in pieces, the chunk
// with the usage that has no choices, [DONE]; and its error bodies.

import { type Answer, type Frame, type Seen, type SeenMessage, argumentsOf, pieces } from "./plan.ts";

export function openaiFrames(answer: Answer, model: string, nth: number): Frame[] {
  const { text = "", calls = [], grain = 12, thinking } = answer;
  const head = { id: `chatcmpl-${nth}`, object: "chat.completion.chunk", created: 1_763_000_000, model };
  const frame = (choice: unknown): Frame =>
    `data: ${JSON.stringify({ ...head, choices: [choice], usage: null, obfuscation: "x" })}\n\n`;
  const delta = (words: unknown, finish: string | null = null): Frame =>
    frame({ index: 0, delta: words, logprobs: null, finish_reason: finish });

  const frames = [delta({ role: "assistant", content: calls.length > 0 && text === "" ? null : "", refusal: null })];
  for (const piece of pieces(thinking?.text ?? "", grain)) frames.push(delta({ reasoning_content: piece }));
  for (const piece of pieces(text, grain)) frames.push(delta({ content: piece }));
  for (const [index, call] of calls.entries()) {
    const id = call.id ?? `call_${nth}_${index}`;
    frames.push(delta({ tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] }));
    for (const piece of pieces(argumentsOf(call), grain)) {
      frames.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
  }
  frames.push(delta({}, answer.finish ?? (calls.length > 0 ? "tool_calls" : "stop")));
  frames.push(`data: ${JSON.stringify({ ...head, choices: [], usage: usageOf(answer) })}\n\n`);
  frames.push("data: [DONE]\n\n");
  return frames;
}

function usageOf({ usage = { input: 100, output: 10 } }: Answer): unknown {
  const { input, output, cached = 0, cost } = usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    ...(cost === undefined ? {} : { cost }),
  };
}

/** An error inside the stream. */
export const openaiErrorFrame: Frame = `data: ${JSON.stringify(openaiError("The server had an error while processing your request. Sorry about that!", "server_error"))}\n\n`;

export function openaiError(message: string, type: string, code: string | null = null, param: string | null = null) {
  return { error: { message, type, param, code } };
}

export function openaiModels(names: readonly string[]): unknown {
  return {
    object: "list",
    data: names.map((id) => ({ id, object: "model", created: 1_763_000_000, owned_by: "fake" })),
  };
}

type Part = { type: string; text?: string; image_url?: { url: string }; file?: { filename?: string } };
type Wire = {
  role: string;
  content?: string | null | Part[];
  tool_call_id?: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
};

export function openaiSeen(body: Record<string, unknown>): Seen {
  const wire = (body["messages"] ?? []) as Wire[];
  const isSystem = ({ role }: Wire): boolean => role === "system" || role === "developer";
  const tools = (body["tools"] ?? []) as { function: { name: string } }[];
  return {
    model: String(body["model"]),
    system: wire.filter(isSystem).map(wordsOf).join("\n"),
    tools: tools.map((tool) => tool.function.name),
    messages: wire.filter((one) => !isSystem(one)).map(messageOf),
  };
}

function messageOf(one: Wire): SeenMessage {
  const parts = Array.isArray(one.content) ? one.content : [];
  return {
    role: one.role,
    text: one.role === "tool" ? "" : wordsOf(one),
    calls: (one.tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => ({
      id,
      name,
      input: readJson(input),
    })),
    results: one.role === "tool" ? [{ id: one.tool_call_id ?? "", text: wordsOf(one) }] : [],
    files: parts.flatMap(({ type, image_url: image }) =>
      image !== undefined ? [/^data:([^;]+)/.exec(image.url)?.[1] ?? image.url] : type === "text" ? [] : [type],
    ),
  };
}

function wordsOf({ content }: Wire): string {
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");
}

export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** What the service refuses about a request, whoever made it; null when it is well-formed. */
export function openaiFault(body: Record<string, unknown>): string | null {
  const messages = (body["messages"] ?? []) as Wire[];
  let open: string[] = [];
  for (const [n, one] of messages.entries()) {
    if (one.role === "tool") {
      if (!open.includes(one.tool_call_id ?? "")) {
        return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'";
      }
      open = open.filter((id) => id !== one.tool_call_id);
      continue;
    }
    if (open.length > 0)
      return `An assistant message with 'tool_calls' must be followed by tool messages: ${open.join(", ")}`;
    open = (one.tool_calls ?? []).map(({ id }) => id);
    if (new Set(open).size < open.length) return `Duplicate tool call ids in message ${n}`;
    if (open.some((id) => id.length > 40)) return "string too long: tool_calls[0].id";
    const bad = (one.tool_calls ?? []).find((call) => typeof readJson(call.function.arguments) !== "object");
    if (bad !== undefined) return `messages.${n}: arguments of ${bad.function.name} are not a JSON object`;
  }
  if (open.length > 0)
    return `An assistant message with 'tool_calls' must be followed by tool messages: ${open.join(", ")}`;
  return messages.length === 0 ? "[] is too short - 'messages'" : null;
}
