// What the preview shows while a turn works: the text of the latest step, and one short line for each call of the turn,
// finished or not. Pure.

import type { Entry, ToolCall, ToolResult } from "../journal.ts";
import { limits } from "../limits.ts";

export type RunningCall = { readonly call: ToolCall; readonly told: string | null };
export type DoneCall = { readonly call: ToolCall; readonly result: ToolResult["type"] };

const marks: Readonly<Record<ToolResult["type"], string>> = { ok: "✓", failed: "✗", unknown: "?" };
const atWork = "…";

/** Of many calls the last are shown, and how many there were before. */
export function progressText(text: string, done: readonly DoneCall[], running: readonly RunningCall[]): string {
  const calls = [
    ...done.map(({ call, result }) => callLine(call, marks[result])),
    ...running.map(({ call, told }) => {
      const last = told === null ? "" : oneLine(told.trimEnd().split("\n").at(-1) ?? "");
      return last === "" ? callLine(call, atWork) : `${callLine(call, atWork)}\n  ${last}`;
    }),
  ];
  const shown = calls.slice(-limits.progressLinesMax);
  const before = calls.length - shown.length;
  const lines = [...(before === 0 ? [] : [`… and ${before} more before`]), ...shown].join("\n");
  if (lines === "") return text;
  return text === "" ? lines : `${text}\n\n${lines}`;
}

/** The calls of a turn that have their result, in the order in which they got it. */
export function doneCalls(journal: readonly Entry[]): readonly DoneCall[] {
  const done: DoneCall[] = [];
  let step: readonly ToolCall[] = [];
  for (const entry of journal) {
    if (entry.type === "said") step = entry.calls;
    if (entry.type !== "tool-ended") continue;
    const call = step.find((one) => one.call === entry.call);
    if (call !== undefined) done.push({ call, result: entry.result.type });
  }
  return done;
}

/** What the agent said with its latest step. */
export function latestText(journal: readonly Entry[]): string {
  const said = journal.findLast((entry) => entry.type === "said");
  return said?.type === "said" ? said.text : "";
}

/** As `… terminal: npm test`. */
export function callLine({ tool, input }: ToolCall, mark: string): string {
  const short = shortInput(input);
  return oneLine(short === "" ? `${mark} ${tool}` : `${mark} ${tool}: ${short}`);
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
