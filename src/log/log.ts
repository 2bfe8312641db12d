// The log: level, redaction, form, and one line to `write`. It never throws and never waits, because nobody who logs can
// do anything about a log that fails; what was lost is counted and told with the next line that gets through.

import type { Facts, LogLevel } from "../ports/world.ts";
import { type LogRecord, jsonLine, levels } from "./json.ts";
import { prettyLine } from "./pretty.ts";
import { type Redactor, redactor } from "./redact.ts";

export type Log = (level: LogLevel, what: string, facts?: Facts) => void;

export type LogOptions = {
  /** Records below it are left out. */
  readonly level: LogLevel;
  readonly format: "json" | "pretty";
  /** Only for `pretty`. */
  readonly colour?: boolean;
  /** Takes one whole line, with its end. Must not wait. */
  readonly write: (line: string) => void;
  /** Values that must never be written. */
  readonly secrets: readonly string[];
  readonly now?: () => number;
};

export function openLog(options: LogOptions): Log {
  const least = levels.indexOf(options.level);
  const hide = redactor(options.secrets);
  const now = options.now ?? Date.now;
  let lost = 0;
  const put = (record: LogRecord) => {
    const line = options.format === "json" ? jsonLine(record) : prettyLine(record, options.colour === true);
    options.write(`${line}\n`);
  };
  return (level, what, facts) => {
    if (levels.indexOf(level) < least) return;
    try {
      const time = new Date(now()).toISOString();
      if (lost > 0) {
        put({ time, level: "warn", what: "log records could not be written before this one", facts: { lost } });
        lost = 0;
      }
      put({ time, level, what: hide.text(String(what)), facts: plainFacts(hide, facts) });
    } catch {
      lost += 1;
    }
  };
}

function plainFacts(hide: Redactor, facts: unknown): Facts {
  if (facts === undefined || facts === null) return {};
  const plain = hide.facts(facts);
  const isGroup = typeof plain === "object" && plain !== null && !Array.isArray(plain);
  return isGroup ? Object.fromEntries(Object.entries(plain)) : { facts: plain };
}

/** One record to several logs, such as the terminal and the file. */
export function both(...logs: readonly Log[]): Log {
  return (level, what, facts) => {
    for (const log of logs) log(level, what, facts);
  };
}
