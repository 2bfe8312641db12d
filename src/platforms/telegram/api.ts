// The Bot API as the rest of this folder uses it: grammY's calls, loaded at the first one, and the bytes of files. One
// connection pool per token. Nothing is retried here: whether something may be tried again is decided in faults.ts.

import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Streaming } from "../../ports/platform.ts";
import type { Api, InputFile } from "grammy";
import type { Update } from "grammy/types";
import { contentOf } from "../../ports/content.ts";

export type Settings = {
  readonly token: string;
  readonly apiRoot: string;
  /** Answers grow inside one message. */
  readonly streaming: Streaming;
  /** A message that was taken gets an eye. */
  readonly receipts: boolean;
  /** Where Telegram brings updates by itself; without it we ask for them. */
  readonly webhook?: { readonly url: string; readonly secretToken?: string };
};

export type Raw = Api["raw"];
/** The same at run time; the library's type knows fewer events. */
export type Signal = Parameters<Raw["getMe"]>[0];

export interface Bot {
  /** Loads the library. */
  raw(): Promise<Raw>;
  /** Something to upload. */
  upload(content: Uint8Array, name: string): Promise<InputFile>;
  /** The content of a file that getFile named. Rejects when it cannot be had. */
  download(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** How long Telegram may hold a poll back. */
export const pollSeconds = 30;
/** A call without an answer after this is given up: its connection may be dead without anybody saying so. */
const pollMs = (pollSeconds + 10) * 1_000;
const callMs = 20_000;
const uploadMs = 60_000;
/** Connections that are not used for this long are closed, because they may be dead by then. */
const idleMs = 15_000;

/** What is asked for. Everything else is left out, so it cannot fill the queue. */
export const wantedUpdates = ["message", "edited_message", "callback_query"] as const satisfies readonly Exclude<
  keyof Update,
  "update_id"
>[];

/** The bot's own id is the first part of its token, so the account is known before anybody is asked. */
export function accountOf(token: string): string {
  return /^\d+/.exec(token)?.[0] ?? "unknown";
}

export function openBot({ token, apiRoot }: Pick<Settings, "token" | "apiRoot">): Bot {
  const root = apiRoot.replace(/\/+$/, "");
  let opened: Promise<{ readonly raw: Raw; readonly library: typeof import("grammy") }> | null = null;
  const open = (): NonNullable<typeof opened> => {
    opened ??= import("grammy").then((library) => {
      const api = new library.Api(token, {
        apiRoot: root,
        timeoutSeconds: uploadMs / 1_000,
        baseFetchConfig: { agent: agentFor(root) },
      });
      api.config.use((call, method, payload, signal) => {
        const limitMs = holds(payload, library.InputFile) ? uploadMs : method === "getUpdates" ? pollMs : callMs;
        const limits = [AbortSignal.timeout(limitMs), ...(signal === undefined ? [] : [signal as AbortSignal])];
        return call(method, payload, theirs(AbortSignal.any(limits)));
      });
      return { raw: awaitable(api.raw), library };
    });
    return opened;
  };
  return {
    raw: async () => (await open()).raw,
    async upload(content, name) {
      const { library } = await open();
      return new library.InputFile(content, name);
    },
    async download(path, signal) {
      const answer = await fetch(`${root}/file/bot${token}/${path}`, { signal });
      if (answer.ok) return contentOf(answer);
      await answer.body?.cancel();
      throw new Error(`Telegram answered ${answer.status}`);
    },
  };
}

/** Whether something of this kind is anywhere in a payload. */
function holds(value: unknown, kind: typeof InputFile): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof kind || Object.values(value).some((one) => holds(one, kind));
}

function agentFor(root: string): HttpAgent {
  const options = { keepAlive: true, timeout: idleMs };
  return root.startsWith("https:") ? new HttpsAgent(options) : new HttpAgent(options);
}

/** Any name is a method there, also the one by which an `await` knows a promise: it must not be called. */
function awaitable(raw: Raw): Raw {
  return new Proxy(raw, { get: (from, name) => (name === "then" ? undefined : Reflect.get(from, name)) });
}

/** Our signals, as the library wants them. */
export function theirs(signal: AbortSignal): Signal {
  return signal as unknown as Signal;
}
