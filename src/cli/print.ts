// How commands show things: tables that fit the terminal, moments, colours. Pure but for `terminalOutput`.
// Text that came from elsewhere goes through `plainText`, so that no message can steer the reader's terminal.

import type { Writable } from "node:stream";
import { lasting } from "../core/ids.ts";

export { lasting };

export type Output = {
  /** Results. */
  out(text: string): void;
  /** Everything that is not the result: faults and remarks. */
  err(text: string): void;
  readonly columns: number;
  /** Somebody sits there. */
  readonly tty: boolean;
  readonly colour: boolean;
};

export function terminalOutput(
  stdout: Writable & { isTTY?: boolean; columns?: number },
  stderr: Writable,
  env: Readonly<Record<string, string | undefined>>,
): Output {
  const tty = stdout.isTTY === true;
  const noColour = (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  return {
    out: (text) => void stdout.write(`${text}\n`),
    err: (text) => void stderr.write(`${text}\n`),
    get columns() {
      // A terminal that does not know its width says 0.
      return tty ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
    },
    tty,
    colour: tty && !noColour,
  };
}

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Colour = keyof typeof codes;

export function paint(output: Pick<Output, "colour">, colour: Colour, text: string): string {
  return output.colour && text !== "" ? `\u001B[${codes[colour]}m${text}\u001B[0m` : text;
}

/** Without characters that a terminal would obey; line breaks and tabs stay. */
export function plainText(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g, "");
}

/** The same on one line. */
export function oneLine(text: string): string {
  return plainText(text).replaceAll(/\s+/g, " ").trim();
}

/** Columns a text takes on a terminal, near enough: wide scripts and pictures take two, joiners none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(character)) continue;
    const wide =
      (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3);
    const full = (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xff60) || code >= 0x1f300;
    width += wide || full ? 2 : 1;
  }
  return width;
}

/** Cut to a width, with a sign that it was cut. */
export function fit(text: string, width: number): string {
  if (text.length * 2 <= width || widthOf(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    used += widthOf(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Rows under their headings; the last column gets what room is left and is cut. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], output: Output): string {
  const widths = headings.map((heading, i) => Math.max(widthOf(heading), ...rows.map((row) => widthOf(row[i] ?? ""))));
  const last = headings.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0);
  const room = Math.max(10, output.columns - before);
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) =>
        i === last ? fit(cell, room) : cell + " ".repeat(Math.max(0, (widths[i] ?? 0) - widthOf(cell))),
      )
      .join("  ")
      .trimEnd();
  return [paint(output, "dim", line(headings)), ...rows.map(line)].join("\n");
}

/** `name  value` lines, values in one column. */
export function facts(pairs: readonly (readonly [string, string])[], output: Output): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${paint(output, "dim", name.padEnd(width))}  ${value}`).join("\n");
}

/** Local and short, with how long ago: `14:03 (5 min ago)`, `12 Nov 14:03 (3 d ago)`. */
export function when(at: number, now: number): string {
  return `${localTime(at, now)} (${distance(at, now)})`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** With seconds for the steps of a turn. */
export function clockTime(at: number): string {
  const date = new Date(at);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

function localTime(at: number, now: number): string {
  const date = new Date(at);
  const today = new Date(now);
  const time = clockTime(at).slice(0, 5);
  if (date.toDateString() === today.toDateString()) return time;
  const day = `${date.getDate()} ${months[date.getMonth()]}`;
  return date.getFullYear() === today.getFullYear() ? `${day} ${time}` : `${day} ${date.getFullYear()} ${time}`;
}

function distance(at: number, now: number): string {
  const span = lasting(Math.abs(now - at));
  if (span === "0 s") return "now";
  return at <= now ? `${span} ago` : `in ${span}`;
}

/** `1 unsent message`, `2 unsent messages`. */
export function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

export function sizeText(bytes: number): string {
  const mega = bytes / 1024 / 1024;
  if (mega < 1) return `${Math.ceil(bytes / 1024)} kB`;
  return mega < 1024 ? `${mega.toFixed(1)} MB` : `${(mega / 1024).toFixed(1)} GB`;
}
