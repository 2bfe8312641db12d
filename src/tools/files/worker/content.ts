// Opening and reading files that a model named. Only plain files are opened, so that no pipe or device holds up the worker.

import { type Hash, createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { Fault } from "../../../core/fault.ts";
import { sizeText } from "../../size.ts";
import type { FileScope } from "../protocol.ts";
import { checkReach, isMissing, missingSentence, realPathOf, shownPath } from "./paths.ts";

export type FileFacts = { readonly bytes: number; readonly mode: number; readonly uid: number; readonly gid: number };
export type OpenFile = {
  readonly handle: FileHandle;
  readonly facts: FileFacts;
  readonly real: string;
  readonly shown: string;
};

// Windows knows no such flag; there is nothing to wait for either.
const careful = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const chunkBytes = 64 * 1024;
/** What is looked at to tell text from anything else. */
const headBytes = 8 * 1024;

/** The caller closes it. `at` is where to open it, where that differs from its path. */
export async function openPlain(scope: FileScope, path: string, at: string = path): Promise<OpenFile> {
  const asked = shownPath(scope, path);
  // Looked at before it is opened: opening some devices already does something.
  refuseOddities(await stat(at), asked);
  const handle = await open(at, careful);
  try {
    const real = await realPathOf(handle, path);
    checkReach(scope, real, asked);
    const found = await handle.stat();
    refuseOddities(found, asked);
    const { size: bytes, mode, uid, gid } = found;
    return { handle, real, shown: shownPath(scope, real), facts: { bytes, mode, uid, gid } };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The same, and where there is nothing it says why. */
export async function openExisting(scope: FileScope, path: string): Promise<OpenFile> {
  try {
    return await openPlain(scope, path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Fault("not-found", await missingSentence(scope, path), error);
  }
}

type FileKind = { isFile(): boolean; isDirectory(): boolean };

function refuseOddities(found: FileKind, shown: string): void {
  if (found.isFile()) return;
  const what = found.isDirectory()
    ? "is a folder; search_files lists what is in it"
    : "is a device, a pipe or a socket, not a file";
  throw new Fault("not-possible", `${shown} ${what}.`);
}

/** The pieces of an open file, at most `max` bytes. */
export async function* piecesOf(
  handle: FileHandle,
  max: number,
  signal?: AbortSignal,
  size: number = chunkBytes,
): AsyncGenerator<Buffer> {
  let at = 0;
  while (at < max) {
    signal?.throwIfAborted();
    const piece = Buffer.allocUnsafe(Math.min(size, max - at));
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

export type WholeFile = { readonly bytes: Buffer; readonly facts: FileFacts };

/** All of a file; null when there is none. Rejects with a Fault when it is larger than `max`. */
export async function readWhole(scope: FileScope, path: string, max: number): Promise<WholeFile | null> {
  let opened: OpenFile;
  try {
    opened = await openPlain(scope, path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  await using handle = opened.handle;
  const bytes = Buffer.concat(await Array.fromAsync(piecesOf(handle, max + 1)));
  if (bytes.length > max) throw new Fault("too-large", `${opened.shown} is larger than ${sizeText(max)}.`);
  return { bytes, facts: opened.facts };
}

export function hashOf(bytes: Uint8Array): string {
  return newHash().update(bytes).digest("hex");
}

export function newHash(): Hash {
  return createHash("sha256");
}

export function looksBinary(head: Uint8Array): boolean {
  return head.subarray(0, headBytes).includes(0);
}

/** Null when it is not UTF-8: writing it back would change bytes that the edit does not name. */
export function exactText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
