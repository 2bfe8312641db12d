// Reads the end of a log that is turned over by size (`gateway.log`, `gateway.log.1`, …) and follows it: across a
// turn-over, across restarts of whoever writes it, and also when there is no file yet. Only whole lines are given.

import { type FileHandle, open, readFile, stat } from "node:fs/promises";

/** How far a file was read; which file that was, whatever it is called now. */
export type Position = { readonly file: string; readonly offset: number };

/** As many as are ever kept. */
const filesMax = 9;

/** The newest lines of all files together, oldest first, and from where to follow. */
export async function lastLines(
  path: string,
  count: number,
): Promise<{ readonly lines: readonly string[]; readonly at: Position | null; readonly exists: boolean }> {
  let lines: readonly string[] = [];
  let at: Position | null = null;
  let exists = false;
  for (let n = 0; n <= filesMax && lines.length < count; n++) {
    const found = await readWhole(nameOf(path, n));
    if (found === null && n > 0) break;
    if (found === null) continue;
    exists = true;
    const whole = found.text.lastIndexOf("\n") + 1;
    if (n === 0) at = { file: found.file, offset: Buffer.byteLength(found.text.slice(0, whole)) };
    lines = [...linesIn(found.text.slice(0, whole)), ...lines];
  }
  return { lines: lines.slice(-count), at, exists };
}

function nameOf(path: string, n: number): string {
  return n === 0 ? path : `${path}.${n}`;
}

function linesIn(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

async function readWhole(path: string): Promise<{ readonly text: string; readonly file: string } | null> {
  try {
    const file = idOf(await stat(path, { bigint: true }));
    return { text: await readFile(path, "utf8"), file };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function idOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Lines from there on, as they are written, until the signal aborts. `rest` waits for the next look. */
export async function* followLines(
  path: string,
  from: Position | null,
  signal: AbortSignal,
  rest: () => Promise<void>,
): AsyncGenerator<string> {
  let reader = from === null ? null : await openAt(path, from);
  try {
    while (!signal.aborted) {
      reader ??= await openAt(path, null);
      if (reader !== null) {
        yield* reader.lines();
        // Asked after it was read to its end: what was written to it before it was turned over is not missed.
        const next = await successorOf(path, reader.file);
        if (next !== null) {
          yield* reader.lines();
          await reader.close();
          reader = await openAt(next, null);
          continue;
        }
      }
      await rest();
    }
  } finally {
    await reader?.close();
  }
}

type Reader = { readonly file: string; lines(): AsyncGenerator<string>; close(): Promise<void> };

/** The file that was read up to this position, under whichever name it has now; with none, the present one. */
async function openAt(path: string, at: Position | null): Promise<Reader | null> {
  for (let n = 0; n <= (at === null ? 0 : filesMax); n++) {
    const handle = await openOrNull(nameOf(path, n));
    if (handle === null) continue;
    const file = idOf(await handle.stat({ bigint: true }));
    if (at === null) return readerOf(handle, file, 0);
    if (file === at.file) return readerOf(handle, file, at.offset);
    await handle.close();
  }
  // It was thrown away; the oldest there is comes next.
  return at === null ? null : openAt(path, null);
}

async function openOrNull(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** The name of the file that was begun after this one, or null while it is the present one. */
async function successorOf(path: string, file: string): Promise<string | null> {
  for (let n = 0; n <= filesMax; n++) {
    const found = await idAt(nameOf(path, n));
    if (found === file) return n === 0 ? null : nameOf(path, n - 1);
    if (found === null && n > 0) break;
  }
  // Gone altogether: whatever is there now follows, if there is anything.
  return (await idAt(path)) === null ? null : path;
}

async function idAt(path: string): Promise<string | null> {
  try {
    return idOf(await stat(path, { bigint: true }));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const chunkBytes = 65_536;

function readerOf(handle: FileHandle, file: string, offset: number): Reader {
  let at = offset;
  let rest = Buffer.alloc(0);
  return {
    file,
    async *lines() {
      // Cut shorter by somebody: what is there now is new.
      if ((await handle.stat()).size < at) {
        at = 0;
        rest = Buffer.alloc(0);
      }
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.alloc(chunkBytes), 0, chunkBytes, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = rest.lastIndexOf(10) + 1;
        const text = rest.subarray(0, end).toString("utf8");
        rest = rest.subarray(end);
        yield* linesIn(text);
      }
    },
    close: () => handle.close(),
  };
}
