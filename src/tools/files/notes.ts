// A note tells, before a file is changed, what it was and what it will be, so that after a death it can be said whether the
// change happened. A note is on the disk, in the gateway's own folder, before the file is touched.

import type { Stats } from "node:fs";
import { mkdir, open, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { Fault } from "../../core/fault.ts";
import type { PathGrant } from "../../core/grant.ts";
import { digest } from "../digest.ts";

export type Note = {
  readonly path: string;
  /** What the call was granted, so that the file can be looked at again. */
  readonly granted?: readonly PathGrant[] | undefined;
  /** The digest of its content; null when there was no file. */
  readonly before: string | null;
  readonly after: string;
  /** What the call says when it is done. */
  readonly says: string;
};

const noteSchema = v.object({
  path: v.string(),
  granted: v.optional(v.array(v.object({ path: v.string(), access: v.picklist(["read", "write"]) }))),
  before: v.nullable(v.string()),
  after: v.string(),
  says: v.string(),
});

/** Long after every turn that could ask for it. */
const keptMs = 7 * 24 * 3_600_000;
const sweepEvery = 500;

/** What became of a change that was cut short. `now` is the digest of what lies there; null when nothing does. */
export function whatBecame(note: Note, now: string | null): "done" | "not done" | "unclear" {
  if (now === note.after) return "done";
  return now === note.before ? "not done" : "unclear";
}

function noteFile(folder: string, key: string): string {
  return join(folder, `${digest(key)}.json`);
}

/** Each step is named when it is done; the note counts from the last one on. */
export async function* putNote(folder: string, key: string, note: Note): AsyncGenerator<string, void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncFolder(dirname(made));
  const file = noteFile(folder, key);
  await writeSynced(`${file}.tmp`, Buffer.from(JSON.stringify(note)), 0o600);
  yield "note drafted";
  await rename(`${file}.tmp`, file);
  yield "note moved";
  await syncFolder(folder);
  yield "note kept";
}

/** Null when there is none, or only half of one that was never moved into place. Rejects with a Fault when it is damaged. */
export async function readNote(folder: string, key: string): Promise<Note | null> {
  const file = noteFile(folder, key);
  const text = await readFile(file, "utf8").catch(absent<string>);
  if (text === null) return null;
  try {
    return v.parse(noteSchema, JSON.parse(text));
  } catch (error) {
    throw new Fault("store-failed", `${file} is damaged, so it is not known what became of the change.`, error);
  }
}

/**
 * Removes notes that no turn can ask for any more, at most once in so many changes. Their age is counted from the newest:
 * after a month of standing still, the notes of what a death cut short are still the newest ones.
 */
export function noteSweeper(folder: string): () => Promise<void> {
  let changes = 0;
  return async () => {
    if (changes++ % sweepEvery !== 0) return;
    const names = await readdir(folder).catch(absent<string[]>);
    const found = await Promise.all(
      (names ?? []).map(async (name) => {
        const file = join(folder, name);
        return { file, at: (await stat(file).catch(absent<Stats>))?.mtimeMs ?? 0 };
      }),
    );
    const newest = Math.max(0, ...found.map(({ at }) => at));
    for (const { file, at } of found) if (at < newest - keptMs) await rm(file, { force: true });
  };
}

function absent<T>(error: NodeJS.ErrnoException): T | null {
  if (error.code === "ENOENT") return null;
  throw error;
}

/** A new file with this content, on the disk when it resolves. What lies there from an earlier attempt is replaced. */
async function writeSynced(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  await rm(path, { force: true });
  await using handle = await open(path, "wx", mode);
  await handle.writeFile(bytes);
  await handle.sync();
}

/** Makes a name in a folder last. Windows cannot open folders, and keeps names by itself. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  await using handle = await open(path, "r");
  await handle.sync();
}
