// All plain files below a folder, in a steady order, without following links and without what nobody looks for.
// Must not open anything.

import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** What is found once per folder: its files. */
export type Folder = { readonly path: string; readonly files: readonly string[] };

const skipped = new Set([".git", "node_modules", ".hg", ".svn"]);
/** Files there are doors to the system, not texts. */
const unreal = /^\/(?:proc|sys|dev)(?:\/|$)/;

/** `isClosed` says which folders are not entered. */
export async function* walk(root: string, isClosed: (path: string) => boolean): AsyncGenerator<Folder> {
  const open = [root];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (unreal.test(path)) continue;
    const entries = await entriesOf(path, path === root);
    const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    yield { path, files: sorted.filter((one) => one.isFile()).map(({ name }) => name) };
    const folders = sorted
      .filter((one) => one.isDirectory() && !skipped.has(one.name))
      .map(({ name }) => join(path, name));
    open.push(...folders.filter((folder) => !isClosed(folder)).toReversed());
  }
}

/** A folder below that cannot be read, or is gone by now, is passed over; the one that was asked for is not. */
async function entriesOf(path: string, isRoot: boolean): Promise<readonly Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isRoot) throw error;
    return [];
  }
}
