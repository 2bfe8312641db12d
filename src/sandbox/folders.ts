// The folders of the sandbox below the gateway's home. Each person has a HOME and a /tmp on disk, so that caches work and
// one command finds what another left; no two people share them. A call with a grant gets new ones, which are removed.

import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, lstatSync, statSync } from "node:fs";
import { cp, mkdir, readdir, realpath, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

export type PersonFolders = {
  readonly home: string;
  readonly tmp: string;
  /** What has to be removed when the program ends; null where it stays. */
  readonly removed: string | null;
};

/** Longer than any command may run. */
export const emptyKeepMs = 2 * 24 * 3_600_000;
export const tmpKeepMs = 30 * 24 * 3_600_000;

export function digestOf(person: string): string {
  return createHash("sha256").update(person).digest("hex").slice(0, 16);
}

export async function personFolders(all: string, person: string): Promise<PersonFolders> {
  const own = join(all, "people", digestOf(person));
  const made = await makeFolders(own);
  const now = new Date();
  await utimes(made.tmp, now, now);
  return { ...made, removed: null };
}

export async function emptyFolders(all: string): Promise<PersonFolders> {
  const own = join(all, "empty", randomUUID());
  return { ...(await makeFolders(own)), removed: await realpath(own) };
}

/** For the sockets of one program. */
export async function socketFolder(all: string): Promise<string> {
  const own = join(all, "sockets", randomUUID());
  await mkdir(own, { recursive: true, mode: 0o700 });
  return own;
}

async function makeFolders(own: string): Promise<Pick<PersonFolders, "home" | "tmp">> {
  const [home, tmp] = [join(own, "home"), join(own, "tmp")];
  for (const folder of [home, tmp]) await mkdir(folder, { recursive: true, mode: 0o700 });
  return { home: await realpath(home), tmp: await realpath(tmp) };
}

/**
 * By the program `rm`, which walks by descriptors: a program that still runs in the folder could swap a folder for a link
 * while a walk by paths is on its way, and lead it out.
 */
export function removeSwappable(folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile("rm", ["-rf", "--", folder], { cwd: "/", env: { PATH: "/usr/bin:/bin" } }, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

/** Removes folders of calls that ended without their runner, and every /tmp that was not used for days. */
export async function tidyFolders(all: string, now: number): Promise<void> {
  const [empty, people] = [join(all, "empty"), join(all, "people")];
  const old = await Promise.all([olderThan(empty, "", now - emptyKeepMs), olderThan(people, "tmp", now - tmpKeepMs)]);
  // A folder that a command has closed to us does not keep the others.
  await Promise.allSettled(old.flat().map(removeSwappable));
}

async function olderThan(folder: string, inside: string, limit: number): Promise<readonly string[]> {
  const paths = (await namesIn(folder)).map((name) => join(folder, name, inside));
  const found = await Promise.all(paths.map(async (path) => ((await changedAt(path)) < limit ? [path] : [])));
  return found.flat();
}

async function changedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** The folder with these files; they never change, because other programs may be looking at them. */
export async function settingsFolder(all: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(all, "etc", digestOf(JSON.stringify(files)));
  try {
    await stat(folder);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const draft = `${folder}.${randomUUID()}`;
    await mkdir(draft, { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(files)) await writeFile(join(draft, name), text, { mode: 0o600 });
    await publish(draft, folder);
  }
  return folder;
}

/** A folder that stands for /etc, and the names in it. */
export type EtcFolder = { readonly folder: string; readonly names: readonly string[] };

/**
 * A copy of these parts of /etc, as far as every user of the machine may read them, with some files of our own. One folder
 * costs one mount a call; each part by itself would cost as many.
 */
export async function copySettings(
  all: string,
  wanted: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<EtcFolder> {
  const parts = wanted.flatMap((name) => {
    const found = statSync(join("/etc", name), { throwIfNoEntry: false });
    return found === undefined ? [] : [{ name, changed: found.mtimeMs, size: found.size }];
  });
  const folder = join(all, "etc", `machine-${digestOf(JSON.stringify([parts, files]))}`);
  const names = [
    ...new Set([...parts.map(({ name }) => name), ...Object.keys(files)].map((name) => name.split("/")[0] ?? "")),
  ];
  if (existsSync(folder)) return { folder, names };
  const draft = `${folder}.${randomUUID()}`;
  await mkdir(draft, { recursive: true, mode: 0o755 });
  const isOpen = (path: string) => {
    const found = lstatSync(path);
    return found.isSymbolicLink() || (found.mode & 0o004) !== 0;
  };
  for (const { name } of parts)
    await cp(await realpath(join("/etc", name)), join(draft, name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: isOpen,
    });
  for (const [name, text] of Object.entries(files)) await writeFile(join(draft, name), text);
  await publish(draft, folder);
  return { folder, names };
}

async function publish(draft: string, folder: string): Promise<void> {
  try {
    await rename(draft, folder);
  } catch (error) {
    // Another call was faster.
    await rm(draft, { recursive: true, force: true });
    if (!(error instanceof Error && "code" in error && /EEXIST|ENOTEMPTY/.test(String(error.code)))) throw error;
  }
}
