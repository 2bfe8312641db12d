// The files that people send and get, as files of their own: named by the digest of their content, so that the same bytes are
// kept once, a repeat is harmless and damage is seen. What `put` gave back is on the disk.
// What people send and get belongs to their conversations and stays. What makes files without a person is bounded: each
// file, and all that the tools of one turn want kept, since a model in a circle could otherwise fill the disk. Long texts
// that a request has no room for are results, which have their own bounds. Halves that a death left go at the first use.

import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault, sentenceOf } from "../../core/fault.ts";
import type { FileRef } from "../../core/message.ts";
import type { Blobs } from "../../ports/blobs.ts";
import { safeName } from "./name.ts";
import { lost, placeOf } from "./place.ts";
import { type BlobLimits, type Room, roomFor } from "./room.ts";

const abandonedMs = 24 * 3_600_000;
export const blobLimits: BlobLimits = { bytesMax: 50_000_000, turnBytesMax: 500_000_000 };

/** Makes the folder when something is put into it for the first time. */
export function openBlobs(folder: string, limits: BlobLimits = blobLimits): Blobs {
  const path = (blob: string): string => placeOf(folder, blob);
  const tidy = once(() => dropAbandoned(folder));
  const roomOf = roomFor(limits);
  return {
    path,
    put: (content, as) =>
      keep(folder, content, roomOf(as.turn), tidy).then(
        ({ blob, bytes }): FileRef => ({ name: safeName(as.name), mime: safeMime(as.mime), blob, bytes }),
      ),
    async read(blob) {
      const bytes = await readFile(path(blob)).catch((error: unknown) => {
        throw codeOf(error) === "ENOENT" ? lost(blob) : refused(folder, error);
      });
      if (createHash("sha256").update(bytes).digest("hex") !== blob) throw damaged(path(blob));
      return bytes;
    },
  };
}

async function keep(
  folder: string,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  room: Room,
  tidy: () => Promise<void>,
): Promise<{ readonly blob: string; readonly bytes: number }> {
  const draft = join(folder, `${randomUUID()}.tmp`);
  try {
    await makeFolder(folder);
    await tidy();
    const kept = await written(draft, content, room);
    await moveInto(draft, placeOf(folder, kept.blob));
    return kept;
  } catch (error) {
    await rm(draft, { force: true });
    room.giveBack();
    // What the sender's own stream failed with, an abort for example, is not ours to translate.
    throw codeOf(error) === null ? error : refused(folder, error);
  }
}

async function written(
  draft: string,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  room: Room,
): Promise<{ readonly blob: string; readonly bytes: number }> {
  await using handle = await open(draft, "wx", 0o600);
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of content instanceof Uint8Array ? [content] : content) {
    bytes += piece.length;
    room.take(piece.length);
    hash.update(piece);
    await writeAll(handle, piece);
  }
  await handle.sync();
  return { blob: hash.digest("hex"), bytes };
}

async function writeAll(handle: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at)).bytesWritten;
}

/** Content that is there already is replaced by the same: should it have been damaged, it is whole again. */
async function moveInto(draft: string, place: string): Promise<void> {
  await makeFolder(dirname(place));
  await rename(draft, place);
  await syncFolder(dirname(place));
}

/** What a death left half written. Nobody writes for that long, not even another process. */
async function dropAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".tmp")) continue;
    const draft = join(folder, name);
    // Whose work is done meanwhile has taken its draft away.
    const found = await stat(draft).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return null;
      throw error;
    });
    if (found !== null && found.mtimeMs < Date.now() - abandonedMs) await rm(draft, { force: true });
  }
}

/** What failed is tried again by whoever comes next. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = null;
      throw error;
    });
    return done;
  };
}

async function makeFolder(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncFolder(dirname(made));
}

/** Makes a name in a folder last. Windows cannot open folders, and keeps names by itself. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  await using handle = await open(path, "r");
  await handle.sync();
}

function safeMime(mime: string): string {
  const kind = (mime.split(";", 1)[0] ?? "").trim().toLowerCase();
  return /^[\w.+-]+\/[\w.+-]+$/.test(kind) && kind.length <= 100 ? kind : "application/octet-stream";
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && "syscall" in error ? String(error.code) : null;
}

function damaged(path: string): Fault {
  return new Fault("store-failed", `${path} is damaged: it is not what was stored there. Bring it back from a backup.`);
}

function refused(folder: string, error: unknown): Fault {
  const isFull = ["ENOSPC", "EDQUOT"].includes(codeOf(error) ?? "");
  const todo = isFull ? "make room on the disk" : "check that the folder belongs to this user";
  return new Fault(
    isFull ? "store-full" : "store-failed",
    `${folder} cannot be used (${sentenceOf(error)}); ${todo}.`,
    error,
  );
}
