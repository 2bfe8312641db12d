// What a tool brought back, as the model reads it: a text that is never too long, with the whole of it in a file, and with
// clear marks around what strangers wrote. Pure.

import { createHash } from "node:crypto";
import { fromOutside as markedBy } from "../../../core/access/strangers.ts";
import type { ToolResult } from "../../../core/journal.ts";

/** Where the whole of a text lies, for texts that were put into a file; null where none could be kept. */
export type KeptAt = (text: string) => string | null;

export function resultText(result: ToolResult, max: number, keptAt: KeptAt): string {
  const told = trimmed(result.type === "ok" ? outputText(result.output) : result.why, max, keptAt);
  const text = result.outside === true ? fromOutside(told) : told;
  switch (result.type) {
    case "ok":
      return text;
    case "failed":
      return `This failed: ${text}`;
    case "unknown":
      return `Nobody knows what became of this: ${text}. Find out what has happened before you do it again.`;
  }
}

export function outputText(output: unknown): string {
  if (typeof output === "string") return output === "" ? "(empty)" : output;
  return JSON.stringify(output ?? null) ?? "(nothing)";
}

/** The beginning and the end, which tell the most, and where the rest is. */
export function trimmed(text: string, max: number, keptAt: KeptAt): string {
  if (text.length <= max) return text;
  const head = whole(text.slice(0, Math.floor(max * 0.7)));
  const tail = whole(text.slice(text.length - Math.floor(max * 0.3)));
  const where = keptAt(text);
  const left = text.length - head.length - tail.length;
  const note =
    where === null
      ? "the whole text was not kept; ask for less of it"
      : `the whole text is in the file ${where}, read the parts you need`;
  return `${head}\n[… ${left} of ${text.length} characters are left out here; ${note} …]\n${tail}`;
}

/** Without the half of a character at either end. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}

/** The marks of core, with the machine's own digest. */
export function fromOutside(text: string, what?: string): string {
  return markedBy(text, what, (inner) => createHash("sha256").update(inner).digest("hex"));
}
