// Names by glob, content by pattern. Everything it does has a limit, and it says when it met one.

import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { Fault } from "../../../../core/fault.ts";
import type { FileRequest, FileScope } from "../../protocol.ts";
import { looksBinary, openPlain, piecesOf } from "../content.ts";
import { absolutePath, checkReach, isMissing, missingSentence, shownPath } from "../paths.ts";
import { globPattern } from "./glob.ts";
import { type Seeker, startSeeker } from "./seek.ts";
import { linePattern } from "./seeker.ts";
import { type Folder, walk } from "./walk.ts";

const limits = {
  files: 50_000,
  fileBytes: 5_000_000,
  bytes: 500_000_000,
  results: 200,
  perFile: 50,
} as const;

type Search = {
  readonly scope: FileScope;
  readonly root: string;
  readonly seeker: Seeker;
  readonly isContent: boolean;
  readonly found: string[];
  /** What was met on the way: files, bytes, what was left out, and why it ended early. */
  readonly seen: { files: number; bytes: number; large: number; early: string | null };
};

export async function searchFiles(
  scope: FileScope,
  { path, pattern, glob, ignoreCase, msMax }: FileRequest & { readonly op: "search" },
  signal: AbortSignal,
): Promise<string> {
  if (glob !== null) globPattern(glob);
  if (pattern !== null) refuseUnreadable(pattern);
  const { root, isFile } = await rootOf(scope, absolutePath(scope, path));
  const over = AbortSignal.any([signal, AbortSignal.timeout(msMax)]);
  await using seeker = startSeeker({ glob, pattern, ignoreCase }, over);
  const seen = { files: 0, bytes: 0, large: 0, early: null };
  const search: Search = { scope, root, seeker, isContent: pattern !== null, found: [], seen };
  const one: Folder = { path: dirname(root), files: [basename(root)] };
  for await (const folder of isFile ? [one] : walk(scope, root)) {
    await searchFolder(search, folder, isFile);
    if (search.seen.early !== null) break;
  }
  signal.throwIfAborted();
  return report(search);
}

function refuseUnreadable(pattern: string): void {
  try {
    linePattern(pattern, false);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("not-possible", `The pattern cannot be read: ${why}.`, error);
  }
}

async function rootOf(scope: FileScope, path: string): Promise<{ readonly root: string; readonly isFile: boolean }> {
  try {
    const [root, found] = [await realpath(path), await stat(path)];
    checkReach(scope, root, shownPath(scope, path));
    return { root, isFile: !found.isDirectory() };
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Fault("not-found", await missingSentence(scope, path), error);
  }
}

async function searchFolder(search: Search, { path, files }: Folder, isFile: boolean): Promise<void> {
  const { scope, root, seeker, seen, found } = search;
  const names = files.map((name) => (isFile ? name : relative(root, join(path, name)).replaceAll("\\", "/")));
  const answer =
    names.length === 0 ? ({ type: "names", fits: [] } as const) : await seeker.ask({ type: "names", names });
  if (answer?.type !== "names") return stop(search, "the time was over");
  for (const [i, name] of files.entries()) {
    if (++seen.files > limits.files) return stop(search, `${limits.files} files were looked at`);
    if (answer.fits[i] !== true) continue;
    const file = join(path, name);
    if (search.isContent) await searchFile(search, file);
    else found.push(shownPath(scope, file));
    if (found.length >= limits.results) return stop(search, `${limits.results} results were found`);
    if (seen.early !== null) return;
  }
}

async function searchFile(search: Search, file: string): Promise<void> {
  const { scope, seeker, seen, found } = search;
  const shown = shownPath(scope, file);
  const bytes = await contentOf(scope, file);
  if (bytes === null) {
    seen.large++;
    return;
  }
  seen.bytes += bytes.length;
  if (seen.bytes > limits.bytes) return stop(search, `${limits.bytes / 1_000_000} MB were read`);
  if (looksBinary(bytes)) return;
  const linesMax = Math.min(limits.perFile, limits.results - found.length);
  const answer = await seeker.ask({ type: "text", bytes: new Uint8Array(bytes), linesMax });
  if (answer?.type !== "hits") return stop(search, `the time was over, in ${shown}`);
  found.push(...answer.hits.map(({ line, text }) => `${shown}:${line}: ${text}`));
  if (answer.more) found.push(`${shown}: [more lines match]`);
}

/** Null for what is too large, is gone by now or may not be read: a search goes on without it. */
async function contentOf(scope: FileScope, file: string): Promise<Buffer | null> {
  try {
    const opened = await openPlain(scope, file);
    await using handle = opened.handle;
    // It may have become a link since its folder was listed; a search follows none.
    if (opened.real !== file || opened.facts.bytes > limits.fileBytes) return null;
    return Buffer.concat(await Array.fromAsync(piecesOf(handle, limits.fileBytes)));
  } catch (error) {
    if (error instanceof Error && ("code" in error || error instanceof Fault)) return null;
    throw error;
  }
}

function stop({ seen }: Search, why: string): void {
  seen.early ??= why;
}

function report({ found, seen, isContent }: Search): string {
  const notes = [
    found.length === 0 ? `nothing found in ${seen.files} files` : null,
    seen.early === null ? null : `ended early: ${seen.early}; narrow the search`,
    seen.large === 0 || !isContent ? null : `${seen.large} files that are too large or may not be read were left out`,
  ].filter((note) => note !== null);
  return [...found, ...notes.map((note) => `[${note}]`)].join("\n");
}
