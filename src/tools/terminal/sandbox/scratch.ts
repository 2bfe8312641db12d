// The /tmp of a conversation: a folder of its own below the home, so that what one command leaves there the next one finds,
// and nobody else does. Those that were not used for days are removed, now and then, and nobody waits for that.

import { createHash } from "node:crypto";
import { mkdir, readdir, realpath, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

/** Longer than any command may run. */
export const keepMs = 7 * 24 * 3_600_000;
const tidyEveryMs = 3_600_000;

export type Scratch = {
  /** Makes it where it is missing; absolute, with links resolved. */
  folderFor(place: string): Promise<string>;
};

export function openScratch(home: string, now: () => number = Date.now): Scratch {
  const all = join(home, "tmp");
  let tidiedAt = 0;
  return {
    async folderFor(place) {
      const folder = join(all, createHash("sha256").update(place).digest("hex").slice(0, 16));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const seconds = now() / 1_000;
      await utimes(folder, seconds, seconds);
      if (now() - tidiedAt >= tidyEveryMs) {
        tidiedAt = now();
        // It is done again later, so nothing is lost when it fails.
        void Promise.allSettled([tidyScratch(all, now())]);
      }
      return realpath(folder);
    },
  };
}

export async function tidyScratch(all: string, now: number): Promise<void> {
  const names = await readdir(all);
  // One that a command has closed to us does not keep the others.
  await Promise.allSettled(
    names.map(async (name) => {
      const folder = join(all, name);
      if (now - (await stat(folder)).mtimeMs > keepMs) await rm(folder, { recursive: true, force: true });
    }),
  );
}
