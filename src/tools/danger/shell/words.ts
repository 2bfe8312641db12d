// Reads one word of a shell script, with its quotes, escapes, variables and the scripts inside of it. Pure.

import type { Part, Script, Word } from "./script.ts";

/** It is no script that a shell would run as it stands, or none that we can read. */
export class Unreadable extends Error {}

/** Where we are in a text. */
export class Cursor {
  readonly text: string;
  at = 0;
  /** How deep scripts are inside of each other. */
  readonly depth: number;
  /** What may still be tried: a number may turn out to be a script, and then both readings have been made. */
  readonly tries: { left: number };
  #inner = 0;

  constructor(text: string, depth: number, tries: { left: number } = { left: 1_000 }) {
    if (depth > 12) throw new Unreadable("scripts inside of scripts go too deep");
    this.text = text;
    this.depth = depth;
    this.tries = tries;
  }

  /** Reads something that may hold more of its own kind. */
  deeper<T>(read: () => T): T {
    if (++this.#inner > 40) throw new Unreadable("its parts are too deep inside of each other");
    const result = read();
    this.#inner -= 1;
    return result;
  }

  get next(): string {
    return this.text[this.at] ?? "";
  }

  get isDone(): boolean {
    return this.at >= this.text.length;
  }

  sees(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  /** It stands there as a word of its own. */
  seesWord(word: string): boolean {
    const after = this.text[this.at + word.length] ?? "";
    return this.sees(word) && (after === "" || /[\s;&|<>()]/.test(after));
  }

  /** Takes it when it is next. */
  takes(text: string): boolean {
    if (!this.sees(text)) return false;
    this.at += text.length;
    return true;
  }

  /** Everything up to that text, which is taken too. */
  until(text: string): string {
    const end = this.text.indexOf(text, this.at);
    if (end < 0) throw new Unreadable(`a ${text} is missing`);
    const found = this.text.slice(this.at, end);
    this.at = end + text.length;
    return found;
  }
}

/** Reads the script at the cursor up to the closing text, which is taken. */
export type ReadScript = (cursor: Cursor, closing: ")") => Script;
export type ReadText = (text: string, depth: number) => Script;
export type Readers = { readonly inside: ReadScript; readonly whole: ReadText };

const ends = new Set([" ", "\t", "\n", "\r", ";", "&", "|", "<", ">", "(", ")", ""]);

export function readWord(cursor: Cursor, readers: Readers): Word {
  const parts: Part[] = [];
  let text = "";
  const flush = () => {
    if (text !== "") parts.push({ type: "text", text, quoted: false });
    text = "";
  };
  while (!ends.has(cursor.next)) {
    const one = cursor.next;
    if (one === "\\") {
      cursor.at += 1;
      if (!cursor.takes("\n")) {
        flush();
        parts.push({ type: "text", text: cursor.next, quoted: true });
        cursor.at += 1;
      }
    } else if (one === "'") {
      flush();
      cursor.at += 1;
      parts.push({ type: "text", text: cursor.until("'"), quoted: true });
    } else if (one === '"') {
      flush();
      cursor.at += 1;
      parts.push(...readQuoted(cursor, readers, '"'));
    } else if (one === "$" || one === "`") {
      flush();
      parts.push(...readDollar(cursor, readers, false));
    } else {
      text += one;
      cursor.at += 1;
    }
  }
  flush();
  return parts;
}

/** The rest of <(…) or >(…): a file to speak with a script. */
export function readSpoken(cursor: Cursor, readers: Readers): Part {
  return { type: "script", script: readers.inside(cursor, ")"), as: "file", quoted: true };
}

/** Text in which variables and scripts are still expanded, up to a closing quote, or to its end for "". */
export function readQuoted(cursor: Cursor, readers: Readers, closing: '"' | "" | "}"): Word {
  const parts: Part[] = [];
  let text = "";
  const quoted = closing !== "}";
  const flush = () => {
    parts.push({ type: "text", text, quoted });
    text = "";
  };
  for (;;) {
    if (cursor.isDone) {
      if (closing !== "") throw new Unreadable(`a ${closing} is missing`);
      break;
    }
    if (closing !== "" && cursor.takes(closing)) break;
    if (cursor.next === "\\") {
      const escaped = cursor.text[cursor.at + 1] ?? "";
      cursor.at += 2;
      if (escaped !== "\n") text += '$`"\\}'.includes(escaped) ? escaped : `\\${escaped}`;
    } else if (cursor.next === "$" || cursor.next === "`") {
      flush();
      parts.push(...readDollar(cursor, readers, quoted));
    } else if (closing === "}" && (cursor.next === "'" || cursor.next === '"')) {
      flush();
      parts.push(...readWord(cursor, readers));
    } else {
      text += cursor.next;
      cursor.at += 1;
    }
  }
  flush();
  return parts;
}

function readDollar(cursor: Cursor, readers: Readers, quoted: boolean): readonly Part[] {
  if (cursor.takes("`")) return [{ type: "script", script: backticks(cursor, readers), as: "text", quoted }];
  const number = cursor.sees("$((") || cursor.sees("$[") ? readNumber(cursor, readers) : null;
  if (number !== null) return [number];
  if (cursor.takes("$(")) return [{ type: "script", script: readers.inside(cursor, ")"), as: "text", quoted }];
  if (cursor.takes("${")) return [readBraces(cursor, readers, quoted)];
  if (!quoted && cursor.takes("$'")) return [{ type: "text", text: ansi(cursor), quoted: true }];
  if (!quoted && cursor.takes('$"')) return readQuoted(cursor, readers, '"');
  const name = /^\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(cursor.text.slice(cursor.at, cursor.at + 256))?.[0];
  cursor.at += name?.length ?? 1;
  return name === undefined
    ? [{ type: "text", text: "$", quoted: true }]
    : [{ type: "variable", name: name.slice(1), quoted, inner: [] }];
}

function backticks(cursor: Cursor, readers: Readers): Script {
  let text = "";
  while (!cursor.takes("`")) {
    if (cursor.isDone) throw new Unreadable("a ` is missing");
    // A backslash inside means itself, except before what has a meaning here.
    if (cursor.next === "\\" && "`\\$".includes(cursor.text[cursor.at + 1] ?? " ")) cursor.at += 1;
    text += cursor.next;
    cursor.at += 1;
  }
  return readers.whole(text, cursor.depth + 1);
}

/**
 * What is computed, $((…)), $[…] or ((…)); scripts may hide in it. Null, with nothing taken, when it is none: a script in
 * parentheses at the beginning of another looks the same at first.
 */
export function readNumber(cursor: Cursor, readers: Readers): Part | null {
  if (--cursor.tries.left < 0) throw new Unreadable("too much is to be computed");
  const start = cursor.at;
  const opened = /^\$?(?:\(\(|\[)/.exec(cursor.text.slice(start, start + 3))?.[0] ?? "";
  const [opening, closing] = opened.endsWith("[") ? ["[", "]"] : ["(", ")"];
  const inner: Part[] = [];
  let open = opening === "[" ? 1 : 2;
  let text = "";
  cursor.at += opened.length;
  while (open > 0 && !cursor.isDone) {
    if (cursor.next === "$" || cursor.next === "`") {
      inner.push(...cursor.deeper(() => readDollar(cursor, readers, true)));
      text += "1";
      continue;
    }
    if (cursor.next === opening) open += 1;
    if (cursor.next === closing) open -= 1;
    text += cursor.next;
    cursor.at += 1;
  }
  // Two words beside each other are no sum, nor are options and paths; and both parentheses close together.
  const isWords = /[\w)]\s+[\w(]|^\s*[/*%.~]|\s--?[A-Za-z]|(?:[/*%&|<>=]|[^+]\+|[^-]-)\s*\)\)$/.test(text);
  const isNumber = open === 0 && (opening === "[" || text.endsWith("))")) && !isWords;
  if (isNumber) return { type: "number", inner };
  cursor.at = start;
  return null;
}

function readBraces(cursor: Cursor, readers: Readers, quoted: boolean): Part {
  const rest = cursor.text.slice(cursor.at, cursor.at + 256);
  const length = /^#([A-Za-z_]\w*|[@*])\}/.exec(rest)?.[0];
  if (length !== undefined) {
    cursor.at += length.length;
    return { type: "number", inner: [] };
  }
  const name = /^!?(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(rest)?.[0] ?? "";
  cursor.at += name.length;
  if (cursor.takes("}")) return { type: "variable", name, quoted, inner: [] };
  // With a change to its value, what it becomes is not followed: the name is one that nobody has.
  return {
    type: "variable",
    name: `${name} changed`,
    quoted,
    inner: cursor.deeper(() => readQuoted(cursor, readers, "}")),
  };
}

const letters: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  v: "\v",
};

/** $'…', in which characters are written by their numbers. */
function ansi(cursor: Cursor): string {
  const end = /^(?:[^'\\]|\\[\s\S])*'/.exec(cursor.text.slice(cursor.at))?.[0];
  if (end === undefined) throw new Unreadable("a ' is missing");
  cursor.at += end.length;
  const pattern = /\\(?:x([0-9a-f]{1,2})|u([0-9a-f]{1,4})|U([0-9a-f]{1,8})|([0-7]{1,3})|c(.)|([\s\S]))/gi;
  return end
    .slice(0, -1)
    .replace(pattern, (_all, x?: string, u?: string, big?: string, octal?: string, c?: string, l?: string) => {
      const hex = x ?? u ?? big;
      if (hex !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10_ff_ff));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 255);
      if (c !== undefined) return String.fromCharCode(c.charCodeAt(0) & 31);
      return letters[l ?? ""] ?? l ?? "";
    });
}

/** All lines up to the one that is only the ending, which is taken too. */
export function readLines(cursor: Cursor, ending: string, tabs: boolean): string {
  const lines: string[] = [];
  for (;;) {
    if (cursor.isDone) throw new Unreadable(`the text announced with <<${ending} does not end`);
    const end = cursor.text.indexOf("\n", cursor.at);
    const raw = cursor.text.slice(cursor.at, end < 0 ? undefined : end);
    cursor.at = end < 0 ? cursor.text.length : end + 1;
    const line = tabs ? raw.replace(/^\t+/, "") : raw;
    if (line === ending) return lines.join("\n");
    lines.push(line);
  }
}

/** The word as it is written, where it is only text. */
export function textOf(word: Word): string {
  return word.map((part) => (part.type === "text" ? part.text : "")).join("");
}
