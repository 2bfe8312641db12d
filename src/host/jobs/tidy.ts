// What is kept of jobs that have ended: the newest, for a while, within bounds of number and size. Never on the path of a
// turn; a folder that is in use is not touched, nor one whose turn has not ended, because its result may be in no journal
// yet. So a call that was begun and has no folder never happened, with one exception: the folders went together, by hand or
// because a store was brought back without them. Since when they are whole stands in `since`, which goes with them.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { namesIn } from "./end.ts";
import { isHeld, isJobId, readJob, removeFolder } from "./folder.ts";

export type Kept = {
  readonly name: string;
  /** When it was last written to. */
  readonly at: number;
  readonly bytes: number;
};

export const keepMs = 7 * 24 * 3_600_000;
export const keepMax = 200;
export const keepBytes = 512 * 1024 * 1024;

/** Which of them are too old, or too many, or too large together; the newest stay. */
export function outdated(all: readonly Kept[], now: number): readonly string[] {
  let bytes = 0;
  return all
    .toSorted((a, b) => b.at - a.at)
    .filter((one, i) => {
      bytes += one.bytes;
      return now - one.at > keepMs || i >= keepMax || bytes > keepBytes;
    })
    .map((one) => one.name);
}

/** Whether the turn of a key goes on or will; whoever does not know any turns has none to wait for. */
export type IsOpen = (key: string) => Promise<boolean>;

export async function tidyJobs(folder: string, now: number, isOpen: IsOpen = async () => false): Promise<void> {
  const names = await namesIn(folder);
  // Half removed by somebody who died over it.
  for (const name of names.filter((one) => one.endsWith(".gone"))) await removeFolder(join(folder, name));
  const kept: Kept[] = [];
  for (const name of names.filter(isJobId)) {
    if (!(await isHeld(join(folder, name)))) kept.push({ name, ...(await measure(join(folder, name))) });
  }
  for (const name of outdated(kept, now)) {
    const job = await readJob(join(folder, name));
    if (job === null || !(await isOpen(job.key))) await removeFolder(join(folder, name));
  }
}

/**
 * Since when every job that began has left a folder here, but for those that were tidied away. A mark that is missing is
 * made anew: whatever began before may have lost its folder together with it.
 */
export function keptSince(folder: string, now: () => number): number {
  const path = join(folder, sinceName);
  const at = Number(textOf(path));
  if (Number.isSafeInteger(at) && at > 0) return at;
  const from = now();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path, String(from), { mode: 0o600, flush: true });
  return from;
}

/** Whoever brings a store back removes it from the folder of jobs. */
export const sinceName = "since";

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

async function measure(folder: string): Promise<{ readonly at: number; readonly bytes: number }> {
  const files = await Promise.all(["", ...(await readdir(folder))].map((name) => stat(join(folder, name))));
  const at = Math.max(0, ...files.map((file) => file.mtimeMs));
  return { at, bytes: files.reduce((sum, file) => sum + file.size, 0) };
}
