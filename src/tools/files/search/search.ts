// search_files: names by glob, content by pattern. Everything it does has a limit, and it says when it met one.

import { stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import * as v from "valibot";
import type { Tool } from "../../../ports/tool.ts";
import { define, failed, ok } from "../../define.ts";
import { maybe, pathText, words } from "../../input.ts";
import { looksBinary, readWhole } from "../content.ts";
import { globPattern } from "./glob.ts";
import { type Place, shownIn } from "../place.ts";
import { type Places, judgePath } from "../reach.ts";
import { type Room, placesOf, usedPlace, vetPath } from "../room.ts";
import { turnstile } from "../turns.ts";
import { type Seeker, startSeeker } from "./seek.ts";
import { linePattern } from "./seeker.ts";
import { type Folder, walk } from "./walk.ts";

const limits = {
  files: 50_000,
  fileBytes: 5_000_000,
  bytes: 500_000_000,
  results: 200,
  perFile: 50,
  ms: 20_000,
} as const;

/** Searches at the same time: each has a thread of its own. */
const seats = 2;

type Search = {
  readonly room: Room;
  readonly places: Places;
  readonly root: Place;
  readonly seeker: Seeker;
  readonly isContent: boolean;
  readonly found: string[];
  /** What was met on the way: files, bytes, what was left out, and why it ended early. */
  readonly seen: { files: number; bytes: number; secret: number; large: number; early: string | null };
};

export function searchFilesTool(room: Room, msMax: number = limits.ms): Tool {
  const inTurn = turnstile();
  let seat = 0;
  return define({
    name: "search_files",
    description:
      "Lists files by name, or finds lines that match a regular expression. Skips .git, node_modules and binary files.",
    effect: "pure",
    face: {
      properties: {
        pattern: { type: "string", description: "JavaScript regular expression, tried on each line" },
        glob: { type: "string", description: "names of files: *.ts, src/**/*.md" },
        path: { type: "string", description: "folder or file; default: the workspace" },
        ignoreCase: { type: "boolean" },
      },
      required: [],
    },
    schema: v.strictObject({
      pattern: maybe(words(1_000)),
      glob: maybe(words(500)),
      path: maybe(pathText),
      ignoreCase: maybe(v.boolean()),
    }),
    vet: (input, context) =>
      vetPath(room, { tool: "search_files", effect: "pure", use: "read", path: input.path ?? ".", input }, context),
    async run({ pattern = null, glob = null, path = ".", ignoreCase = false }, { signal }) {
      if (glob !== null) globPattern(glob);
      const wrong = pattern === null ? null : faultOf(pattern);
      if (wrong !== null) return failed(wrong);
      const root = await usedPlace(room, path, "read");
      const isFile = !(await stat(root.real)).isDirectory();
      return inTurn(`seat ${seat++ % seats}`, async () => {
        const over = AbortSignal.any([signal, AbortSignal.timeout(msMax)]);
        await using seeker = startSeeker({ glob, pattern, ignoreCase }, over);
        const seen = { files: 0, bytes: 0, secret: 0, large: 0, early: null };
        const [isContent, places] = [pattern !== null, await placesOf(room)];
        const search: Search = { room, places, root, seeker, isContent, found: [], seen };
        await searched(search, isFile);
        signal.throwIfAborted();
        return ok(report(search));
      });
    },
  });
}

function faultOf(pattern: string): string | null {
  try {
    linePattern(pattern, false);
    return null;
  } catch (error) {
    return `The pattern cannot be read: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

async function searched(search: Search, isFile: boolean): Promise<void> {
  const { root, places } = search;
  const isClosed = (path: string): boolean => judgePath(path, "read", places).level !== "plain";
  const one: Folder = { path: dirname(root.real), files: [basename(root.real)] };
  for await (const folder of isFile ? [one] : walk(root.real, isClosed)) {
    await searchFolder(search, folder, isFile);
    if (search.seen.early !== null) return;
  }
}

async function searchFolder(search: Search, { path, files }: Folder, isFile: boolean): Promise<void> {
  const { root, seeker, seen, places, found } = search;
  const names = files.map((name) => (isFile ? name : relative(root.real, join(path, name)).replaceAll("\\", "/")));
  const answer =
    names.length === 0 ? ({ type: "names", fits: [] } as const) : await seeker.ask({ type: "names", names });
  if (answer?.type !== "names") return stop(search, "the time was over");
  for (const [i, name] of files.entries()) {
    if (++seen.files > limits.files) return stop(search, `${limits.files} files were looked at`);
    if (answer.fits[i] !== true) continue;
    const real = join(path, name);
    // A file that was asked for by name has been judged before.
    if (!isFile && judgePath(real, "read", places).level !== "plain") seen.secret++;
    else if (search.isContent) await searchFile(search, real);
    else found.push(shownIn(places.workspace, real));
    if (found.length >= limits.results) return stop(search, `${limits.results} results were found`);
    if (seen.early !== null) return;
  }
}

async function searchFile(search: Search, real: string): Promise<void> {
  const { room, places, seeker, seen, found } = search;
  const shown = shownIn(places.workspace, real);
  const bytes = await contentOf(room, { real, shown });
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
async function contentOf(room: Room, place: Place): Promise<Buffer | null> {
  try {
    return (await readWhole(place, room.untouchable, limits.fileBytes))?.bytes ?? null;
  } catch {
    return null;
  }
}

function stop({ seen }: Search, why: string): void {
  seen.early ??= why;
}

function report({ found, seen, isContent }: Search): string {
  const notes = [
    found.length === 0 ? `nothing found in ${seen.files} files` : null,
    seen.early === null ? null : `ended early: ${seen.early}; narrow the search`,
    seen.secret === 0 ? null : `${seen.secret} files that may hold secrets were left out`,
    seen.large === 0 || !isContent ? null : `${seen.large} files that are too large or may not be read were left out`,
  ].filter((note) => note !== null);
  return [...found, ...notes.map((note) => `[${note}]`)].join("\n");
}
