// Changing one file so that a death at any moment neither does it twice nor loses it: a note of what it was and will be, the
// new content beside it, one move. A reader sees the old file or the new one. Its mode and owner stay.

import { chmod, chown, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../core/fault.ts";
import type { ToolResult } from "../../core/journal.ts";
import { type Facts, type Untouchable, type Whole, hashOf, newHash, openPlain, piecesOf } from "./content.ts";
import { type Note, noteSweeper, putNote, readNote, syncFolder, whatBecame, writeSynced } from "./notes.ts";
import type { Place } from "./place.ts";
import { digest } from "./room.ts";
import { turnstile } from "./turns.ts";

export type Keeping = { readonly notes: string; readonly untouchable: Untouchable };

/** What a file is to become, and what is said then. */
export type Wanted = { readonly found: Whole | null; readonly bytes: Uint8Array; readonly says: string };

/** Computes what a file is to become and makes it so; without `bytes` nothing is done. One at a time for each file. */
export type Changes = (key: string, place: Place, plan: () => Promise<Plan>) => Promise<ToolResult>;
export type Plan = (Wanted & { readonly result: ToolResult }) | { readonly bytes?: never; readonly result: ToolResult };

/** `drive` goes through the steps; a test may leave it in the middle. */
export function makeChanges(
  keeping: Keeping,
  drive: (steps: AsyncIterable<string>) => Promise<void> = toTheEnd,
): Changes {
  const inTurn = turnstile();
  const sweep = noteSweeper(keeping.notes);
  return (key, place, plan) =>
    inTurn(place.real, async () => {
      const wanted = await plan();
      if (wanted.bytes === undefined) return wanted.result;
      await sweep();
      await drive(change(keeping, key, place, wanted));
      return wanted.result;
    });
}

async function toTheEnd(steps: AsyncIterable<string>): Promise<void> {
  for await (const _ of steps);
}

const newMode = 0o644;

/** Does it step by step and names each when it is done. Whoever stops listening cuts it there, as a death would. */
export async function* change(
  keeping: Keeping,
  key: string,
  { real, shown }: Place,
  { found, bytes, says }: Wanted,
): AsyncGenerator<string, void> {
  // A move needs no right to write the file, only its folder; who may not write it may not replace it either.
  if (found !== null) await (await open(real, "r+")).close();
  const before = found === null ? null : hashOf(found.bytes);
  const note: Note = { path: real, before, after: hashOf(bytes), says };
  yield* putNote(keeping.notes, key, note);
  const folder = dirname(real);
  const made = await mkdir(folder, { recursive: true });
  if (made !== undefined) await syncFolders(dirname(made), folder);
  yield "folders made";
  const draft = draftOf(real, key);
  try {
    await writeSynced(draft, bytes, newMode);
    if (found !== null) await dressAs(draft, found.facts);
    yield "draft written";
    // Somebody else may have written meanwhile; what they wrote is not ours to lose.
    if ((await digestAt(keeping, real, shown)) !== note.before) throw changedMeanwhile(shown);
    await rename(draft, real);
  } catch (error) {
    await rm(draft, { force: true });
    // Nobody asked for the draft, so nobody is told of it.
    throw error instanceof Error && "path" in error ? Object.assign(error, { path: real }) : error;
  }
  yield "moved";
  await syncFolder(folder);
  yield "kept";
}

function changedMeanwhile(shown: string): Fault {
  const what = "was changed by somebody else at the same moment";
  return new Fault("busy", `${shown} ${what}; nothing was written. Read it again.`);
}

/** What became of a change that a death cut short; null when it has to be done again. */
export async function checkChange(keeping: Keeping, key: string): Promise<ToolResult | null> {
  const note = await readNote(keeping.notes, key);
  if (note === null) return null;
  const became = whatBecame(note, await digestAt(keeping, note.path, note.path));
  await rm(draftOf(note.path, key), { force: true });
  if (became === "not done") return null;
  if (became === "done") return { type: "ok", output: note.says };
  const story = "was being changed when the gateway died, and somebody else has changed it since";
  const now = "it is neither what it was nor what it was to become";
  return { type: "unknown", why: `${note.path} ${story}: ${now}. Read it before you go on.` };
}

/** The same for the same call, so that a second attempt finds what the first one left. */
export function draftOf(real: string, key: string): string {
  return join(dirname(real), `.everturn-${digest(key).slice(0, 16)}.tmp`);
}

/** Null when there is nothing, or something that is no file. */
async function digestAt({ untouchable }: Keeping, real: string, shown: string): Promise<string | null> {
  const opened = await openPlain({ real, shown }, untouchable).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR" || error instanceof Fault) return null;
    throw error;
  });
  if (opened === null) return null;
  await using handle = opened.handle;
  const hash = newHash();
  for await (const piece of piecesOf(handle, Number.MAX_SAFE_INTEGER)) hash.update(piece);
  return hash.digest("hex");
}

/** Only the superuser can give a file away, and only then does it become somebody else's by being replaced. */
async function dressAs(draft: string, { mode, uid, gid }: Facts): Promise<void> {
  if (process.geteuid?.() === 0) await chown(draft, uid, gid);
  await chmod(draft, mode & 0o7777);
}

async function syncFolders(from: string, to: string): Promise<void> {
  for (let at = to; ; at = dirname(at)) {
    await syncFolder(at);
    if (at === from || at === dirname(at)) return;
  }
}
