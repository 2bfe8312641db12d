// Lines of IRC: read, with the tags of IRCv3, and written, cut to what a server passes on. Pure.

import { likelyLetters } from "../../ports/letters.ts";

const lineEnd = 0x0a;
const carriageReturn = 0x0d;

/**
 * Cuts what arrives into lines. Bytes, not letters: nobody says what a line is written in, and only the whole of it tells.
 * Servers cut long lines inside a letter, so one that is UTF-8 but for that stays so.
 */
export function cutLines() {
  let rest: Buffer[] = [];
  let held = 0;
  return {
    /** How many bytes wait for the end of their line. */
    held: (): number => held,
    take(chunk: Buffer): readonly string[] {
      const lines: string[] = [];
      let begin = 0;
      for (let end = chunk.indexOf(lineEnd); end >= 0; end = chunk.indexOf(lineEnd, begin)) {
        const whole = Buffer.concat([...rest, chunk.subarray(begin, end)]);
        lines.push(likelyLetters(whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole).text);
        rest = [];
        held = 0;
        begin = end + 1;
      }
      if (begin < chunk.length) rest.push(chunk.subarray(begin));
      held += chunk.length - begin;
      return lines;
    },
  };
}

export type Line = {
  readonly tags: Readonly<Record<string, string>>;
  /** Who it is from: a nick, or a server. Empty when it says nothing. */
  readonly nick: string;
  /** The whole of `nick!user@host`. */
  readonly mask: string;
  readonly command: string;
  readonly params: readonly string[];
};

/** null: nothing that a server would send. */
export function parseLine(raw: string): Line | null {
  const line = raw.replace(/(?<![\r\n\0])[\r\n\0]+$/, "");
  // Only the space parts words here; whatever else is white or ends lines elsewhere is a letter like any other.
  const found = /^(?:@([^ ]+) +)?(?::([^ ]+) +)?([a-z]+|\d{3})(?: +(.*))?$/is.exec(line);
  if (found === null) return null;
  const [, tags = "", mask = "", command = "", rest = ""] = found;
  const at = rest.startsWith(":") ? 0 : rest.indexOf(" :");
  const middle = (at < 0 ? rest : rest.slice(0, at)).split(" ").filter((word) => word !== "");
  const trailing = at < 0 ? [] : [rest.slice(rest.startsWith(":") ? 1 : at + 2)];
  return {
    tags: parseTags(tags),
    nick: mask.split("!", 1)[0] ?? "",
    mask,
    command: command.toUpperCase(),
    params: [...middle, ...trailing],
  };
}

const escapes: Readonly<Record<string, string>> = { ":": ";", s: " ", r: "\r", n: "\n", "\\": "\\" };

function parseTags(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(";").filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
      return [key, value.replace(/\\(.?)/g, (_, mark: string) => escapes[mark] ?? mark)];
    }),
  );
}

/** Which names are one to a server: which marks it takes for small and large letters of each other. */
export type Mapping = "ascii" | "strict-rfc1459" | "rfc1459";

const small: Readonly<Record<Mapping, Readonly<Record<string, string>>>> = {
  ascii: {},
  "strict-rfc1459": { "[": "{", "]": "}", "\\": "|" },
  rfc1459: { "[": "{", "]": "}", "\\": "|", "~": "^" },
};

/** What it said in its 005, null when nothing about this. Where it compares in a way of its own, only letters are alike. */
export function mappingIn({ command, params }: Line): Mapping | null {
  const told = command === "005" ? params.find((one) => one.startsWith("CASEMAPPING=")) : undefined;
  if (told === undefined) return null;
  const [, name = ""] = told.toLowerCase().split("=", 2);
  return name === "rfc1459" || name === "strict-rfc1459" ? name : "ascii";
}

/** The same for names that are one to the server, and for no others: two people must never be taken for one. */
export function fold(name: string, mapping: Mapping): string {
  return name.replace(/[A-Z[\]\\~]/g, (mark) =>
    mark >= "A" && mark <= "Z" ? mark.toLowerCase() : (small[mapping][mark] ?? mark),
  );
}

export function isChannel(name: string): boolean {
  return /^[#&+!]/.test(name);
}

/** A line has 512 bytes with its end, and the server puts our mask before it: a nick, ten letters of user, 63 of host. */
const lineMax = 512;
const maskMax = 30 + 10 + 63 + 4;

export function roomFor(target: string): number {
  return lineMax - 2 - maskMax - Buffer.byteLength(`PRIVMSG ${target} :`);
}

/** Lines of at most so many bytes, cut at spaces where there are some, never inside a character. Empty ones cannot be said. */
export function sayable(text: string, room: number): readonly string[] {
  return text
    .split(/[\r\n\0]+/)
    .flatMap((line) => cut(line.trimEnd(), room))
    .filter((line) => line.trim() !== "");
}

function cut(line: string, room: number): readonly string[] {
  const lines: string[] = [];
  let rest = line;
  while (Buffer.byteLength(rest) > room) {
    const head = within(rest, room);
    const space = head.lastIndexOf(" ");
    const at = space > head.length / 2 ? space + 1 : head.length;
    lines.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at);
  }
  return [...lines, rest];
}

function within(text: string, room: number): string {
  let bytes = 0;
  let at = 0;
  for (const letter of text) {
    bytes += Buffer.byteLength(letter);
    if (bytes > room) break;
    at += letter.length;
  }
  return text.slice(0, Math.max(1, at));
}
