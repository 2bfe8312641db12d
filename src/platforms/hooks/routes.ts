// `POST /hooks/:name`: the signature is checked over the bytes as they came, before anything in them is believed. Whoever
// gets 200 or 202 may forget the message: it is stored.

import { Fault, sentenceOf } from "../../core/fault.ts";
import type { FileRef } from "../../core/message.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Accept } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import { type Hook, type HookReply, hookLimits } from "./api.ts";
import { type Refusal, badRequest, notServing, refusalOf, refuse, tooLarge, tooMany, unsigned } from "./faults.ts";
import { readCall, toInbound } from "./inbound.ts";
import { verify } from "./signature.ts";

/** Whether messages can be taken now, and if not, whether not yet or no more. */
export type Door = { accept: Accept | null; state: "starting" | "stopping" };

export type Parts = {
  readonly hooks: readonly Hook[];
  readonly door: Door;
  readonly blobs: Blobs;
  readonly world: Pick<World, "now">;
  /** Bytes of all bodies being read now. */
  readonly bodies: { bytes: number };
};

export async function answer(parts: Parts, request: Request): Promise<Response> {
  try {
    return await take(parts, request);
  } catch (error) {
    if (error instanceof Fault) return refuse(refusalOf(error));
    throw error;
  }
}

async function take(parts: Parts, request: Request): Promise<Response> {
  const { door, world, blobs } = parts;
  const path = new URL(request.url).pathname.split("/").slice(2);
  const hook = path.length === 1 ? parts.hooks.find(({ name }) => name === path[0]) : undefined;
  if (hook === undefined) return refuse({ status: 404, code: "not-found", message: "There is no such hook." });
  if (request.method !== "POST")
    return refuse({ status: 405, code: "method-not-allowed", message: "This address takes POST." });
  if (door.accept === null) return refuse(notServing(door.state));
  const body = await readBody(request, parts.bodies);
  if ("status" in body) return refuse(body);
  const verdict = verify(hook.style, hook.secret, request.headers, body, world.now());
  if (verdict.type === "refused") return refuse(unsigned(verdict.why));
  const call = readCall(hook, request.headers, body, verdict.print);
  if ("status" in call) return refuse(call);
  const files: FileRef[] = [];
  for (const { name, mime, bytes } of call.files) files.push(await blobs.put(bytes, { name, mime }));
  const { accept, state } = door;
  if (accept === null) return refuse(notServing(state));
  const status = await accept(toInbound(hook, call, files, world.now()), null);
  if (status === "ignored")
    return refuse({ status: 403, code: "not-allowed", message: "This sender may not speak here." });
  const reply: HookReply = { status, id: call.id };
  return Response.json(reply, { status: status === "accepted" ? 202 : 200, headers: { "cache-control": "no-store" } });
}

/** Counted as it comes: whoever only announces much holds nobody up. */
async function readBody(request: Request, bodies: { bytes: number }): Promise<Uint8Array | Refusal> {
  const { bodyMax, bodiesMax } = hookLimits;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      bodies.bytes += chunk.byteLength;
      if (bodies.bytes > bodiesMax) return tooMany("Too much at once. Send this again in a moment.");
      // Some of the rest is read, because most clients only then look at the answer.
      if (size > 2 * bodyMax) break;
      if (size <= bodyMax) chunks.push(chunk as Uint8Array);
    }
    return size > bodyMax ? tooLarge : Buffer.concat(chunks);
  } catch (error) {
    return badRequest(`The body could not be read to its end: ${sentenceOf(error)}`);
  } finally {
    bodies.bytes -= size;
  }
}
