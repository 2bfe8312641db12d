// The clients of the HTTP API that people use, behind one small shape: ask for a whole answer, or for a stream.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import OpenAI from "openai";
import { peerIn } from "../../scripts/peers.ts";
import { key } from "./api-stage.ts";

export type Order = {
  readonly url: string;
  readonly text: string;
  readonly apiKey?: string;
  /** As `Idempotency-Key`. */
  readonly once?: string;
  readonly signal?: AbortSignal;
};

export type ApiClient = {
  readonly ask: (order: Order) => Promise<string>;
  /** Throws what the client reports, also in the middle. */
  readonly stream: (order: Order) => AsyncIterable<string>;
  /** What its users can read from an error: the status, and the code of the body. */
  readonly read: (error: unknown) => { readonly status: number | undefined; readonly code: unknown };
};

export const clientNames = ["openai", "ai-sdk", "langchain"] as const;
export type ClientName = (typeof clientNames)[number];

/** Null where it is not installed. */
export async function openClient(name: ClientName): Promise<ApiClient | null> {
  if (name === "openai") return openaiClient;
  const entry = peerIn(process.env["EVERTURN_PEERS"], name);
  if (entry === null) return null;
  return name === "ai-sdk" ? aiSdk(entry) : langchain(entry);
}

const model = "everturn";
const headersOf = ({ once }: Order): Record<string, string> => (once === undefined ? {} : { "Idempotency-Key": once });

const openaiClient: ApiClient = {
  async ask(order) {
    const { url, text, apiKey = key, signal } = order;
    const answer = await new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }).chat.completions.create(
      { model, messages: [{ role: "user", content: text }] },
      { headers: headersOf(order), signal },
    );
    return answer.choices[0]?.message.content ?? "";
  },
  async *stream(order) {
    const { url, text, apiKey = key, signal } = order;
    const stream = await new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }).chat.completions.create(
      { model, stream: true, messages: [{ role: "user", content: text }] },
      { headers: headersOf(order), signal },
    );
    for await (const chunk of stream) yield chunk.choices[0]?.delta.content ?? "";
    // Their stream ends quietly when it was aborted.
    signal?.throwIfAborted();
  },
  read: (error) => {
    const { status, code } = error as { status?: number; code?: unknown };
    return { status, code };
  },
};

type AiSdk = {
  generateText(options: Readonly<Record<string, unknown>>): Promise<{ readonly text: string }>;
  streamText(options: Readonly<Record<string, unknown>>): {
    readonly fullStream: AsyncIterable<{ readonly type: string; readonly text?: string; readonly error?: unknown }>;
  };
};
type Compatible = {
  createOpenAICompatible(options: Readonly<Record<string, unknown>>): (model: string) => unknown;
};

async function aiSdk(entry: string): Promise<ApiClient> {
  const { generateText, streamText } = (await import(pathToFileURL(entry).href)) as AiSdk;
  const beside = createRequire(entry).resolve("@ai-sdk/openai-compatible");
  const { createOpenAICompatible } = (await import(pathToFileURL(beside).href)) as Compatible;
  const optionsOf = (order: Order) => {
    const { url, text, apiKey = key, signal } = order;
    const provider = createOpenAICompatible({ name: model, baseURL: `${url}/v1`, apiKey });
    const common = { model: provider(model), prompt: text, maxRetries: 0, headers: headersOf(order) };
    return signal === undefined ? common : { ...common, abortSignal: signal };
  };
  return {
    ask: async (order) => (await generateText(optionsOf(order))).text,
    async *stream(order) {
      const { fullStream } = streamText({ ...optionsOf(order), onError: () => undefined });
      for await (const part of fullStream) {
        if (part.type === "error") throw part.error;
        if (part.type === "abort") throw new Error("aborted");
        if (part.type === "text-delta") yield part.text ?? "";
      }
    },
    read: (error) => {
      const { statusCode, data } = error as { statusCode?: number; data?: { error?: { code?: unknown } } };
      return { status: statusCode, code: data?.error?.code };
    },
  };
}

type LangChain = {
  readonly ChatOpenAI: new (
    fields: Readonly<Record<string, unknown>>,
  ) => {
    invoke(text: string, options?: object): Promise<{ readonly content: unknown }>;
    stream(text: string, options?: object): Promise<AsyncIterable<{ readonly content: unknown }>>;
  };
};

async function langchain(entry: string): Promise<ApiClient> {
  const { ChatOpenAI } = (await import(pathToFileURL(entry).href)) as LangChain;
  const chatOf = (order: Order) => {
    const configuration = { baseURL: `${order.url}/v1`, defaultHeaders: headersOf(order) };
    return new ChatOpenAI({ model, apiKey: order.apiKey ?? key, maxRetries: 0, configuration });
  };
  const optionsOf = ({ signal }: Order) => (signal === undefined ? {} : { signal });
  return {
    ask: async (order) => String((await chatOf(order).invoke(order.text, optionsOf(order))).content),
    async *stream(order) {
      for await (const { content } of await chatOf(order).stream(order.text, optionsOf(order))) yield String(content);
    },
    read: (error) => {
      const { status, code } = error as { status?: number; code?: unknown };
      return { status, code };
    },
  };
}
