// Whether a request under a known key is the one that was stored under it. What was asked is stored as a digest with the
// message, in the same commit; how the answer is given, as a stream or whole, is no part of it.

import { createHash } from "node:crypto";
import type { Turn } from "../../../core/turn.ts";
import { type ChatRequest, defaultModel } from "../api.ts";
import type { Reading } from "../given/answers.ts";
import { lineOf } from "../given/following.ts";
import { firstText, takeApart } from "../inbound.ts";

/** Of the messages with the bytes of their files, the conversation they are for, and what else is asked of the model. */
export function printOf({ messages, model, options }: ChatRequest, session: string | null): string {
  const hash = createHash("sha256").update(JSON.stringify(session));
  // Nothing of it where nothing was asked for: digests that are stored already stay as they are.
  const more = { ...(model === defaultModel ? {} : { model }), ...options };
  const named = Object.entries(more).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (named.length > 0) hash.update(JSON.stringify(named));
  for (const { role, text, files } of messages) {
    const heads = files.map(({ name, mime, bytes }) => [name, mime, bytes.byteLength]);
    hash.update(JSON.stringify([role, text, heads]));
    for (const { bytes } of files) hash.update(bytes);
  }
  return hash.digest("base64url");
}

type Stored = { readonly turn: Turn; readonly key: string };

export async function isRepeat(
  archive: Reading["archive"],
  { turn, key }: Stored,
  asked: ChatRequest,
  print: string,
): Promise<boolean> {
  const { input } = turn;
  if (input.key === key) {
    const stored = input.hints?.["asked"];
    // Without one it was stored before there were digests.
    return stored === undefined || stored === print;
  }
  // What answers a question belongs to the turn that asked, and only its words stand in the transcript.
  const line = await lineOf(archive, input.from, key);
  const found = takeApart(asked.messages);
  if (line === null) return true;
  return !("status" in found) && (line.text === found.newest.text || line.text === firstText(found));
}
