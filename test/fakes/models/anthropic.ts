// Anthropic messages, as the service streams them: every kind of event, the input of tools in pieces, thinking with its
// signature, pings; and its error bodies.

import { type Answer, type Frame, type Seen, type SeenMessage, argumentsOf, pieces } from "./plan.ts";

export function anthropicFrames(answer: Answer, model: string, nth: number): Frame[] {
  const { text = "", calls = [], grain = 12, thinking, usage = { input: 100, output: 10 } } = answer;
  const cached = usage.cached ?? 0;
  const frames: Frame[] = [
    event("message_start", {
      message: {
        id: `msg_${nth}`,
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: usage.input - cached,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: cached,
          output_tokens: 1,
        },
      },
    }),
    event("ping", {}),
  ];
  let index = 0;
  const block = (content: unknown, deltas: readonly unknown[]): void => {
    frames.push(event("content_block_start", { index, content_block: content }));
    for (const delta of deltas) frames.push(event("content_block_delta", { index, delta }));
    frames.push(event("content_block_stop", { index }));
    index++;
  };
  if (thinking !== undefined) {
    const words = pieces(thinking.text, grain).map((piece) => ({ type: "thinking_delta", thinking: piece }));
    const signature = { type: "signature_delta", signature: thinking.signature };
    block({ type: "thinking", thinking: "", signature: "" }, [...words, signature]);
  }
  if (text !== "") {
    block(
      { type: "text", text: "" },
      pieces(text, grain).map((piece) => ({ type: "text_delta", text: piece })),
    );
  }
  for (const [n, call] of calls.entries()) {
    block(
      { type: "tool_use", id: call.id ?? `toolu_${nth}_${n}`, name: call.name, input: {} },
      ["", ...pieces(argumentsOf(call), grain)].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    );
  }
  const reason = answer.finish ?? (calls.length > 0 ? "tool_use" : "end_turn");
  const delta = { stop_reason: reason, stop_sequence: null };
  frames.push(event("message_delta", { delta, usage: { output_tokens: usage.output } }));
  frames.push(event("message_stop", {}));
  return frames;
}

function event(type: string, content: object): Frame {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...content })}\n\n`;
}

/** An error inside the stream: the service is overloaded. */
export const anthropicErrorFrame: Frame = `event: error\ndata: ${JSON.stringify(anthropicError("overloaded_error", "Overloaded"))}\n\n`;

export function anthropicError(type: string, message: string) {
  return { type: "error", error: { type, message }, request_id: "req_fake" };
}

export function anthropicModels(names: readonly string[]): unknown {
  const data = names.map((id) => ({ type: "model", id, display_name: id, created_at: "2026-01-01T00:00:00Z" }));
  return { data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null };
}

type Block = {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: string | Block[];
  source?: { media_type?: string };
};
type Wire = { role: string; content: string | Block[] };

export function anthropicSeen(body: Record<string, unknown>): Seen {
  return {
    model: String(body["model"]),
    system: wordsOf((body["system"] ?? "") as string | Block[]),
    tools: ((body["tools"] ?? []) as { name: string }[]).map(({ name }) => name),
    messages: ((body["messages"] ?? []) as Wire[]).map(messageOf),
  };
}

function messageOf({ role, content }: Wire): SeenMessage {
  const blocks = typeof content === "string" ? [] : content;
  return {
    role,
    text: wordsOf(content),
    calls: blocks.flatMap(({ type, id = "", name = "", input }) => (type === "tool_use" ? [{ id, name, input }] : [])),
    results: blocks.flatMap((block) =>
      block.type === "tool_result" ? [{ id: block.tool_use_id ?? "", text: wordsOf(block.content ?? "") }] : [],
    ),
    files: blocks.flatMap(({ type, source }) =>
      type === "image" || type === "document" ? [source?.media_type ?? type] : [],
    ),
  };
}

function wordsOf(content: string | Block[]): string {
  if (typeof content === "string") return content;
  return content.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])).join("\n");
}

/** What the service refuses about a request, whoever made it; null when it is well-formed. */
export function anthropicFault(body: Record<string, unknown>): string | null {
  const messages = (body["messages"] ?? []) as Wire[];
  const used = new Set<string>();
  for (const [n, { role, content }] of messages.entries()) {
    if (typeof content === "string") continue;
    const before = messages[n - 1]?.content;
    const asked = Array.isArray(before) ? before.filter(({ type }) => type === "tool_use").map(({ id }) => id) : [];
    const results = content.filter(({ type }) => type === "tool_result").map((block) => block.tool_use_id);
    if (content.length === 0) return `messages.${n}: content must not be empty`;
    if (content.some(({ type, text }) => type === "text" && text?.trim() === "")) {
      return "messages: text content blocks must contain non-whitespace text";
    }
    if (role === "user" && asked.some((id) => !results.includes(id))) {
      return `messages.${n}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
    }
    if (results.some((id) => !asked.includes(id))) return `messages.${n}: unexpected \`tool_use_id\``;
    for (const { type, id = "" } of content) {
      if (type !== "tool_use") continue;
      if (used.has(id)) return `messages.${n}: \`tool_use\` ids must be unique`;
      if (!/^[a-zA-Z0-9_-]+$/.test(id)) return `messages.${n}: tool_use.id: String should match pattern`;
      used.add(id);
    }
    if (n > 0 && messages[n - 1]?.role === role) return "messages: roles must alternate";
  }
  return messages[0]?.role === "user" ? null : "messages: first message must use the user role";
}
