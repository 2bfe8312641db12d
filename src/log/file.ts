// Appends lines to a file in the background and turns it over by size. Whoever writes never waits and never fails: lines
// queue up to a limit, and what a failing disk costs is counted and told in the file when it works again.
// The file is opened anew for each batch, so it may be moved or deleted at any time.

import { type FileHandle, mkdir, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { sentenceOf } from "../core/fault.ts";
import { jsonLine } from "./json.ts";

export type LogFileOptions = {
  readonly file: string;
  /** Size at which a new file is begun. */
  readonly maxBytes?: number;
  /** Files altogether: `gateway.log`, `gateway.log.1`, … */
  readonly files?: number;
  /** Most text waiting to be written, in UTF-16 units. */
  readonly queueMax?: number;
  /** Pause after a failure before the next try, unless somebody flushes. */
  readonly pauseMs?: number;
  readonly now?: () => number;
};

export type LogFile = {
  write(line: string): void;
  /** Resolves when everything written so far is in the file, or could not be. Never rejects; waits as long as the disk does. */
  flush(): Promise<void>;
  /** For status: why the last try failed, and how many lines were lost since. */
  trouble(): { readonly why: string | null; readonly lost: number };
};

export function openLogFile(options: LogFileOptions): LogFile {
  const { file, maxBytes = 10_000_000, files = 3, queueMax = 4_000_000, pauseMs = 1_000, now = Date.now } = options;
  let queue: string[] = [];
  let queued = 0;
  let lost = 0;
  let why: string | null = null;
  let failedAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | null = null;

  /** Begins a line of its own, because the write that failed may have left half of one. */
  const noteOfLost = () => {
    if (lost === 0) return "";
    const time = new Date(now()).toISOString();
    return `\n${jsonLine({ time, level: "warn", what: "log lines were lost", facts: { lost, why } })}\n`;
  };

  const writeBatch = async () => {
    const batch = queue;
    const lostBefore = lost;
    const text = noteOfLost() + batch.join("");
    queue = [];
    queued = 0;
    try {
      await append(file, text, maxBytes, files);
      why = null;
      lost -= lostBefore;
    } catch (error) {
      why = sentenceOf(error);
      failedAt = now();
      lost += batch.length;
    }
  };

  /** One writer at a time; lines that come meanwhile make the next batch. */
  const drain = async () => {
    // Lines of the same moment share one batch.
    await Promise.resolve();
    do {
      await writeBatch();
    } while (queue.length > 0 && why === null);
    writing = null;
  };
  const start = () => (writing ??= drain());

  return {
    write(line) {
      if (queued + line.length > queueMax) {
        lost += 1;
        return;
      }
      queue.push(line);
      queued += line.length;
      if (writing === null && now() - failedAt >= pauseMs) void start();
    },
    async flush() {
      if (writing !== null) await writing;
      if (queue.length > 0) await start();
    },
    trouble: () => ({ why, lost }),
  };
}

async function append(file: string, text: string, maxBytes: number, files: number): Promise<void> {
  const size = await sizeOf(file);
  if (size > 0 && size + Buffer.byteLength(text) > maxBytes) await turnOver(file, files);
  const handle = await openForAppend(file);
  try {
    await handle.appendFile(text);
  } finally {
    await handle.close();
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw error;
  }
}

/** Logs may tell who said what, so only their owner may read them. */
async function openForAppend(file: string): Promise<FileHandle> {
  try {
    return await open(file, "a", 0o600);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return await open(file, "a", 0o600);
  }
}

async function turnOver(file: string, files: number): Promise<void> {
  for (let n = files - 1; n > 0; n--) {
    try {
      await rename(n === 1 ? file : `${file}.${n - 1}`, `${file}.${n}`);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
