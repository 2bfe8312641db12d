// A file of restart counts that an earlier gateway left in the home folder: session keys and how often each was
// interrupted. It is only read and removed, never written. What is in it is not ours, so nothing of it is believed
// unseen: whatever is no count is left out, and a file that is no such list is none.

import { createHash } from "node:crypto";
import { open, rm, stat } from "node:fs/promises";

export type CountFile = {
  /** By session key. */
  readonly counts: Readonly<Record<string, number>>;
  /** Of the whole text, to know it again. */
  readonly hash: string;
  /** Whether it is gone now. */
  remove(): Promise<boolean>;
};

/** Larger than any list of conversations that were interrupted at once. */
const bytesMax = 1_048_576;

/** Null when there is nothing to read. */
export async function readCounts(file: string): Promise<CountFile | null> {
  const text = await textOf(file);
  const counts = text === null ? null : countsIn(text);
  if (text === null || counts === null) return null;
  return { counts, hash: createHash("sha256").update(text).digest("hex"), remove: () => removed(file) };
}

/** At most as much as is believable; null when there is no file, or none that can be read. */
async function textOf(file: string): Promise<string | null> {
  try {
    // Opening a pipe would last until somebody writes to it.
    if (!(await stat(file)).isFile()) return null;
    await using handle = await open(file, "r");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytesMax + 1), 0, bytesMax + 1, 0);
    return bytesRead > bytesMax ? null : buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    if (error instanceof Error && "code" in error) return null;
    throw error;
  }
}

function countsIn(text: string): Record<string, number> | null {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found !== "object" || found === null || Array.isArray(found)) return null;
    const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
    return Object.fromEntries(Object.entries(found).filter((pair): pair is [string, number] => isCount(pair[1])));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function removed(file: string): Promise<boolean> {
  try {
    await rm(file, { force: true });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}
