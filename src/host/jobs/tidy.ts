// What is kept of jobs that have ended: the newest, for a while, within bounds of number and size. Never on the path of a
// turn; a folder that is in use is not touched.

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { namesIn } from "./end.ts";
import { isHeld, isJobId, removeFolder } from "./folder.ts";

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

export async function tidyJobs(folder: string, now: number): Promise<void> {
  const names = await namesIn(folder);
  // Half removed by somebody who died over it.
  for (const name of names.filter((one) => one.endsWith(".gone"))) await removeFolder(join(folder, name));
  const kept: Kept[] = [];
  for (const name of names.filter(isJobId)) {
    if (!(await isHeld(join(folder, name)))) kept.push({ name, ...(await measure(join(folder, name))) });
  }
  for (const name of outdated(kept, now)) await removeFolder(join(folder, name));
}

async function measure(folder: string): Promise<{ readonly at: number; readonly bytes: number }> {
  const files = await Promise.all(["", ...(await readdir(folder))].map((name) => stat(join(folder, name))));
  const at = Math.max(0, ...files.map((file) => file.mtimeMs));
  return { at, bytes: files.reduce((sum, file) => sum + file.size, 0) };
}
