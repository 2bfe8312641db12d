// For the tests of this folder: a transcript in memory, a real HTTP server on loopback, and a reader of event streams.

import { createAdaptorServer } from "@hono/node-server";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { BootId, Instant, ItemId, SessionId, TurnId } from "../../core/ids.ts";
import type { Message } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import { newSession } from "../../core/session.ts";
import { addressOf } from "./place.ts";
import type { Transcript } from "./streams.ts";

export type Event = { readonly type: string; readonly id: string | null; readonly data: unknown };

export type Kept = Transcript & {
  say(chat: string, key: string, text: string, role?: Message["role"]): Message;
  reads: number;
};

/** Counts its reads, so that a test can see that nobody reads ahead. */
export function keptTranscript(platform: string): Kept {
  const said: { chat: string; message: Message }[] = [];
  const of = (chat: string) => said.filter((one) => one.chat === chat).map((one) => one.message);
  const kept: Kept = {
    reads: 0,
    say(chat, key, text, role = "assistant") {
      const n = said.length + 1;
      const at = (1_000 + n) as Instant;
      const message: Message = { n, key, session: `s-${chat}` as SessionId, turn: null, role, text, at };
      said.push({ chat, message });
      return message;
    },
    messagesAfter: async ({ chat }, n, limit) => {
      kept.reads++;
      return of(chat)
        .filter((one) => one.n > n)
        .slice(0, limit);
    },
    messagesBefore: async ({ chat }, n, limit) => {
      kept.reads++;
      return of(chat)
        .filter((one) => n === null || one.n < n)
        .slice(-limit);
    },
    sessions: async () =>
      [...new Set(said.map((one) => one.chat))].map((chat) => ({
        ...newSession(`s-${chat}` as SessionId, addressOf(platform, chat), "b" as BootId, 1 as Instant),
        activeAt: of(chat).at(-1)?.at ?? (0 as Instant),
        title: of(chat)[0]?.text ?? "",
        lastN: of(chat).at(-1)?.n ?? 0,
      })),
  };
  return kept;
}

export function reply(platform: string, chat: string, id: string, text: string): OutboxItem {
  return {
    id: id as ItemId,
    session: `s-${chat}` as SessionId,
    turn: "t" as TurnId,
    part: 0,
    to: addressOf(platform, chat),
    text,
    files: [],
    createdAt: 1 as Instant,
    version: 1,
    now: { state: "sending", boot: "b" as BootId, attempts: 1 },
  };
}

export async function serve(
  handle: (request: Request) => Promise<Response>,
): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const server = createAdaptorServer({ fetch: handle }) as Server;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The events of a stream one by one; `next` answers null at its end. */
export function readEvents(response: Response): { next(): Promise<Event | null>; cancel(): Promise<void> } {
  if (response.body === null) throw new Error("no body");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    async next() {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end !== -1) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          return toEvent(block);
        }
        const { done, value } = await reader.read();
        if (done) return null;
        text += value;
      }
    },
    cancel: () => reader.cancel(),
  };
}

function toEvent(block: string): Event {
  if (block.startsWith(":")) return { type: block.slice(1).trim(), id: null, data: null };
  const fields = new Map(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  return {
    type: fields.get("event") ?? "",
    id: fields.get("id") ?? null,
    data: JSON.parse(fields.get("data") ?? "null"),
  };
}
