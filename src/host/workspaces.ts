// The workspaces of a home on the disk: a folder for each person, and beside it a note that says whose it is and whether
// it holds text from outside. The notes lie outside of the workspaces, so no tool can change them. Nothing is removed here.

import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { mkdir, readFile, readdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { workspaceName } from "../core/workspace.ts";

export type WorkspaceNote = {
  readonly id: string;
  readonly person: string;
  readonly folder: string;
  /** A conversation with text from outside wrote into it. */
  readonly isMarked: boolean;
};

/** The folder of a person, made for this user alone: the configured one, or one below `root`. */
export async function makeWorkspace(root: string, person: string, configured?: string): Promise<WorkspaceNote> {
  const id = workspaceName(person);
  const folder = configured ?? join(root, id);
  await mkdir(folder, { recursive: true, ...(configured === undefined ? { mode: 0o700 } : {}) });
  const known = await readNote(root, id);
  if (known?.person === person && known.folder === folder) return known;
  const note = { id, person, folder, isMarked: known?.isMarked === true };
  await writeNote(root, note);
  return note;
}

/** All that were made, by name. */
export async function listWorkspaces(root: string): Promise<readonly WorkspaceNote[]> {
  const names = (await entriesIn(root)).map(({ name }) => name).filter((name) => name.endsWith(".json"));
  const notes = await Promise.all(names.toSorted().map((name) => readNote(root, name.slice(0, -".json".length))));
  return notes.filter((note) => note !== null);
}

/** On the disk when it resolves. */
export async function markWorkspace(root: string, id: string, isMarked: boolean): Promise<WorkspaceNote | null> {
  const known = await readNote(root, id);
  if (known === null || known.isMarked === isMarked) return known;
  await writeNote(root, { ...known, isMarked });
  return { ...known, isMarked };
}

/** Null where there is none, or where it was cut short; then it is written again by the next turn of its person. */
export async function readNote(root: string, id: string): Promise<WorkspaceNote | null> {
  const text = await absentAs(readFile(join(root, `${id}.json`), "utf8"), "null");
  try {
    const { person, folder, isMarked } = (JSON.parse(text) ?? {}) as Partial<WorkspaceNote>;
    if (typeof person !== "string" || typeof folder !== "string") return null;
    return { id, person, folder, isMarked: isMarked === true };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function writeNote(root: string, { id, ...note }: WorkspaceNote): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const draft = join(root, `${id}.${randomUUID()}.tmp`);
  await writeFile(draft, JSON.stringify(note), { mode: 0o600, flush: true });
  await rename(draft, join(root, `${id}.json`));
}

/** The bytes of all files below a folder; links are not followed. Stops counting at `entriesMax` entries. */
export async function sizeOfFolder(
  folder: string,
  entriesMax = 200_000,
): Promise<{ readonly bytes: number; readonly isWhole: boolean }> {
  let bytes = 0;
  let left = entriesMax;
  const open = [folder];
  for (let next = open.pop(); next !== undefined && left > 0; next = open.pop()) {
    for (const entry of await entriesIn(next)) {
      if (--left < 0) break;
      const path = join(next, entry.name);
      if (entry.isDirectory()) open.push(path);
      else if (entry.isFile()) bytes += (await absentAs(stat(path), null))?.size ?? 0;
    }
  }
  return { bytes, isWhole: left > 0 };
}

async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  return absentAs(readdir(folder, { withFileTypes: true }), []);
}

/** Files come and go while they are counted, and some belong to others. */
async function absentAs<T, O>(found: Promise<T>, otherwise: O): Promise<T | O> {
  try {
    return await found;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return otherwise;
    throw error;
  }
}
