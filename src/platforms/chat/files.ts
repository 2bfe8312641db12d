// Files of a conversation over HTTP: streamed in, streamed out, never whole in memory. What people send is shown as a
// picture at most; nothing of it can become a page or a script of ours. Loaded at the first file.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { Fault } from "../../core/fault.ts";
import type { FileRef, Inbound } from "../../core/message.ts";
import type { Blobs } from "../../ports/blobs.ts";
import { BodyTooLarge } from "../../ports/http.ts";
import { type FileReply, chatLimits } from "./api.ts";
import { type Refusal, badRequest, refuse, tooLarge, tooMany } from "./faults.ts";

/** Files being received now. */
export type Uploads = { count: number };

/** Pictures that browsers draw without running anything; SVG is a document and not among them. */
const shownTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

export async function receive(
  blobs: Blobs,
  uploads: Uploads,
  request: Request,
  query: URLSearchParams,
): Promise<Response> {
  const name = query.get("name") ?? "";
  if (name.trim() === "") return refuse(badRequest("Give the name of the file as `name`."));
  if (request.body === null) return refuse(badRequest("The body is empty; it must be the file itself."));
  if (uploads.count >= chatLimits.uploadsMax)
    return refuse(tooMany("Too many files at once. Send this one again in a moment."));
  uploads.count++;
  try {
    const mime = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim() ?? "";
    const file = await blobs.put(request.body, { name, mime });
    return Response.json({ file } satisfies FileReply, { headers: { "cache-control": "no-store" } });
  } catch (error) {
    if (error instanceof BodyTooLarge) return refuse(fileTooLarge());
    if (error instanceof Fault) throw error;
    return refuse(badRequest("The file broke off before its end; nothing was kept. Send it again."));
  } finally {
    uploads.count--;
  }
}

/** As an attachment; a picture also in its place, where that is wanted and its kind is harmless. */
export async function give(blobs: Blobs, blob: string, query: URLSearchParams): Promise<Response> {
  const found = await sizeOf(blobs, blob);
  if (found === null) return refuse(missing(blob));
  const type = query.get("type") ?? "";
  const shown = query.get("show") === "1" && shownTypes.has(type);
  const name = query.get("name") ?? "file";
  return new Response(Readable.toWeb(createReadStream(blobs.path(blob))) as ReadableStream<Uint8Array<ArrayBuffer>>, {
    headers: {
      "content-type": shown ? type : "application/octet-stream",
      "content-length": String(found),
      "content-disposition": `${shown ? "inline" : "attachment"}; filename*=UTF-8''${encodeName(name)}`,
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      // The same name is always the same content, but the signature in an address holds for minutes only.
      "cache-control": "private, max-age=600",
    },
  });
}

/** A message may only name files that are here; their sizes are what they are, whatever it says. */
export async function withFiles(blobs: Blobs | undefined, inbound: Inbound): Promise<Inbound | Refusal> {
  const { body } = inbound;
  if (body.kind !== "text") return inbound;
  const files: FileRef[] = [];
  for (const file of body.files) {
    const bytes = blobs === undefined ? null : await sizeOf(blobs, file.blob);
    if (bytes === null) return { ...missing(file.blob), status: 400, code: "bad-request" };
    files.push({ ...file, bytes });
  }
  return { ...inbound, body: { ...body, files } };
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

function fileTooLarge(): Refusal {
  return tooLarge("The file", `${chatLimits.fileMax / 1_000_000} MB`);
}

function missing(blob: string): Refusal {
  const message = `There is no file ${blob.replaceAll(/[^\w-]/g, "_").slice(0, 64)} here. Upload it first.`;
  return { status: 404, code: "not-found", message };
}

/** As headers want it: every byte that is no plain letter is escaped. */
function encodeName(name: string): string {
  return encodeURIComponent(name.slice(0, 200).toWellFormed()).replaceAll(/['()*]/g, (sign) => {
    return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}
