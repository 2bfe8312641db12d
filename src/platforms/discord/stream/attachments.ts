// Attachments of a message, fetched before it is handed over. One that cannot be had becomes words; the message goes on.

import { sentenceOf } from "../../../core/fault.ts";
import type { FileRef } from "../../../core/message.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import type { APIAttachment } from "discord-api-types/v10";
import type { Attached } from "../inbound.ts";

const bytesMax = 50 * 1024 * 1024;
const fetchMs = 60_000;

export async function fetchAttached(
  attachments: readonly APIAttachment[],
  blobs: Blobs,
  signal: AbortSignal,
): Promise<Attached> {
  const files: FileRef[] = [];
  const missing: string[] = [];
  for (const one of attachments) {
    const got = await fetchOne(one, blobs, signal);
    if (typeof got === "string") missing.push(`[The file ${one.filename} could not be had: ${got}.]`);
    else files.push(got);
  }
  signal.throwIfAborted();
  return { files, missing };
}

/** The file, or why not. */
async function fetchOne(one: APIAttachment, blobs: Blobs, signal: AbortSignal): Promise<FileRef | string> {
  if (one.size > bytesMax) return `it is larger than ${bytesMax / 1024 / 1024} MB`;
  try {
    const answer = await fetch(one.url, { signal: AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]) });
    if (!answer.ok || answer.body === null) return `Discord answered with ${answer.status}`;
    return await blobs.put(bounded(answer.body), { name: one.filename, mime: mimeOf(one) });
  } catch (error) {
    return sentenceOf(error).replace(/\.$/, "");
  }
}

function mimeOf({ content_type }: APIAttachment): string {
  return content_type?.split(";")[0]?.trim() || "application/octet-stream";
}

/** Whatever was announced, no more than the limit is read. */
async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new Error(`it is larger than ${bytesMax / 1024 / 1024} MB`);
    yield chunk;
  }
}
