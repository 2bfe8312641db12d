// The addresses below /v1: who calls is checked first, then what is asked. A message is stored before anything of its answer
// is given, and under the same key it is the same message, or refused.

import { Fault } from "../../core/fault.ts";
import type { Address, FileRef } from "../../core/message.ts";
import type { Blobs, PersonBlobs } from "../../ports/blobs.ts";
import type { Turn } from "../../core/turn.ts";
import type { Models } from "../../ports/agent.ts";
import type { Caller } from "../../ports/http.ts";
import type { Accept } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import { type Answer, type Reading, answers } from "./given/answers.ts";
import { type ChatRequest, type MessagesReply, type Said, account, apiLimits, defaultModel } from "./api.ts";
import { readBody } from "./asked/body.ts";
import { type Key, callerOf, owner } from "./callers.ts";
import {
  type Refusal,
  anotherRequest,
  invalid,
  notFound,
  notLetIn,
  notServing,
  refusalOf,
  refuse,
  tooMany,
  unknownModel,
  wrongMethod,
} from "./faults.ts";
import { type Given, nothingGiven, readMark } from "./given/growing.ts";
import {
  addressOf,
  firstText,
  idOf,
  inboundKey,
  readKey,
  readRequest,
  readSession,
  takeApart,
  toInbound,
} from "./inbound.ts";
import { toLine } from "./outbound.ts";
import { modelIds, optionsFor } from "./asked/options.ts";
import { patienceOf, wantsStream } from "./asked/patience.ts";
import { recognise, unnamed } from "./asked/recognise.ts";
import { isRepeat, printOf } from "./asked/repeats.ts";
import type { Rooms } from "./given/rooms.ts";
import { type Wanted, stream, whole } from "./given/serve.ts";

/** Whether messages can be taken now, and if not, whether not yet or no more. */
export type Door = { accept: Accept | null; state: "starting" | "stopping" };

export type Parts = Reading & {
  readonly keys: readonly Key[];
  readonly rooms: Rooms;
  readonly door: Door;
  readonly blobs: Blobs;
  readonly filesOf: (caller: string) => PersonBlobs;
  readonly world: Pick<World, "now" | "id">;
  readonly models: () => Models | undefined;
  readonly holdMs: number;
};

/** Whose key it is, or how a request without a good one is refused. */
export function admit(keys: readonly Key[], request: Request, from: Caller | undefined): Response | null {
  const caller = callerOf(keys, request, from);
  return typeof caller === "string" ? null : refuse(caller);
}

export async function answer(parts: Parts, request: Request, from: Caller | undefined): Promise<Response> {
  const caller = callerOf(parts.keys, request, from);
  if (typeof caller !== "string") return refuse(caller);
  try {
    return await route(parts, request, caller);
  } catch (error) {
    if (error instanceof Fault) return refuse(refusalOf(error));
    throw error;
  }
}

function route(parts: Parts, request: Request, caller: string): Response | Promise<Response> {
  const url = new URL(request.url);
  const path = url.pathname.split("/").slice(2);
  const [what, first, second] = path;
  const gets = (work: () => Response | Promise<Response>) =>
    request.method === "GET" ? work() : refuse(wrongMethod("GET"));
  if (what === "chat" && first === "completions") {
    if (path.length === 2)
      return request.method === "POST" ? post(parts, request, caller) : refuse(wrongMethod("POST"));
    if (path.length === 3 && second !== undefined) return gets(() => again(parts, request, url, caller, second));
  }
  // The names of models have slashes.
  if (what === "models") return gets(() => models(parts, path.slice(1).join("/")));
  if (what === "sessions" && path.length === 3 && first !== undefined && second === "messages")
    return gets(() => messages(parts, url, caller, first));
  if (what === "files" && path.length === 3 && first !== undefined && second === "content")
    return gets(() => file(parts, caller, first, url.searchParams));
  return refuse(notFound(`There is nothing at ${url.pathname}.`));
}

/** The owner may have every file, a caller those that their answers came with. */
async function file(parts: Parts, caller: string, blob: string, query: URLSearchParams): Promise<Response> {
  const isTheirs = caller === owner || parts.filesOf(caller).has(blob);
  if (!isTheirs) return refuse(notFound("There is no such file for this key. Read the messages of its session again."));
  return (await import("./given/files.ts")).give(parts.blobs, blob, query);
}

async function post(parts: Parts, request: Request, caller: string): Promise<Response> {
  const { door, rooms } = parts;
  if (door.accept === null) return refuse(notServing(door.state));
  if (rooms.size >= apiLimits.openMax) return refuse(tooMany("Too many requests wait for their answers. Try again."));
  const wish = readHeaders(request.headers);
  if ("status" in wish) return refuse(wish);
  const body = await readBody(request);
  if (typeof body !== "string") return refuse(body);
  const asked = readRequest(body);
  if ("status" in asked) return refuse(asked);
  const key = wish.key ?? `auto-${parts.world.id()}`;
  const id = idOf(caller, key);
  const place = await take(parts, caller, id, asked, wish.session ?? asked.user);
  if ("status" in place) return refuse(place);
  const turn = await parts.store.turnBy("api", account, inboundKey(caller, id));
  const { includeUsage } = asked;
  const asking = { caller, id, key, place, turn, includeUsage, had: wish.had, isRepeatable: wish.key !== null };
  return give(parts, request, asked.stream, asking);
}

type Wish = { readonly key: string | null; readonly session: string | null; readonly had: Given };

function readHeaders(headers: Headers): Wish | Refusal {
  const key = headers.get("idempotency-key");
  if (key !== null && readKey(key) === null)
    return invalid("`Idempotency-Key` must be 1 to 255 visible ASCII characters.", "Idempotency-Key");
  const session = headers.get("x-everturn-session");
  if (session !== null && readSession(session) === null)
    return invalid("`X-Everturn-Session` must be 1 to 200 characters.", "X-Everturn-Session");
  const mark = headers.get("last-event-id");
  const had = mark === null ? nothingGiven : readMark(mark);
  if (had === null) return invalid("`Last-Event-ID` must be the id of an event of this answer.", "Last-Event-ID");
  return { key, session, had };
}

/** Stores the message, unless it is there already. Where its answer will be. */
async function take(
  parts: Parts,
  caller: string,
  id: string,
  asked: ChatRequest,
  named: string | null,
): Promise<Address | Refusal> {
  const print = printOf(asked, named);
  const known = await stored(parts, inboundKey(caller, id), asked, print);
  if (known !== null) return known;
  const options = optionsFor(asked, parts.models());
  if (options !== undefined && "status" in options) return options;
  const found = takeApart(asked.messages);
  if ("status" in found) return found;
  const session = named === null ? null : readSession(named);
  if (named !== null && session === null) return invalid("`user` must be 1 to 200 characters.", "user");
  const old = session === null ? await recognise(parts, caller, found.before, parts.rooms.isBusy) : null;
  const place = old ?? addressOf(caller, session ?? `${unnamed}${id.slice(-16)}`);
  const isNew = (await parts.archive.messagesBefore(place, null, 1)).length === 0;
  const text = isNew ? firstText(found) : found.newest.text;
  const files = await keep(parts.blobs, found.newest);
  const { accept, state } = parts.door;
  if (accept === null) return notServing(state);
  // Results of the app's own tools come with the first message.
  const carries = isNew && found.before.some(({ role }) => role === "tool");
  const said = { text, files, print, carries, options };
  const receipt = await accept(toInbound(caller, id, place, said, parts.world.now()), null);
  if (receipt === "ignored") return notLetIn;
  // Another request was faster under this key.
  const twin = receipt === "duplicate" ? await stored(parts, inboundKey(caller, id), asked, print) : null;
  return twin ?? place;
}

/** Where the answer is to what was stored under this key; null when nothing was. */
async function stored(parts: Parts, key: string, asked: ChatRequest, print: string): Promise<Address | Refusal | null> {
  const turn = await parts.store.turnBy("api", account, key);
  if (turn === null) return null;
  return (await isRepeat(parts.archive, { turn, key }, asked, print)) ? turn.input.from : anotherRequest;
}

async function keep(blobs: Blobs, { files }: Said): Promise<readonly FileRef[]> {
  const kept: FileRef[] = [];
  for (const { name, mime, bytes } of files) kept.push(await blobs.put(bytes, { name, mime }));
  return kept;
}

type Asking = Pick<Wanted, "key" | "includeUsage" | "had" | "isRepeatable"> & {
  readonly caller: string;
  readonly id: string;
  readonly place: Address;
  /** Null where the message was stored but is not to be seen yet. */
  readonly turn: Turn | null;
};

function give(parts: Parts, request: Request, isStream: boolean, asking: Asking): Promise<Response> {
  const { caller, id, place, turn, ...rest } = asking;
  const now = parts.world.now();
  const { deadline, blanksAfter, holdUntil } = patienceOf(request.headers, { isStream, holdMs: parts.holdMs, now });
  const wanted: Wanted = {
    // From the stored message, so that a repeat has the same.
    head: {
      id,
      created: Math.floor((turn?.acceptedAt ?? now) / 1000),
      model: turn?.input.options?.model ?? defaultModel,
    },
    holdUntil,
    blanksAfter,
    ...rest,
  };
  const answering: Answer = answers(parts, parts.rooms, parts.world, {
    key: inboundKey(caller, id),
    at: place,
    deadline,
  });
  if (request.signal.aborted) answering.leave();
  request.signal.addEventListener("abort", () => answering.leave(), { once: true });
  return isStream ? stream(wanted, answering) : whole(wanted, answering);
}

/** `GET /v1/chat/completions/:id`: the answer, whoever asked for it; as a stream where that is asked for. */
async function again(parts: Parts, request: Request, url: URL, caller: string, id: string): Promise<Response> {
  if (parts.door.state === "stopping") return refuse(notServing("stopping"));
  if (parts.rooms.size >= apiLimits.openMax) return refuse(tooMany("Too many requests wait for their answers."));
  const turn = await parts.store.turnBy("api", account, inboundKey(caller, id));
  if (turn === null) return refuse(notFound(`There is no answer ${id.slice(0, 64)} for this key.`));
  const mark = url.searchParams.get("after") ?? request.headers.get("last-event-id") ?? "0";
  const had = readMark(mark);
  if (had === null) return refuse(invalid("`after` must be the id of an event of this answer, or 0.", "after"));
  const asking = { caller, id, key: "", place: turn.input.from, turn, includeUsage: false, had, isRepeatable: true };
  return give(parts, request, wantsStream(url.searchParams, request.headers), asking);
}

async function messages(parts: Parts, url: URL, caller: string, given: string): Promise<Response> {
  const session = readSession(decoded(given));
  const after = Number(url.searchParams.get("after") ?? 0);
  if (session === null || !Number.isSafeInteger(after) || after < 0)
    return refuse(invalid("`after` must be the number `n` of a message, or 0.", "after"));
  const lines = await parts.archive.messagesAfter(addressOf(caller, session), after, apiLimits.pageMax + 1);
  for (const { blob } of lines.flatMap(({ files = [] }) => files)) parts.filesOf(caller).path(blob);
  const data = lines.slice(0, apiLimits.pageMax).map(toLine);
  return json({ object: "list", data, has_more: lines.length > data.length } satisfies MessagesReply);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return "";
    throw error;
  }
}

function models(parts: Parts, given: string): Response {
  const id = decoded(given);
  const all = modelIds(parts.models()).map((name) => ({
    id: name,
    object: "model",
    created: 1_767_225_600,
    owned_by: name.includes("/") ? name.slice(0, name.indexOf("/")) : "everturn",
  }));
  if (given === "") return json({ object: "list", data: all });
  const found = all.find((one) => one.id === id);
  return found === undefined ? refuse(unknownModel(id)) : json(found);
}

function json(value: unknown): Response {
  return Response.json(value, { headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" } });
}
