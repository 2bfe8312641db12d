// What the preview shows while tools run: the text so far, and one short line for each call. Pure.

import type { ToolCall } from "../journal.ts";
import { limits } from "../limits.ts";

export type RunningCall = { readonly call: ToolCall; readonly told: string | null };

export function progressText(text: string, running: readonly RunningCall[]): string {
  const lines = running.flatMap(({ call, told }) => {
    const last = told === null ? "" : oneLine(told.trimEnd().split("\n").at(-1) ?? "");
    return last === "" ? [callLine(call)] : [callLine(call), `  ${last}`];
  });
  const shown = lines.join("\n");
  if (shown === "") return text;
  return text === "" ? shown : `${text}\n\n${shown}`;
}

/** As `… terminal: npm test`. */
export function callLine({ tool, input }: ToolCall): string {
  const short = shortInput(input);
  return oneLine(short === "" ? `… ${tool}` : `… ${tool}: ${short}`);
}

/** One thing is told as it is, several with their names. */
function shortInput(input: unknown): string {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return "";
  const parts = Object.entries(input).filter(([, value]) => isShort(value));
  const [first] = parts;
  if (first === undefined) return "";
  return parts.length === 1 ? String(first[1]) : parts.map(([name, value]) => `${name} ${String(value)}`).join(", ");
}

function isShort(value: unknown): boolean {
  return (typeof value === "string" && value !== "") || typeof value === "number" || typeof value === "boolean";
}

function oneLine(text: string): string {
  // A long value is cut before it is cleaned, because only its beginning is shown.
  const line = text
    .slice(0, limits.progressLineMax * 4)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return line.length <= limits.progressLineMax ? line : `${line.slice(0, limits.progressLineMax - 1).toWellFormed()}…`;
}
