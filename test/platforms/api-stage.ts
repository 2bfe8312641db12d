// What the tests of the API stand on: a real gateway with keys, the SDK of OpenAI as its users have it, and a client of our
// own that sees every event as it comes.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";

export const key = "a-key-of-some-length";
const config = `platforms:\n  api:\n    keys:\n      app: { key: "\${APP_KEY}", role: approver }\n      other: \${OTHER_KEY}\n`;

/** A home whose gateway knows two callers. */
export function withKeys(home: string, more = ""): string {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, ".env"), `APP_KEY=${key}\nOTHER_KEY=another-key-of-some-length\n`, { mode: 0o600 });
  writeFileSync(join(home, "config.yaml"), `${config}${more}`, { mode: 0o600 });
  return home;
}

export function sdk(url: string, options: { readonly apiKey?: string; readonly maxRetries?: number } = {}): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, ...options });
}

export type Frame = { readonly id: string | null; readonly data: string };
export type Chunk = {
  readonly id?: string;
  readonly choices?: readonly {
    readonly delta: { readonly content?: string };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: unknown;
  readonly error?: { readonly code: string };
};

export function ask(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const sent = typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body);
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: sent,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The events of a stream, as they come; throws when the connection breaks. */
export async function* frames(response: Response): AsyncGenerator<Frame> {
  let rest = "";
  for await (const text of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    rest += text;
    const whole = rest.split("\n\n");
    rest = whole.pop() ?? "";
    for (const one of whole) {
      const lines = one.split("\n");
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null;
      const data = field("data");
      if (data !== null) yield { id: field("id"), data };
    }
  }
}

export function contentOf({ data }: Frame): string {
  if (data === "[DONE]") return "";
  const chunk = JSON.parse(data) as Chunk;
  if (chunk.error !== undefined) throw new Error(chunk.error.code);
  return chunk.choices?.[0]?.delta.content ?? "";
}

export const user = <const C>(content: C) => ({ role: "user", content }) as const;
export const assistant = (content: string) => ({ role: "assistant", content }) as const;

export async function answerOf(response: Response): Promise<string> {
  const body = (await response.json()) as { choices?: readonly { message: { content: string } }[] };
  return body.choices?.[0]?.message.content ?? JSON.stringify(body);
}
