// A client of the chat protocol that gives up on nothing: it sends a message again under the same id until it is
// stored, and follows a conversation with its cursor. Written apart from the program's own clients, to judge them.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { patienceMs } from "./stage.ts";

export type Place = { readonly url: string; readonly token: string };

export type Message = {
  readonly n: number;
  readonly key: string;
  readonly role: "user" | "assistant" | "notice";
  readonly text: string;
  readonly turn: string | null;
  readonly question?: { readonly id: string; readonly choices: readonly string[] };
  readonly files?: readonly { readonly name: string; readonly mime: string; readonly bytes: number }[];
};

export type Said =
  | { readonly text: string }
  | { readonly answer: { readonly question: string; readonly choice: string } };
export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

export type Client = {
  call(path: string, init?: RequestInit): Promise<Answer>;
  get<T>(path: string): Promise<T>;
  /** One attempt to send. */
  post(chat: string, id: string, said: Said, init?: RequestInit): Promise<Answer>;
  /** Until it is stored. */
  send(chat: string, id: string, said: Said | string): Promise<"accepted" | "duplicate">;
  transcript(chat: string): Promise<readonly Message[]>;
  events(chat: string, after: number, signal: AbortSignal): AsyncGenerator<{ type: string; data: unknown }>;
};

/** Between two attempts of a client in a hurry, whatever it is told. */
const hurryMs = 20;

export function client({ url, token }: Place): Client {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

  async function call(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${url}${path}`, { headers, ...init });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
  }

  const post: Client["post"] = (chat, id, said, init = {}) =>
    call(`/api/chat/web/${chat}/messages`, { method: "POST", body: JSON.stringify({ id, ...said }), ...init });

  async function get<T>(path: string): Promise<T> {
    const { status, body } = await call(path);
    assert.equal(status, 200, `${path} answered ${status}: ${JSON.stringify(body)}`);
    return body as T;
  }

  return {
    call,
    get,
    post,
    async send(chat, id, said) {
      const words = typeof said === "string" ? { text: said } : said;
      for (const deadline = Date.now() + patienceMs; ; await pause(hurryMs)) {
        const answer = await post(chat, id, words).catch((error: Error) => error);
        if (!(answer instanceof Error)) {
          if (answer.status === 200) return (answer.body as { status: "accepted" | "duplicate" }).status;
          assert.ok([429, 503].includes(answer.status), `${answer.status} ${JSON.stringify(answer.body)}`);
        }
        if (Date.now() > deadline) assert.fail(`message ${id} was never stored: ${JSON.stringify(answer)}`);
      }
    },
    async transcript(chat) {
      const pages: Message[][] = [];
      for (let before = Number.MAX_SAFE_INTEGER % 1e15; ; before = pages[0]?.[0]?.n ?? 0) {
        const path = `/api/chat/web/${chat}/messages?before=${before}&limit=500`;
        const { messages } = await get<{ messages: Message[] }>(path);
        pages.unshift(messages);
        if (messages.length < 500) return pages.flat();
      }
    },
    async *events(chat, after, signal) {
      const response = await fetch(`${url}/api/chat/web/${chat}/events?after=${after}`, { headers, signal });
      if (response.status !== 200 || response.body === null) throw new Error(`no stream: ${response.status}`);
      let rest = "";
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        rest += chunk;
        const frames = rest.split("\n\n");
        rest = frames.pop() ?? "";
        for (const frame of frames) {
          const fields = new Map(frame.split("\n").map((line) => [line.split(":", 1)[0], line.replace(/^\w*: ?/, "")]));
          const type = fields.get("event");
          const data = fields.get("data");
          if (type !== undefined && data !== undefined) yield { type, data: JSON.parse(data) };
        }
      }
    },
  };
}
