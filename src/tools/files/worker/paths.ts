// Which file a path means to the worker, and whether it may be touched. Inside a sandbox the wall has decided already, and
// this only explains. Without one, the file that was really opened is compared with what was allowed, so a link that is
// swapped in between leads nowhere.

import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Fault } from "../../../core/fault.ts";
import type { FileScope } from "../protocol.ts";

const linksMax = 40;
const isLinux = process.platform === "linux";

/** As it was typed: relative paths begin in the workspace, `~` is HOME. No link is followed. */
export function absolutePath({ workspace }: FileScope, typed: string): string {
  return /^~(?=$|[/\\])/.test(typed) ? join(homedir(), typed.slice(1)) : resolve(workspace, typed);
}

/** As people would write it: relative inside the workspace, else from the root. */
export function shownPath({ workspace }: FileScope, path: string): string {
  if (path === workspace) return ".";
  return isBelow(workspace, path) ? relative(workspace, path) : path;
}

export function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Throws where the file at this real path is not to be touched. */
export function checkReach(scope: FileScope, real: string, shown: string): void {
  if (isClosed(scope, real)) {
    throw new Fault("not-possible", closedSentence(shown));
  }
  if (!isAllowed(scope, real)) throw leadsOutside(shown, real);
}

function closedSentence(shown: string): string {
  return `${shown} belongs to the gateway itself and is closed to tools.`;
}

function isAllowed({ only, workspace, readable }: FileScope, real: string): boolean {
  return only === null || [workspace, ...readable, ...only].some((one) => isBelow(one, real));
}

/** A folder on the way to an allowed file may be opened, too. */
function checkFolder(scope: FileScope, real: string): void {
  const isOnTheWay = scope.only?.some((one) => isBelow(real, one)) ?? false;
  if (!isOnTheWay || isClosed(scope, real)) checkReach(scope, real, shownPath(scope, real));
}

/** A folder that the person may use opens itself and what is in it, not what is around it. */
export function isClosed({ closed, workspace, readable }: FileScope, real: string): boolean {
  const open = [workspace, ...readable];
  return closed.some(
    (one) => isBelow(one, real) && !open.some((folder) => isBelow(one, folder) && isBelow(folder, real)),
  );
}

function leadsOutside(shown: string, real: string): Fault {
  return new Fault(
    "not-possible",
    `${shown} leads to ${real}, which is outside of the workspace. Ask for ${real} itself.`,
  );
}

/** Inside a sandbox much can be made that does not last, such as a folder beside the workspace. */
export function checkWritable(scope: FileScope, real: string, shown: string): void {
  checkReach({ ...scope, readable: [] }, real, shown);
  if (!scope.isWalled) return;
  const places = [scope.workspace, ...scope.writable];
  if (ownFolder(real) === null && !places.some((folder) => isBelow(folder, real))) throw leadsOutside(shown, real);
}

/** Folders that the sandbox itself brings along. */
export function ownFolder(path: string): "home" | "tmp" | null {
  if (isBelow(homedir(), path)) return "home";
  return isBelow("/tmp", path) || isBelow("/var/tmp", path) ? "tmp" : null;
}

/** Where the opened file really is. */
export async function realPathOf(handle: FileHandle, path: string): Promise<string> {
  return isLinux ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(path);
}

/** An open folder. What is named by `at` is in this folder, whatever its path has come to mean. */
export type OpenFolder = {
  readonly real: string;
  /** Null on Windows, which cannot open folders. */
  readonly handle: FileHandle | null;
  at(name: string): string;
};

export async function openFolder(scope: FileScope, path: string, follow = true): Promise<OpenFolder> {
  if (process.platform === "win32") {
    const real = await realpath(path);
    checkFolder(scope, real);
    return { real, handle: null, at: (name) => join(real, name) };
  }
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | (follow ? 0 : constants.O_NOFOLLOW));
  try {
    const real = await realPathOf(handle, path);
    checkFolder(scope, real);
    const base = isLinux ? `/proc/self/fd/${handle.fd}` : real;
    return { real, handle, at: (name) => join(base, name) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The end of a path that is to be written. Links are followed; parts that do not exist yet are kept as they are. */
export async function endOfPath(path: string, left = linksMax): Promise<string> {
  if (left === 0) throw new Fault("not-possible", `${path} is a circle of links.`);
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const here = join(await endOfPath(parent, left), basename(path));
  const end = await linkAt(here);
  return end === null ? here : await endOfPath(resolve(dirname(here), end), left - 1);
}

async function linkAt(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch (error) {
    if (isMissing(error) || isCode(error, "ENOTDIR")) return null;
    throw error;
  }
}

/** Why nothing is there. A link that leads out of the sandbox leads nowhere. */
export async function missingSentence(scope: FileScope, path: string): Promise<string> {
  const shown = shownPath(scope, path);
  const link = await brokenLink(path);
  if (link === null) {
    const isHome = scope.isWalled && isBelow(homedir(), path) && !isBelow(scope.workspace, path);
    const hint = " ~ is a home folder inside the sandbox; for a file of the user give its absolute path.";
    return `${shown} does not exist.${isHome ? hint : ""}`;
  }
  if (isClosed(scope, link.to)) return closedSentence(shown);
  const from = shownPath(scope, link.from);
  const where = scope.isWalled ? "not found inside the sandbox" : "not found";
  return `${from === shown ? "" : `${shown}: `}${from} is a link to ${link.to}, ${where}. Ask for ${link.to} itself.`;
}

async function brokenLink(path: string): Promise<{ readonly from: string; readonly to: string } | null> {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const end = await linkAt(at);
    if (end === null) continue;
    const to = resolve(dirname(at), end);
    return (await isThere(to)) ? null : { from: at, to };
  }
  return null;
}

export async function isThere(path: string, kind: "file" | "any" = "any"): Promise<boolean> {
  try {
    const found = await stat(path);
    return kind === "any" || found.isFile();
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return isCode(error, "ENOENT");
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
