// A record of the log for a person at a terminal: time, level, sentence, facts. Pure; the record has been redacted before.
// Nothing in a record can steer the terminal: characters that could are written as escapes.

import type { LogLevel } from "../ports/world.ts";
import type { LogRecord } from "./json.ts";

const colours: Readonly<Record<LogLevel, number>> = { debug: 90, info: 36, warn: 33, error: 31 };

/** `12:34:56 info  message stored  session=s1 turn=t1`, in the person's own time zone. */
export function prettyLine(record: LogRecord, colour: boolean): string {
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const facts = Object.entries(record.facts)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${paint(90, `${harmless(key)}=`)}${shown(value)}`);
  const level = paint(colours[record.level], record.level.padEnd(5));
  const line = `${paint(90, clock(record.time))} ${level} ${harmless(record.what)}${facts.length > 0 ? " " : ""}${facts.join("")}`;
  const stack = record.level === "error" ? stackIn(record.facts) : [];
  return [line, ...stack.map((one) => paint(90, `    ${harmless(one.trim())}`))].join("\n");
}

/** Colour only for a terminal, and never against the person's wish. */
export function wantsColour(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

function clock(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "--:--:--";
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((one) => String(one).padStart(2, "0")).join(":");
}

/** The stack of an error stands below the line; the fact itself shows its sentence. */
function stackIn(facts: LogRecord["facts"]): readonly string[] {
  const stacks = Object.values(facts).map((value) => (isGroup(value) ? value["stack"] : null));
  return stacks.find((one) => typeof one === "string")?.split("\n") ?? [];
}

function shown(value: unknown): string {
  if (typeof value === "string") return /^[\w@%+:,./~-]+$/.test(value) ? value : harmless(JSON.stringify(value));
  if (isGroup(value) && typeof value["message"] === "string" && typeof value["name"] === "string")
    return shown(causes(value, value["message"]));
  return harmless(JSON.stringify(value) ?? "");
}

/** "could not be stored: disk full": each error and the one that caused it. */
function causes(error: Record<string, unknown>, message: string): string {
  const { cause } = error;
  if (!isGroup(cause) || typeof cause["message"] !== "string") return message;
  const deeper = causes(cause, cause["message"]);
  return message.includes(deeper) ? message : `${message}: ${deeper}`;
}

/** Control characters, and those that change the direction of text. */
function harmless(text: string): string {
  return text.replace(
    /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
