// Which file a path means. Relative ones begin in the workspace, `~` is the user's folder, and links are followed to their
// end, also where the end does not exist yet: what is judged is the file that would really be touched.
// Must not open anything.

import { lstat, readlink, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Fault } from "../../core/fault.ts";

export type Place = {
  /** As people would write it: relative inside the workspace, else from the root. */
  readonly shown: string;
  /** Without any link in it. */
  readonly real: string;
};

const linksMax = 40;

export async function placeOf(workspace: string, typed: string): Promise<Place> {
  const path = /^~(?=$|[/\\])/.test(typed) ? join(homedir(), typed.slice(1)) : resolve(workspace, typed);
  const [real, root] = [await followed(path, linksMax), await followed(workspace, linksMax)];
  return { real, shown: shownIn(root, real) };
}

export function shownIn(root: string, real: string): string {
  if (real === root) return ".";
  return isInside(root, real) ? relative(root, real) : real;
}

export function isInside(root: string, real: string): boolean {
  const way = relative(root, real);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The end of a path. Parts that do not exist yet are kept as they are. */
async function followed(path: string, left: number): Promise<string> {
  if (left === 0) throw new Fault("not-possible", `${path} is a circle of links.`);
  try {
    return await realpath(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code !== "ENOENT") throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const here = join(await followed(parent, left), basename(path));
  // A link to nowhere: whoever writes through it makes the file at its end.
  const end = await linkOf(here);
  return end === null ? here : await followed(resolve(dirname(here), end), left - 1);
}

async function linkOf(path: string): Promise<string | null> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return found?.isSymbolicLink() === true ? await readlink(path) : null;
}
