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
      makeFolder(folder);
      place(source, target);
      return name === undefined ? target : (placeNamed(source, join(folder, `${blob.slice(0, 16)}.d`), name) ?? target);
    },
  };
}

/** In a folder of its own, because another file may have the same name. Null where the file system refuses the name. */
function placeNamed(source: string, own: string, name: string): string | null {
  const target = join(own, safeName(name));
  try {
    makeFolder(own);
    place(source, target);
    return target;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (why) {
    throw new Fault("store-failed", `The folder ${path} cannot be created.`, why);
  }
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
    removeDraft(draft);
    throw new Fault("store-failed", `The stored file ${source} cannot be copied to ${target}.`, why);
  }
}

/** Best effort: why the copy failed matters more, and the next copy overwrites the draft. */
function removeDraft(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch (error) {
    if (codeOf(error) === null) throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}
