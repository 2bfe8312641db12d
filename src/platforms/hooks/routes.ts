// `POST /hooks/:name`: the signature is checked over the bytes as they came, before anything in them is believed. Whoever
// gets 200 or 202 may forget the message: it is stored.

import { Fault } from "../../core/fault.ts";
import { Bug } from "../../core/ids.ts";
import type { FileRef } from "../../core/message.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Accept } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import type { Hook, HookReply } from "./api.ts";
import { notServing, refusalOf, refuse, unsigned } from "./faults.ts";
import { readCall, toInbound } from "./inbound.ts";
import { verify } from "./signature.ts";

/** Whether messages can be taken now, and if not, whether not yet or no more. */
export type Door = { accept: Accept | null; state: "starting" | "stopping" };

export type Parts = {
  readonly hooks: readonly Hook[];
  readonly door: Door;
  readonly blobs: Blobs;
  readonly world: Pick<World, "now">;
};

export async function answer(parts: Parts, request: Request): Promise<Response> {
  try {
    return await take(parts, request);
  } catch (error) {
    if (error instanceof Fault) return refuse(refusalOf(error));
    throw error;
  }
}

/** Refused by address and moment alone, before anything of the body is read. */
export function admit(parts: Pick<Parts, "hooks" | "door">, request: Request): Response | null {
  const { door } = parts;
  if (hookOf(parts.hooks, request) === undefined)
    return refuse({ status: 404, code: "not-found", message: "There is no such hook." });
  if (request.method !== "POST")
    return refuse({ status: 405, code: "method-not-allowed", message: "This address takes POST." });
  return door.accept === null ? refuse(notServing(door.state)) : null;
}

function hookOf(hooks: readonly Hook[], request: Request): Hook | undefined {
  const path = new URL(request.url).pathname.split("/").slice(2);
  return path.length === 1 ? hooks.find(({ name }) => name === path[0]) : undefined;
}

async function take(parts: Parts, request: Request): Promise<Response> {
  const { door, world, blobs } = parts;
  const refused = admit(parts, request);
  if (refused !== null) return refused;
  const hook = hookOf(parts.hooks, request);
  if (hook === undefined) throw new Bug("an admitted call is for a hook");
  const body = new Uint8Array(await request.arrayBuffer());
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
