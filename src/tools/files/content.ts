// Opening and reading files that somebody else named. Only plain files are opened, so that no pipe or device can hold us for
// ever, and never those that this process must not open: closing any descriptor of a database drops its locks.

import { type Hash, createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { Fault } from "../../core/fault.ts";
import type { Place } from "./place.ts";

/** Files that this process must not open, whatever name leads to them. */
export type Untouchable = readonly string[];

export type Facts = { readonly bytes: number; readonly mode: number; readonly uid: number; readonly gid: number };
export type Opened = { readonly handle: FileHandle; readonly facts: Facts };

// Windows knows neither; there is nothing to wait for either.
const careful = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
const chunkBytes = 64 * 1024;
/** What is looked at to tell text from anything else. */
const headBytes = 8 * 1024;

/** `real` has no link in it. Whoever opens it closes it. */
export async function openPlain({ real, shown }: Place, untouchable: Untouchable): Promise<Opened> {
  await refuseUntouchable(real, shown, untouchable);
  // Looked at before it is opened: opening some devices already does something.
  refuseOddities(await stat(real), shown);
  const handle = await open(real, careful);
  try {
    const found = await handle.stat();
    refuseOddities(found, shown);
    const { size: bytes, mode, uid, gid } = found;
    return { handle, facts: { bytes, mode, uid, gid } };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** By what they are, not by their names: a hard link is the same file. */
async function refuseUntouchable(real: string, shown: string, untouchable: Untouchable): Promise<void> {
  const [mine, ...others] = await Promise.all([real, ...untouchable].map(identityOf));
  if (!untouchable.includes(real) && (mine === null || mine === undefined || !others.includes(mine))) return;
  throw new Fault("not-possible", `${shown} belongs to the running gateway and cannot be used by tools.`);
}

async function identityOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  return found === null ? null : `${found.dev}:${found.ino}`;
}

type Kind = { isFile(): boolean; isDirectory(): boolean };

function refuseOddities(found: Kind, shown: string): void {
  if (found.isFile()) return;
  const what = found.isDirectory()
    ? "is a folder; search_files lists what is in it"
    : "is a device, a pipe or a socket, not a file";
  throw new Fault("not-possible", `${shown} ${what}.`);
}

/** The pieces of an open file. A file that grows while it is read ends where it ended at first, or at `max`. */
export async function* piecesOf(handle: FileHandle, max: number, signal?: AbortSignal): AsyncGenerator<Buffer> {
  let at = 0;
  while (at < max) {
    signal?.throwIfAborted();
    const piece = Buffer.allocUnsafe(Math.min(chunkBytes, max - at));
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

export type Whole = { readonly bytes: Buffer; readonly facts: Facts };

/** All of a file; null when there is none. Rejects with a Fault when it is larger than `max`. */
export async function readWhole(place: Place, untouchable: Untouchable, max: number): Promise<Whole | null> {
  const opened = await openPlain(place, untouchable).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (opened === null) return null;
  await using handle = opened.handle;
  const pieces = await Array.fromAsync(piecesOf(handle, max + 1));
  const bytes = Buffer.concat(pieces);
  if (bytes.length > max) throw new Fault("too-large", `${place.shown} is larger than ${sizeText(max)}.`);
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

/** Null when it is not UTF-8: writing it back would change what nobody asked to change. */
export function exactText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

export function sizeText(bytes: number): string {
  if (bytes < 10_000) return `${bytes} bytes`;
  return bytes < 10_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}
