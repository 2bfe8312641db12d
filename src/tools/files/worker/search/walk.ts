// All plain files below a folder, in a steady order, without following links and without what is never looked for.

import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../../core/fault.ts";
import type { FileScope } from "../../protocol.ts";
import { isClosed, openFolder } from "../paths.ts";

/** The files of one folder. */
export type Folder = { readonly path: string; readonly files: readonly string[] };

const skipped = new Set([".git", "node_modules", ".hg", ".svn"]);
/** Files there are doors to the system, not texts. */
const unreal = /^\/(?:proc|sys|dev)(?:\/|$)/;

/** `root` has no link in it. */
export async function* walk(scope: FileScope, root: string): AsyncGenerator<Folder> {
  const open = [root];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (unreal.test(path)) continue;
    const entries = await entriesOf(scope, path, path === root);
    const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    yield { path, files: sorted.filter((one) => one.isFile()).map(({ name }) => name) };
    const folders = sorted
      .filter((one) => one.isDirectory() && !skipped.has(one.name))
      .map(({ name }) => join(path, name));
    open.push(...folders.filter((folder) => !isClosed(scope, folder)).toReversed());
  }
}

/** A folder below that cannot be read, or is gone or another one by now, is passed over; the root is not. */
async function entriesOf(scope: FileScope, path: string, isRoot: boolean): Promise<readonly Dirent[]> {
  try {
    const folder = await openFolder(scope, path, false);
    await using _ = folder.handle;
    return folder.real === path ? await readdir(folder.at("."), { withFileTypes: true }) : [];
  } catch (error) {
    if (!isRoot && error instanceof Error && ("code" in error || error instanceof Fault)) return [];
    throw error;
  }
}
