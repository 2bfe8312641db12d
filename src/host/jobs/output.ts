// Where the bytes that a job said lie. The beginning is in `output`, then come pieces of one size of which only the last
// two are kept. The file of a byte follows from its number, so a reader needs nothing but the folder.

import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Output } from "../../ports/jobs.ts";

/** The same numbers are in bin/hold.js. */
export const headBytes = 8 * 1024 * 1024;
export const pieceBytes = 1024 * 1024;

export type Piece = {
  readonly name: string;
  /** The number of its first byte. */
  readonly start: number;
  readonly size: number;
};

/** Null for a file that holds no output. */
export function pieceOf(name: string, size: number): Piece | null {
  if (name === "output") return { name, start: 0, size };
  const [, number] = /^output\.([1-9]\d*)$/.exec(name) ?? [];
  return number === undefined ? null : { name, start: headBytes + (Number(number) - 1) * pieceBytes, size };
}

/** What to read of which file for at most `max` bytes from a place on; a gap ends the stretch. */
export function stretch(
  pieces: readonly Piece[],
  from: number,
  max: number,
): { readonly from: number; readonly total: number; readonly parts: readonly (Piece & { readonly skip: number })[] } {
  const sorted = pieces.toSorted((a, b) => a.start - b.start);
  const total = sorted.reduce((most, piece) => Math.max(most, piece.start + piece.size), 0);
  const wanted = from < 0 ? Math.max(0, total + from) : Math.min(from, total);
  const first = sorted.find((piece) => piece.start + piece.size > wanted);
  if (first === undefined) return { from: total, total, parts: [] };
  const begin = Math.max(wanted, first.start);
  const parts: (Piece & { skip: number })[] = [];
  let at = begin;
  for (const piece of sorted) {
    if (piece.start > at || piece.start + piece.size <= at || at - begin >= max) continue;
    const skip = at - piece.start;
    const size = Math.min(piece.size - skip, max - (at - begin));
    parts.push({ ...piece, skip, size });
    at += size;
  }
  return { from: begin, total, parts };
}

export async function readOutput(folder: string, from: number, max: number): Promise<Output> {
  const names = (await readdir(folder)).filter((name) => pieceOf(name, 0) !== null);
  const pieces = await Promise.all(names.map(async (name) => pieceOf(name, await sizeOf(join(folder, name)))));
  const plan = stretch(
    pieces.filter((piece) => piece !== null),
    from,
    max,
  );
  const parts: Uint8Array[] = [];
  for (const part of plan.parts) {
    const bytes = await readPart(join(folder, part.name), part.skip, part.size);
    parts.push(bytes);
    // It was replaced while we read: what follows would not belong to it.
    if (bytes.length < part.size) break;
  }
  return { from: plan.from, bytes: Buffer.concat(parts), total: plan.total };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    // An older piece that was just taken away.
    if (error instanceof Error && "code" in error) return 0;
    throw error;
  }
}

async function readPart(path: string, skip: number, size: number): Promise<Uint8Array> {
  try {
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, skip);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (error instanceof Error && "code" in error) return new Uint8Array();
    throw error;
  }
}
