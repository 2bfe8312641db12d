// Attachments of a message, fetched before it is handed over. One that cannot be had, also not at the third try, becomes
// words; the message goes on. One that our own disk refuses keeps its message back: it comes again.

import { Fault, sentenceOf } from "../../../core/fault.ts";
import { later } from "../../../core/ids.ts";
import type { FileRef } from "../../../core/message.ts";
import { contentOf } from "../../../ports/content.ts";
import type { Surroundings } from "../../../ports/platform.ts";
import type { APIAttachment } from "discord-api-types/v10";
import type { Attached } from "../inbound.ts";

/** What is announced as larger is not even begun; whatever was announced, the store of files takes no more. */
const bytesMax = 50 * 1024 * 1024;
const fetchMs = 60_000;
const triesMax = 3;
const pauseMs = 500;

export async function fetchAttached(
  attachments: readonly APIAttachment[],
  around: Surroundings,
  signal: AbortSignal,
): Promise<Attached> {
  const files: FileRef[] = [];
  const missing: string[] = [];
  for (const one of attachments) {
    const got = await fetchPatiently(one, around, signal);
    if (typeof got === "string") missing.push(`[The file ${one.filename} could not be had: ${got}.]`);
    else files.push(got);
  }
  signal.throwIfAborted();
  return { files, missing };
}

/** The file, or why not. */
async function fetchPatiently(
  one: APIAttachment,
  around: Surroundings,
  signal: AbortSignal,
): Promise<FileRef | string> {
  if (one.size > bytesMax) return `it is larger than ${bytesMax / 1024 / 1024} MB`;
  const { world } = around;
  for (let tries = 1; ; tries++) {
    try {
      return await fetchOne(one, around, signal);
    } catch (error) {
      if (error instanceof Fault && error.code.startsWith("store-")) throw error;
      const isFinal = error instanceof Fault || signal.aborted;
      if (isFinal || tries >= triesMax) return sentenceOf(error).replace(/\.$/, "");
      await world.sleep(later(world.now(), pauseMs * tries), signal);
    }
  }
}

/** A Fault where another try is of no use. */
async function fetchOne(one: APIAttachment, { blobs }: Surroundings, signal: AbortSignal): Promise<FileRef> {
  const answer = await fetch(one.url, { signal: AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]) });
  if (answer.ok) return blobs.put(contentOf(answer), { name: one.filename, mime: mimeOf(one) });
  await answer.body?.cancel();
  const why = `Discord answered with ${answer.status}`;
  const isOver = answer.status < 500 && answer.status !== 429;
  throw isOver ? new Fault("not-found", why) : new Error(why);
}

function mimeOf({ content_type }: APIAttachment): string {
  return content_type?.split(";")[0]?.trim() || "application/octet-stream";
}
