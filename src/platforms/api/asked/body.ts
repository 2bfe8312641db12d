// The body of a request, never more of it in memory than may be, and never more than a total for all requests together.

import { isUtf8 } from "node:buffer";
import { sentenceOf } from "../../../core/fault.ts";
import { apiLimits } from "../api.ts";
import { type Refusal, invalid, tooLarge, tooMany } from "../faults.ts";

/** Bytes of all bodies being read now. */
export type Bodies = { bytes: number };

const notUtf8 = invalid("The body must be JSON in UTF-8, and its bytes are not UTF-8.", undefined, "invalid_encoding");

export async function readBody(request: Request, bodies: Bodies): Promise<string | Refusal> {
  const { bodyMax, bodiesMax } = apiLimits;
  const announced = Number(request.headers.get("content-length") ?? bodyMax);
  const reserved = Math.min(announced, bodyMax);
  if (bodies.bytes + reserved > bodiesMax) return tooMany("Too much at once. Send this again in a moment.");
  bodies.bytes += reserved;
  try {
    const bytes = await readBytes(request, bodyMax);
    if (bytes === null)
      return tooLarge(`The body is too large: at most ${bodyMax / 1024 / 1024} MB are taken, files included.`);
    // Guessed at, it would be stored with other words than were meant.
    return isUtf8(bytes) ? new TextDecoder().decode(bytes) : notUtf8;
  } catch (error) {
    return invalid(`The body could not be read to its end: ${sentenceOf(error)}`);
  } finally {
    bodies.bytes -= reserved;
  }
}

/**
 * Null when it is larger than `max`. Some of the rest is read and thrown away, because most clients do not look at an
 * answer that comes while they still send.
 */
async function readBytes(request: Request, max: number): Promise<Buffer | null> {
  let chunks: Uint8Array[] | null = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > max) chunks = null;
    if (size > 2 * max) break;
    chunks?.push(chunk as Uint8Array);
  }
  return chunks === null ? null : Buffer.concat(chunks);
}
