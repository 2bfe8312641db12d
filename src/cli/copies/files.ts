// The files of conversations beside a copy of the store: in a folder of their own with a list of what is in it. Each is named
// by the digest of its content, so every copy is checked by its name, and bringing them in never replaces anything.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, copyFile, mkdir, open, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { oneLine, sizeText } from "../print.ts";

/** `damaged` and `missing` name what could not be brought along, as the digest of what it was. */
export type Copied = {
  readonly folder: string | null;
  readonly files: number;
  readonly bytes: number;
  readonly damaged: readonly string[];
  readonly missing: readonly string[];
};

/** As `sha256sum --check` reads it. */
const listName = "SHA256SUMS";

/** The folder that goes with a backup. */
export function folderOf(file: string): string {
  return `${file}.files`;
}

/** What was brought along, and a warning for each that was not. */
export function copiedText({ folder, files, bytes, damaged, missing }: Copied): readonly string[] {
  if (folder === null) return [];
  const some = files === 1 ? "1 file of conversations" : `${files} files of conversations`;
  return [
    `${folder}: ${some}, ${sizeText(bytes)} copied, each checked by its digest.`,
    ...damaged.map((digest) => `Warning: file ${digest} is damaged and was left out.`),
    ...missing.map((digest) => `Warning: file ${digest} is missing in ${folder}; messages that have it keep its name.`),
  ];
}

/** How many of them, and the names of the first few. */
export type Lacking = { readonly count: number; readonly names: readonly string[] };

const namesMax = 10;

/** What a store names and its folder does not hold, beside what was told of a copy already. */
export async function lackingIn(
  files: string,
  wanted: readonly { readonly name: string; readonly blob: string }[],
  { damaged, missing }: Copied,
): Promise<Lacking> {
  const there = new Set([...(await digestsIn(files)).map(digestOf), ...damaged, ...missing]);
  const lacking = wanted.filter((one) => !there.has(one.blob));
  return { count: lacking.length, names: lacking.slice(0, namesMax).map((one) => one.name) };
}

export function lackingText({ count, names }: Lacking, folder: string): readonly string[] {
  if (count === 0) return [];
  const some =
    count === 1 ? "1 file that the restored messages name is" : `${count} files that the restored messages name are`;
  const more = count > names.length ? ` and ${count - names.length} more` : "";
  return [
    `Warning: ${some} not here: ${names.map(oneLine).join(", ")}${more}. A backup keeps them in ${folder}; put that folder beside it and restore again.`,
  ];
}

/** Made under another name until it is whole; nothing is made where there are no files. */
export async function copyOut(from: string, folder: string): Promise<Copied> {
  const found = await digestsIn(from);
  if (found.length === 0) return { folder: null, files: 0, bytes: 0, damaged: [], missing: [] };
  const draft = `${folder}.partial-${process.pid}`;
  try {
    await mkdir(draft, { recursive: true, mode: 0o700 });
    const { kept, bytes, damaged } = await copyAll(found, from, draft);
    await writeFile(join(draft, listName), kept.map((path) => `${digestOf(path)}  ${path}\n`).join(""), {
      mode: 0o600,
    });
    await rename(draft, folder);
    return { folder, files: kept.length, bytes, damaged, missing: [] };
  } catch (error) {
    throw new Fault("store-failed", `${folder} could not be written: ${sentenceOf(error)}`, error);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Adds what is not there yet. */
export async function copyIn(folder: string, to: string): Promise<Copied> {
  const listed = await readList(join(folder, listName));
  const found = await digestsIn(folder);
  if (found.length === 0 && listed.length === 0) return { folder: null, files: 0, bytes: 0, damaged: [], missing: [] };
  try {
    const { kept, bytes, damaged } = await copyAll(found, folder, to);
    const there = new Set(found.map(digestOf));
    const missing = listed.map(digestOf).filter((digest) => !there.has(digest));
    return { folder, files: kept.length, bytes, damaged, missing };
  } catch (error) {
    const todo = "Nothing of the store was changed.";
    throw new Fault("store-failed", `The files in ${folder} could not be copied: ${sentenceOf(error)}. ${todo}`, error);
  }
}

async function copyAll(paths: readonly string[], from: string, to: string) {
  const kept: string[] = [];
  const damaged: string[] = [];
  let bytes = 0;
  for (const path of paths) {
    const target = join(to, path);
    if (await isWhole(target)) {
      kept.push(path);
      continue;
    }
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const draft = `${target}.partial-${process.pid}`;
    await copyFile(join(from, path), draft);
    if (process.platform !== "win32") await chmod(draft, 0o600);
    if ((await hashOf(draft)) === digestOf(path)) {
      await flush(draft);
      bytes += (await stat(draft)).size;
      await rename(draft, target);
      kept.push(path);
    } else {
      await rm(draft, { force: true });
      damaged.push(digestOf(path));
    }
  }
  return { kept, bytes, damaged };
}

/** Paths of everything that is named by a digest, however deep. */
async function digestsIn(folder: string): Promise<readonly string[]> {
  try {
    const all = await readdir(folder, { recursive: true, withFileTypes: true });
    return all
      .filter((one) => one.isFile() && /^[0-9a-f]{64}$/.test(one.name))
      .map((one) => join(one.parentPath, one.name).slice(folder.length + 1))
      .toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new Fault("store-failed", `${folder} could not be read: ${sentenceOf(error)}`, error);
  }
}

async function readList(file: string): Promise<readonly string[]> {
  try {
    const lines = (await readFile(file, "utf8")).split("\n");
    return lines.flatMap((line) => /^[0-9a-f]{64} [ *](\S+)$/.exec(line)?.[1] ?? []);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new Fault("store-failed", `${file} could not be read: ${sentenceOf(error)}`, error);
  }
}

async function isWhole(path: string): Promise<boolean> {
  const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return facts !== null && (await hashOf(path)) === digestOf(path);
}

function digestOf(path: string): string {
  return path.slice(-64);
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece as Uint8Array);
  return hash.digest("hex");
}

async function flush(path: string): Promise<void> {
  await using handle = await open(path, "r+");
  await handle.sync();
}
