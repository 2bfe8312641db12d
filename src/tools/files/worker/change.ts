// Changing one file so that a death at any moment neither does it twice nor loses it: the gateway has noted what the file was
// and will be before it is touched; then the new content is written beside it and moved over it. A reader sees the old
// file or the new one. Its mode and owner stay.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { Fault } from "../../../core/fault.ts";
import { sizeText } from "../../size.ts";
import type { FileReply, FileRequest, FileScope } from "../protocol.ts";
import {
  type FileFacts,
  type WholeFile,
  exactText,
  hashOf,
  looksBinary,
  newHash,
  openPlain,
  piecesOf,
  readWhole,
} from "./content.ts";
import { applyEdit } from "./match.ts";
import {
  type OpenFolder,
  absolutePath,
  checkWritable,
  endOfPath,
  isCode,
  isMissing,
  openFolder,
  shownPath,
} from "./paths.ts";

type EditRequest = FileRequest & { readonly op: "edit" };

/** What is edited, and what is replaced. */
const editMax = 10_000_000;
const beforeMax = 100_000_000;
const newMode = 0o644;

/** Goes through the steps; a test may leave in the middle. */
export type Drive = (steps: AsyncIterable<string>) => Promise<void>;

export async function toTheEnd(steps: AsyncIterable<string>): Promise<void> {
  for await (const _ of steps);
}

type FileTarget = { readonly real: string; readonly shown: string };

export async function* writeContent(
  scope: FileScope,
  { path, draft }: FileRequest & { readonly op: "write" },
  bytes: Buffer,
  drive: Drive,
): AsyncGenerator<FileReply, FileReply> {
  const target = await targetOf(scope, path);
  const found = await readWhole(scope, target.real, beforeMax);
  const says = writeSentence(target.shown, found?.bytes ?? null, bytes);
  return yield* change(scope, target, { found, bytes, says }, draft, drive);
}

export async function* editContent(
  scope: FileScope,
  request: EditRequest,
  drive: Drive,
): AsyncGenerator<FileReply, FileReply> {
  const target = await targetOf(scope, request.path);
  const { shown } = target;
  const found = await readWhole(scope, target.real, editMax);
  if (found === null) return failed(`${shown} does not exist; write_file makes new files.`);
  const text = exactText(found.bytes);
  if (text === null || looksBinary(found.bytes))
    return failed(`${shown} is not plain UTF-8 text, so it is not edited.`);
  const edited = applyEdit(text, request);
  if (edited.type === "not-edited") return failed(`${shown}: ${edited.why}`);
  const says = editSentence(shown, edited.lines, request.oldText, request.newText);
  return yield* change(scope, target, { found, bytes: Buffer.from(edited.text), says }, request.draft, drive);
}

function failed(why: string): FileReply {
  return { type: "failed", why };
}

async function targetOf(scope: FileScope, typed: string): Promise<FileTarget> {
  const path = absolutePath(scope, typed);
  const real = await endOfPath(path);
  checkWritable(scope, real, shownPath(scope, path));
  return { real, shown: shownPath(scope, real) };
}

/** What a file is to become, and what is said then. */
type FileChange = { readonly found: WholeFile | null; readonly bytes: Buffer; readonly says: string };

async function* change(
  scope: FileScope,
  target: FileTarget,
  wanted: FileChange,
  draft: string,
  drive: Drive,
): AsyncGenerator<FileReply, FileReply> {
  const [before, after] = [wanted.found === null ? null : hashOf(wanted.found.bytes), hashOf(wanted.bytes)];
  if (wanted.found !== null) await checkPermission(target.real);
  yield { type: "planned", before, after, says: wanted.says };
  await drive(apply(scope, target, wanted, { before, after }, draft));
  return { type: "changed" };
}

/** A move needs no right to write the file, only its folder; who may not write it may not replace it either. */
async function checkPermission(real: string): Promise<void> {
  await (await open(real, constants.O_RDWR | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))).close();
}

type Digests = { readonly before: string | null; readonly after: string };

/** Does it step by step and names each when it is done. */
export async function* apply(
  scope: FileScope,
  target: FileTarget,
  { found, bytes }: FileChange,
  { before, after }: Digests,
  draft: string,
): AsyncGenerator<string, void> {
  const folder = await makeFolder(scope, dirname(target.real));
  await using handle = folder.handle;
  yield "folder made";
  const name = basename(target.real);
  const temporary = folder.at(draftName(draft));
  try {
    if (folder.real !== dirname(target.real)) throw changedMeanwhile(target.shown);
    await using written = await writeDraft(temporary, bytes, found?.facts ?? null);
    yield "draft written";
    // Somebody else may have written meanwhile, and their content must not be lost.
    const now = await digestAt(scope, target.real, folder.at(name));
    if (now !== before && now !== after) throw changedMeanwhile(target.shown);
    if (!(await isSameFile(written, temporary))) throw changedMeanwhile(target.shown);
    await rename(temporary, folder.at(name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw namedAs(target.real, error);
  }
  yield "moved";
  await syncFolder(handle);
  yield "synced";
}

function changedMeanwhile(shown: string): Fault {
  return new Fault("busy", `${shown} was changed at the same time; nothing was written. Read it again.`);
}

/** A second attempt may run while the first still ends, so each has a file of its own. */
function draftName(draft: string): string {
  return `.everturn-${draft}-${randomBytes(4).toString("hex")}.tmp`;
}

/** On the disk when it resolves; the caller closes it. */
async function writeDraft(path: string, bytes: Buffer, facts: FileFacts | null): Promise<FileHandle> {
  const handle = await open(path, "wx", newMode);
  try {
    await handle.writeFile(bytes);
    // Only the superuser can give a file away, and only then would it change hands by being replaced.
    if (facts !== null && process.geteuid?.() === 0) await handle.chown(facts.uid, facts.gid);
    if (facts !== null) await handle.chmod(facts.mode & 0o7777);
    await handle.sync();
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function isSameFile(handle: FileHandle, path: string): Promise<boolean> {
  const [one, other] = await Promise.all([handle.stat({ bigint: true }), lstat(path, { bigint: true })]);
  return one.ino === other.ino && one.dev === other.dev;
}

/** The folder, made with all that lead to it. Each part is made inside the one before, so that no swapped link is followed. */
async function makeFolder(scope: FileScope, path: string): Promise<OpenFolder> {
  try {
    return await openFolder(scope, path);
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error;
  }
  const parent = await makeFolder(scope, dirname(path));
  await using handle = parent.handle;
  const inside = parent.at(basename(path));
  try {
    await makeOnce(inside);
    await syncFolder(handle);
    return await openFolder(scope, inside, false);
  } catch (error) {
    throw namedAs(path, error);
  }
}

async function makeOnce(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  }
}

/** An error names the path that was asked for, not the way it was reached. */
function namedAs(path: string, error: unknown): unknown {
  return error instanceof Error && "path" in error ? Object.assign(error, { path }) : error;
}

/** Makes a name in a folder last. Windows keeps names by itself. */
async function syncFolder(handle: FileHandle | null): Promise<void> {
  await handle?.sync();
}

/** What lies there now; null when there is nothing, or something that is no file. Drafts of that name are removed. */
export async function digestNow(scope: FileScope, typed: string, draft: string | null): Promise<string | null> {
  const path = absolutePath(scope, typed);
  const real = draft === null ? path : await endOfPath(path);
  const digest = await digestAt(scope, real, real);
  if (draft !== null) await removeDrafts(scope, dirname(real), draft);
  return digest;
}

async function removeDrafts(scope: FileScope, path: string, draft: string): Promise<void> {
  let folder: OpenFolder;
  try {
    folder = await openFolder(scope, path);
  } catch (error) {
    if (isMissing(error) || isCode(error, "ENOTDIR")) return;
    throw error;
  }
  await using _ = folder.handle;
  const names = await readdir(folder.at("."));
  for (const name of names.filter((one) => one.startsWith(`.everturn-${draft}-`) && one.endsWith(".tmp"))) {
    await rm(folder.at(name), { force: true });
  }
}

async function digestAt(scope: FileScope, path: string, at: string): Promise<string | null> {
  try {
    const opened = await openPlain(scope, path, at);
    await using handle = opened.handle;
    const hash = newHash();
    for await (const piece of piecesOf(handle, Number.MAX_SAFE_INTEGER)) hash.update(piece);
    return hash.digest("hex");
  } catch (error) {
    if (isMissing(error) || isCode(error, "ENOTDIR") || error instanceof Fault) return null;
    throw error;
  }
}

function writeSentence(shown: string, before: Buffer | null, after: Buffer): string {
  const now = `${linesText(after)}, ${sizeText(after.length)}`;
  if (before === null) return `Created ${shown}: ${now}.`;
  if (before.equals(after)) return `${shown} had this content already: ${now}.`;
  return `Replaced ${shown}: ${now}; before it had ${linesText(before)}, ${sizeText(before.length)}.`;
}

function linesText(bytes: Buffer): string {
  let lines = bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++;
  return lines === 1 ? "1 line" : `${lines} lines`;
}

function editSentence(shown: string, lines: readonly number[], oldText: string, newText: string): string {
  const count = (text: string): string => {
    const n = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
    return n === 1 ? "1 line" : `${n} lines`;
  };
  const where = lines.length === 1 ? `at line ${lines[0]}` : `in ${lines.length} places, first at line ${lines[0]}`;
  return `Edited ${shown} ${where}: ${count(oldText)} became ${count(newText)}.`;
}
