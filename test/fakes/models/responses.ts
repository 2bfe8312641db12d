// OpenAI responses, as the service streams them: numbered events, items that begin, grow and end, arguments of function
// calls in pieces, and the whole response at the end with its usage.

import { type Answer, type Frame, type Seen, type SeenMessage, argumentsOf, pieces } from "./plan.ts";

export function responsesFrames(answer: Answer, model: string, nth: number): Frame[] {
  const { text = "", calls = [], grain = 12, thinking } = answer;
  const frames: Frame[] = [];
  const output: object[] = [];
  const event = (type: string, content: object): void => {
    const data = { type, sequence_number: frames.length, ...content };
    frames.push(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const response = { id: `resp_${nth}`, object: "response", created_at: 1_763_000_000, model };
  const begun = { ...response, status: "in_progress", output: [], usage: null, error: null };
  event("response.created", { response: begun });
  event("response.in_progress", { response: begun });
  const item = (id: string, empty: object, whole: object, grow: (place: object) => void): void => {
    const output_index = output.length;
    event("response.output_item.added", { output_index, item: { id, status: "in_progress", ...empty } });
    grow({ item_id: id, output_index });
    const done = { id, status: "completed", ...whole };
    event("response.output_item.done", { output_index, item: done });
    output.push(done);
  };
  if (thinking !== undefined) {
    const part = { type: "summary_text", text: thinking.text };
    const reasoning = { type: "reasoning", summary: [part], encrypted_content: thinking.signature };
    item(`rs_${nth}`, { type: "reasoning", summary: [] }, reasoning, (place) => {
      event("response.reasoning_summary_part.added", { ...place, summary_index: 0, part: { ...part, text: "" } });
      for (const delta of pieces(thinking.text, grain))
        event("response.reasoning_summary_text.delta", { ...place, summary_index: 0, delta });
      event("response.reasoning_summary_text.done", { ...place, summary_index: 0, text: thinking.text });
      event("response.reasoning_summary_part.done", { ...place, summary_index: 0, part });
    });
  }
  if (text !== "") {
    const part = { type: "output_text", text, annotations: [], logprobs: [] };
    const message = { type: "message", role: "assistant" };
    item(`msg_${nth}`, { ...message, content: [] }, { ...message, content: [part] }, (place) => {
      event("response.content_part.added", { ...place, content_index: 0, part: { ...part, text: "" } });
      for (const delta of pieces(text, grain))
        event("response.output_text.delta", { ...place, content_index: 0, delta, logprobs: [] });
      event("response.output_text.done", { ...place, content_index: 0, text, logprobs: [] });
      event("response.content_part.done", { ...place, content_index: 0, part });
    });
  }
  for (const [n, call] of calls.entries()) {
    const words = argumentsOf(call);
    const named = { type: "function_call", call_id: call.id ?? `call_${nth}_${n}`, name: call.name };
    item(`fc_${nth}_${n}`, { ...named, arguments: "" }, { ...named, arguments: words }, (place) => {
      for (const delta of pieces(words, grain)) event("response.function_call_arguments.delta", { ...place, delta });
      event("response.function_call_arguments.done", { ...place, arguments: words });
    });
  }
  const status = answer.finish ?? "completed";
  const end = { ...response, status, output, usage: usageOf(answer), error: null };
  event(status === "incomplete" ? "response.incomplete" : "response.completed", { response: end });
  return frames;
}

function usageOf({ usage = { input: 100, output: 10 } }: Answer): unknown {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached ?? 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  };
}

/** An error inside the stream. */
export const responsesErrorFrame: Frame = `event: error\ndata: ${JSON.stringify({
  type: "error",
  sequence_number: 0,
  code: "server_error",
  message: "The server had an error while processing your request. Sorry about that!",
  param: null,
})}\n\n`;

type Part = { type: string; text?: string };
type Item = {
  type?: string;
  role?: string;
  content?: string | Part[];
  call_id?: string;
  name?: string;
  arguments?: string;
  output?: string | Part[];
};

export function responsesSeen(body: Record<string, unknown>): Seen {
  const items = itemsOf(body);
  const isSystem = ({ role }: Item): boolean => role === "system" || role === "developer";
  const own = typeof body["instructions"] === "string" ? [body["instructions"]] : [];
  return {
    model: String(body["model"]),
    system: [...own, ...items.filter(isSystem).map((one) => wordsOf(one.content))].join("\n"),
    tools: ((body["tools"] ?? []) as { type: string; name?: string }[]).map(({ name, type }) => name ?? type),
    messages: items.filter((one) => !isSystem(one)).flatMap(messageOf),
  };
}

function itemsOf(body: Record<string, unknown>): readonly Item[] {
  const input = body["input"];
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return (input ?? []) as Item[];
}

function messageOf(item: Item): SeenMessage[] {
  const none = { text: "", calls: [], results: [], files: [] };
  switch (item.type ?? "message") {
    case "message": {
      const parts = Array.isArray(item.content) ? item.content : [];
      const files = parts.flatMap(({ type }) => (type === "input_image" || type === "input_file" ? [type] : []));
      return [{ ...none, role: item.role ?? "user", text: wordsOf(item.content), files }];
    }
    case "function_call": {
      const { call_id: id = "", name = "", arguments: input = "" } = item;
      return [{ ...none, role: "assistant", calls: [{ id, name, input: readJson(input) }] }];
    }
    case "function_call_output":
      return [{ ...none, role: "tool", results: [{ id: item.call_id ?? "", text: wordsOf(item.output) }] }];
    default:
      return [];
  }
}

function wordsOf(content: string | Part[] | undefined): string {
  if (content === undefined || typeof content === "string") return content ?? "";
  return content.flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n");
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** What the service refuses about a request; null when it is well-formed. */
export function responsesFault(body: Record<string, unknown>): string | null {
  const items = itemsOf(body);
  const idsOf = (type: string) => items.filter((one) => one.type === type).map((one) => one.call_id ?? "");
  const [calls, outputs] = [idsOf("function_call"), idsOf("function_call_output")];
  const open = calls.find((id) => !outputs.includes(id));
  if (open !== undefined) return `No tool output found for function call ${open}.`;
  const stray = outputs.find((id) => !calls.includes(id));
  return stray === undefined ? null : `No tool call found for function call output with call_id ${stray}.`;
}
