// The addresses of one chat platform over HTTP: conversations, messages in, messages out. Who may call them is the
// server's business; what a request must look like is `inbound.ts`.

import { Fault } from "../../core/fault.ts";
import type { Instant } from "../../core/ids.ts";
import type { Inbound } from "../../core/message.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Accept } from "../../ports/platform.ts";
import { type ChatsReply, type MessagesReply, type PostReply, chatLimits, isClientId } from "./api.ts";
import { type Refusal, badRequest, notServing, refusalOf, refuse, tooMany } from "./faults.ts";
import type { Uploads } from "./files.ts";
import { readNumber, readPost } from "./inbound.ts";
import { toChats, toShown } from "./outbound.ts";
import { addressOf } from "./place.ts";
import type { Streams, Transcript } from "./streams.ts";

/** Whether messages can be taken now, and if not, whether not yet or no more. */
export type Door = { accept: Accept | null; state: "starting" | "stopping" };

export type RouteParts = {
  readonly name: string;
  readonly transcript: Transcript;
  readonly open: Streams;
  readonly door: Door;
  readonly blobs: Blobs | undefined;
};

/** Answers every request below the prefix. */
export function answers(parts: RouteParts, prefix: string): (request: Request) => Promise<Response> {
  const uploads: Uploads = { count: 0 };
  return async (request) => {
    try {
      return await answer(parts, prefix, uploads, request);
    } catch (error) {
      if (error instanceof Fault) return refuse(refusalOf(error));
      throw error;
    }
  };
}

function answer(parts: RouteParts, prefix: string, uploads: Uploads, request: Request): Response | Promise<Response> {
  const url = new URL(request.url);
  const [chat, part, ...rest] = url.pathname.slice(prefix.length).split("/").slice(1);
  const method = request.method === "HEAD" ? "GET" : request.method;
  if (chat === undefined || (chat === "" && part === undefined))
    return method === "GET" ? chats(parts) : refuse(wrongMethod("GET"));
  const isKnown = part === "files" ? rest.length < 2 : rest.length === 0 && (part === "messages" || part === "events");
  if (!isKnown) return refuse({ status: 404, code: "not-found", message: `There is nothing at ${url.pathname}.` });
  if (!isClientId(chat)) return refuse(badRequest("The id of a conversation must be 1 to 64 letters, digits, - or _."));
  if (part === "files") return files(parts, uploads, request, url.searchParams, rest[0]);
  if (part === "events") {
    if (request.method !== "GET") return refuse(wrongMethod("GET"));
    return events(parts, chat, url.searchParams, request.headers.get("last-event-id"));
  }
  if (method === "POST") return post(parts, chat, request);
  return method === "GET" ? older(parts, chat, url.searchParams) : refuse(wrongMethod("GET, POST"));
}

/** One given by name is sent out, without a name one is taken in. */
async function files(
  { blobs, door }: RouteParts,
  uploads: Uploads,
  request: Request,
  query: URLSearchParams,
  blob: string | undefined,
): Promise<Response> {
  const takes = blob === undefined ? "POST" : "GET";
  if (request.method !== takes) return refuse(wrongMethod(takes));
  if (door.accept === null) return refuse(notServing(door.state));
  if (blobs === undefined) return refuse({ status: 404, code: "not-found", message: "No files are kept here." });
  const { give, receive } = await import("./files.ts");
  return blob === undefined ? receive(blobs, uploads, request, query) : give(blobs, blob, query);
}

async function chats(parts: RouteParts): Promise<Response> {
  const sessions = await parts.transcript.sessions({ platform: parts.name, limit: chatLimits.chatsMax });
  return json({ chats: toChats(sessions) } satisfies ChatsReply);
}

async function older(parts: RouteParts, chat: string, query: URLSearchParams): Promise<Response> {
  const before = readNumber(query.get("before"), "before");
  if (before.type === "refused") return refuse(before.why);
  const limit = readNumber(query.get("limit"), "limit");
  if (limit.type === "refused") return refuse(limit.why);
  const count = Math.min(Math.max(limit.value ?? chatLimits.newestMax, 1), chatLimits.pageMax);
  const messages = await parts.transcript.messagesBefore(addressOf(parts.name, chat), before.value ?? null, count);
  return json({ messages: messages.map((one) => toShown(chat, one)) } satisfies MessagesReply);
}

function events(parts: RouteParts, chat: string, query: URLSearchParams, lastSeen: string | null): Response {
  const after = readNumber(query.get("after"), "after");
  if (after.type === "refused") return refuse(after.why);
  const seen = readNumber(lastSeen, "Last-Event-ID");
  if (seen.type === "refused") return refuse(seen.why);
  if (parts.door.state === "stopping") return refuse(notServing("stopping"));
  // A browser that reconnects repeats the address of its first attempt; what it has seen since is in the header.
  const cursor = seen.value === undefined ? after.value : Math.max(seen.value, after.value ?? 0);
  const body = parts.open.open(chat, cursor);
  if (body === null) return refuse(tooMany("Too many open event streams. Close some pages and try again."));
  return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
}

async function post(parts: RouteParts, chat: string, request: Request): Promise<Response> {
  const { accept, state } = parts.door;
  if (accept === null) return refuse(notServing(state));
  const inbound = readPost(await request.arrayBuffer(), addressOf(parts.name, chat), Date.now() as Instant);
  if (inbound.type === "refused") return refuse(inbound.why);
  const message = await checked(parts, inbound.value);
  if ("status" in message) return refuse(message);
  const status = await accept(message, null);
  parts.open.wake(chat);
  return json({ status } satisfies PostReply);
}

async function checked({ blobs }: RouteParts, inbound: Inbound): Promise<Inbound | Refusal> {
  if (inbound.body.kind !== "text" || inbound.body.files.length === 0) return inbound;
  const { withFiles } = await import("./files.ts");
  return withFiles(blobs, inbound);
}

function wrongMethod(allow: string): Refusal {
  return { status: 405, code: "method-not-allowed", message: `This address takes ${allow}.`, allow };
}

function json(value: ChatsReply | MessagesReply | PostReply): Response {
  return new Response(JSON.stringify(value), {
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}
