// The stored files as one person's tools see them: those of their own conversations, in a folder that holds nothing of
// others. A file is linked there when its path is handed out; on the disk its content exists once.

import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { Fault } from "../../core/fault.ts";
import type { Blobs, PersonBlobs } from "../../ports/blobs.ts";
import { safeName } from "./name.ts";

export function personBlobs(blobs: Blobs, folder: string): PersonBlobs {
  return {
    put: (content, as) => blobs.put(content, as),
    read: (blob) => blobs.read(blob),
    has: (blob) => /^[0-9a-f]{64}$/.test(blob) && existsSync(join(folder, blob)),
    path(blob, name) {
      const source = blobs.path(blob);
      const target = join(folder, blob);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      place(source, target);
      if (name === undefined) return target;
      // A folder of its own: another file may have the same name.
      const own = join(folder, `${blob.slice(0, 16)}.d`);
      mkdirSync(own, { recursive: true, mode: 0o700 });
      place(source, join(own, safeName(name)));
      return join(own, safeName(name));
    },
  };
}

/** What is there already has the same content. What the store has lost is missing there too: reading it says so. */
function place(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST" || code === "ENOENT") return;
    // Not every file system has links.
    copyWhole(source, target);
  }
}

/** A file that exists counts as whole, so a copy gets its name when all of it is on the disk. */
function copyWhole(source: string, target: string): void {
  // One name for each target: a copy that a kill cut short is overwritten by the next.
  const draft = `${target}.tmp`;
  try {
    copyFileSync(source, draft);
    const file = openSync(draft, "r+");
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, target);
  } catch (why) {
    rmSync(draft, { force: true });
    throw new Fault("store-failed", `The stored file ${source} cannot be copied to ${target}.`, why);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}
