// What a worker says, checked before it is believed: it lives among programs that an agent wrote. Pure.

import * as v from "valibot";
import type { FileReply } from "./protocol.ts";

const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const sentence = v.pipe(v.string(), v.maxLength(20_000));
const id = v.pipe(v.number(), v.safeInteger());

const replySchema = v.variant("type", [
  v.strictObject({ id, type: v.literal("text") }),
  v.strictObject({ id, type: v.literal("chunk") }),
  v.strictObject({ id, type: v.literal("sent") }),
  v.strictObject({ id, type: v.literal("planned"), before: v.nullable(digest), after: digest, says: sentence }),
  v.strictObject({ id, type: v.literal("changed") }),
  v.strictObject({ id, type: v.literal("digest"), digest: v.nullable(digest) }),
  v.strictObject({ id, type: v.literal("seen"), isThere: v.boolean(), own: v.nullable(v.picklist(["home", "tmp"])) }),
  v.strictObject({ id, type: v.literal("failed"), why: sentence }),
]);

/** Null for anything but a reply. */
export function parseReply(head: unknown): { readonly id: number; readonly reply: FileReply } | null {
  const parsed = v.safeParse(replySchema, head);
  if (!parsed.success) return null;
  const { id: of, ...reply } = parsed.output;
  return { id: of, reply };
}
