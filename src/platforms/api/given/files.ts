// A file that came with an answer, as an attachment.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { Fault } from "../../../core/fault.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import { notFound, refuse } from "../faults.ts";

export async function give(blobs: Blobs, blob: string, query: URLSearchParams): Promise<Response> {
  const size = await sizeOf(blobs, blob);
  if (size === null) return refuse(notFound("There is no such file."));
  const name = encodeURIComponent((query.get("name") ?? "file").slice(0, 200).toWellFormed());
  const content = Readable.toWeb(createReadStream(blobs.path(blob))) as ReadableStream<Uint8Array<ArrayBuffer>>;
  return new Response(content, {
    headers: {
      "content-type": "application/octet-stream",
      "content-length": String(size),
      "content-disposition": `attachment; filename*=UTF-8''${name.replaceAll("'", "%27")}`,
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "private, max-age=31536000, immutable",
    },
  });
}

async function sizeOf(blobs: Blobs, blob: string): Promise<number | null> {
  try {
    const found = await stat(blobs.path(blob));
    return found.isFile() ? found.size : null;
  } catch (error) {
    if (error instanceof Fault && error.code === "not-found") return null;
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
