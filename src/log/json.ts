// A record of the log as one line of JSON, and back. Pure; the record has been redacted before it comes here.

import type { Facts, LogLevel } from "../ports/world.ts";

export type LogRecord = {
  /** ISO, in UTC. */
  readonly time: string;
  readonly level: LogLevel;
  /** What happened, in a sentence. */
  readonly what: string;
  readonly facts: Facts;
};

export const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export function jsonLine({ time, level, what, facts }: LogRecord): string {
  return JSON.stringify(Object.keys(facts).length === 0 ? { time, level, what } : { time, level, what, facts });
}

/** Null for a line that is none of ours, such as half a line at the end of a file. */
export function readJsonLine(line: string): LogRecord | null {
  const value = parse(line);
  if (!isGroup(value)) return null;
  const { time, what, facts = {} } = value;
  const level = levels.find((one) => one === value["level"]);
  if (typeof time !== "string" || typeof what !== "string" || level === undefined || !isGroup(facts)) return null;
  return { time, level, what, facts };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
