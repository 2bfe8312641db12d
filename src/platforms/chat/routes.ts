// The addresses of one chat platform over HTTP: conversations, messages in, messages out. Who may call them is the
// server's business; what a request must look like is `inbound.ts`.

import { Fault, sentenceOf } from "../../core/fault.ts";
import type { Instant } from "../../core/ids.ts";
import type { Inbound } from "../../core/message.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Routes } from "../../ports/http.ts";
import type { Accept } from "../../ports/platform.ts";
import { type ChatsReply, type MessagesReply, type PostReply, chatLimits, isClientId } from "./api.ts";
import { type Refusal, badRequest, notServing, refusalOf, refuse, tooLarge, tooMany } from "./faults.ts";
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

/** Bytes of all bodies being read now, and files. */
type Bodies = { bytes: number; readonly uploads: Uploads };

export function routes(parts: RouteParts, prefix: string): Routes {
  const bodies: Bodies = { bytes: 0, uploads: { count: 0 } };
  return {
    prefix,
    async handle(request) {
      try {
        return await answer(parts, prefix, bodies, request);
      } catch (error) {
        if (error instanceof Fault) return refuse(refusalOf(error));
        throw error;
      }
    },
  };
}

function answer(parts: RouteParts, prefix: string, bodies: Bodies, request: Request): Response | Promise<Response> {
  const url = new URL(request.url);
  const [chat, part, ...rest] = url.pathname.slice(prefix.length).split("/").slice(1);
  const method = request.method === "HEAD" ? "GET" : request.method;
  if (chat === undefined || (chat === "" && part === undefined))
    return method === "GET" ? chats(parts) : refuse(wrongMethod("GET"));
  const isKnown = part === "files" ? rest.length < 2 : rest.length === 0 && (part === "messages" || part === "events");
  if (!isKnown) return refuse({ status: 404, code: "not-found", message: `There is nothing at ${url.pathname}.` });
  if (!isClientId(chat)) return refuse(badRequest("The id of a conversation must be 1 to 64 letters, digits, - or _."));
  if (part === "files") return files(parts, bodies, request, url.searchParams, rest[0]);
  if (part === "events") {
    if (request.method !== "GET") return refuse(wrongMethod("GET"));
    return events(parts, chat, url.searchParams, request.headers.get("last-event-id"));
  }
  if (method === "POST") return post(parts, chat, bodies, request);
  return method === "GET" ? older(parts, chat, url.searchParams) : refuse(wrongMethod("GET, POST"));
}

/** One given by name is sent out, without a name one is taken in. */
async function files(
  { blobs, door }: RouteParts,
  { uploads }: Bodies,
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

async function post(parts: RouteParts, chat: string, bodies: Bodies, request: Request): Promise<Response> {
  const { accept, state } = parts.door;
  if (accept === null) return refuse(notServing(state));
  const bytes = await readBody(request, bodies);
  if (!(bytes instanceof ArrayBuffer)) return refuse(bytes);
  const inbound = readPost(bytes, addressOf(parts.name, chat), Date.now() as Instant);
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

/** The body, never more than the limit in memory, and never more than a total for all requests together. */
async function readBody(request: Request, bodies: Bodies): Promise<ArrayBuffer | Refusal> {
  const { bodyMax, bodiesMax } = chatLimits;
  const announced = request.headers.get("content-length");
  const size = announced === null ? bodyMax : Number(announced);
  const reserved = Math.min(size, bodyMax);
  if (bodies.bytes + reserved > bodiesMax)
    return tooMany("Too many messages at once. Send this one again in a moment.");
  bodies.bytes += reserved;
  try {
    if (announced !== null && size <= bodyMax) return await request.arrayBuffer();
    const chunks = await readChunks(request, bodyMax);
    return chunks === null ? tooLarge("The body", `${bodyMax / 1024 / 1024} MB`) : await new Blob(chunks).arrayBuffer();
  } catch (error) {
    return badRequest(`The body could not be read to its end: ${sentenceOf(error)}`);
  } finally {
    bodies.bytes -= reserved;
  }
}

/**
 * Null when it is larger than `max`. The rest is then read and thrown away up to a bound, because most clients do not
 * look at an answer that comes while they still send.
 */
async function readChunks(request: Request, max: number): Promise<Uint8Array<ArrayBuffer>[] | null> {
  let chunks: Uint8Array<ArrayBuffer>[] | null = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > max) chunks = null;
    if (size > 8 * max) break;
    chunks?.push(chunk as Uint8Array<ArrayBuffer>);
  }
  return chunks;
}

function wrongMethod(allow: string): Refusal {
  return { status: 405, code: "method-not-allowed", message: `This address takes ${allow}.`, allow };
}

function json(value: ChatsReply | MessagesReply | PostReply): Response {
  return new Response(JSON.stringify(value), {
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}
