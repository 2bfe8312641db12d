// The thread that tries patterns. A pattern can be written so that it runs for years; here it blocks nothing else, and the
// worker ends the thread when the time is over.

import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { globPattern } from "./glob.ts";

export type SeekOrder = { readonly glob: string | null; readonly pattern: string | null; readonly ignoreCase: boolean };
export type SeekAsk =
  | { readonly type: "names"; readonly names: readonly string[] }
  | { readonly type: "text"; readonly bytes: Uint8Array; readonly linesMax: number };
export type Hit = { readonly line: number; readonly text: string };
export type SeekAnswer =
  | { readonly type: "names"; readonly fits: readonly boolean[] }
  | { readonly type: "hits"; readonly hits: readonly Hit[]; readonly more: boolean };

const lineMax = 300;

/** One answer to each question. */
export function seeker({ glob, pattern, ignoreCase }: SeekOrder): (ask: SeekAsk) => SeekAnswer {
  const names = glob === null ? null : globPattern(glob);
  const lines = pattern === null ? null : linePattern(pattern, ignoreCase);
  return (ask) => {
    if (ask.type === "names") return { type: "names", fits: ask.names.map((name) => names?.test(name) ?? true) };
    const hits: Hit[] = [];
    const text = new TextDecoder().decode(ask.bytes);
    let line = 0;
    for (let at = 0; lines !== null && at < text.length; ) {
      const next = text.indexOf("\n", at);
      const end = next === -1 ? text.length : next;
      const one = text.slice(at, text[end - 1] === "\r" ? end - 1 : end);
      line++;
      at = end + 1;
      const found = lines.exec(one);
      if (found === null) continue;
      if (hits.length === ask.linesMax) return { type: "hits", hits, more: true };
      hits.push({ line, text: around(one, found.index) });
    }
    return { type: "hits", hits, more: false };
  };
}

/** As strict readers read it, else as lenient ones do; other languages write "ignore case" at its beginning. */
export function linePattern(pattern: string, ignoreCase: boolean): RegExp {
  const bare = pattern.replace(/^\(\?i\)/, "");
  const flags = ignoreCase || bare !== pattern ? "i" : "";
  try {
    return new RegExp(bare, `${flags}u`);
  } catch {
    return new RegExp(bare, flags);
  }
}

/** A line of a packed file is as long as the file: what is shown is the part that was found. */
function around(line: string, at: number): string {
  if (line.length <= lineMax) return line;
  const from = Math.max(0, Math.min(at - 50, line.length - lineMax));
  return `${from > 0 ? "…" : ""}${line.slice(from, from + lineMax).toWellFormed()}${from + lineMax < line.length ? "…" : ""}`;
}

type Started = { readonly everturnSeek: SeekOrder };

function isStarted(data: unknown): data is Started {
  return typeof data === "object" && data !== null && "everturnSeek" in data;
}

if (!isMainThread && isStarted(workerData)) {
  const answer = seeker(workerData.everturnSeek);
  parentPort?.on("message", (ask: SeekAsk) => parentPort?.postMessage(answer(ask)));
}
