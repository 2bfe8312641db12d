// What was done in a turn, from the gateway's view of it: one line for each call. Pure.

import type { ToolLine } from "../pieces.ts";

const callsMax = 200;
const inputMax = 120;
const marks: Readonly<Record<string, string>> = { ok: "✓", failed: "✗", unknown: "?" };

/** `count`: of all calls; of very many the last are among the lines. */
export type Steps = { readonly count: number; readonly lines: readonly StepLine[] };
/** `took`: in milliseconds; null where it is not on record. */
export type StepLine = ToolLine & { readonly took: number | null };

type Fields = { readonly [name: string]: unknown };
type Call = { readonly id: unknown; readonly line: StepLine; readonly begunAt: number | null };

export function readSteps(value: unknown): Steps | null {
  if (!isFields(value) || !Array.isArray(value["entries"])) return null;
  const done: Call[] = [];
  // Calls belong to their step: the same id in another step is another call.
  let step = new Map<unknown, number>();
  for (const one of value["entries"] as readonly unknown[]) {
    if (!isFields(one) || !isFields(one["entry"])) continue;
    const { entry, at } = one;
    if (entry["type"] === "said" && Array.isArray(entry["calls"])) {
      step = new Map();
      for (const call of (entry["calls"] as readonly unknown[]).filter(isFields)) {
        step.set(call["call"], done.length);
        done.push(newCall(call));
      }
    }
    const place = step.get(entry["call"]);
    const call = place === undefined ? undefined : done[place];
    if (place !== undefined && call !== undefined && typeof at === "number") done[place] = next(call, entry, at);
  }
  return { count: done.length, lines: done.slice(-callsMax).map((call) => call.line) };
}

function newCall({ call, tool, input }: Fields): Call {
  const name = typeof tool === "string" ? tool : "";
  return { id: call, begunAt: null, line: { mark: "…", name, input: shortInput(input), told: "", took: null } };
}

function next(call: Call, entry: Fields, at: number): Call {
  if (entry["type"] === "tool-begun") return { ...call, begunAt: call.begunAt ?? at };
  if (entry["type"] !== "tool-ended" || !isFields(entry["result"])) return call;
  const { type, why } = entry["result"];
  const took = call.begunAt === null ? null : Math.max(0, at - call.begunAt);
  const told = typeof why === "string" ? cut(oneLine(why)) : "";
  return { ...call, line: { ...call.line, mark: marks[String(type)] ?? "?", told, took } };
}

/** One thing is told as it is, several with their names. */
function shortInput(input: unknown): string {
  if (!isFields(input)) return cut(oneLine(wordsOf(input)));
  const named = Object.entries(input);
  const [first] = named;
  const text =
    named.length === 1 && first !== undefined
      ? wordsOf(first[1])
      : named.map(([name, one]) => `${name}: ${wordsOf(one)}`).join(", ");
  return cut(oneLine(text));
}

function wordsOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 1_000) : (JSON.stringify(value) ?? "");
}

function oneLine(text: string): string {
  return text
    .slice(0, 1_000)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

function cut(text: string): string {
  return text.length <= inputMax ? text : `${text.slice(0, inputMax - 1).toWellFormed()}…`;
}

export function stepsLabel({ count }: Steps): string {
  if (count === 0) return "No calls";
  return count === 1 ? "1 call" : `${count.toLocaleString("en")} calls`;
}

export function spanOf(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
