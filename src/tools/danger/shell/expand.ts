// What the words of a script become, as far as that can be told without running it. Pure.

import type { Part, Script, Word } from "./script.ts";

/** Stands in a text for what cannot be known. */
export const unknown = "\0";
/** Stands for a plain name or number that cannot be known, but leads nowhere else. */
const someName = "0n";

/** All values a variable may have; null when they cannot be known. */
export type Variables = ReadonlyMap<string, readonly string[] | null>;

export type Expansion = {
  readonly variables: Variables;
  readonly userHome: string | null;
  /** What a script inside of a word says; null when that cannot be known. */
  readonly saidBy: (script: Script) => string | null;
};

/** One word may become many, or one of many: everything it may become is in the list. */
const most = 64;

const special = /[\s{},*?[\]~\\$]/g;
const hidden = /[\ue000-\ue0ff]/g;

/** Quoted signs mean themselves; until the end they are others that nobody reads anything into. */
function quote(text: string): string {
  return text.replace(special, (sign) => String.fromCharCode(0xe000 + sign.charCodeAt(0)));
}

function unquote(text: string): string {
  return text.replace(hidden, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xe000));
}

export type Expanded = {
  readonly text: string;
  /** It stands for all names that fit it. */
  readonly isGlob: boolean;
};

/** Null when it may become more than can be looked at. */
export function expand(word: Word, by: Expansion): readonly Expanded[] | null {
  const braced: string[] = [];
  for (const text of alternatives(word, by)?.map(withHome(by.userHome)) ?? [null]) {
    const more = text === null ? null : braces(text, most - braced.length);
    if (more === null) return null;
    braced.push(...more);
  }
  const isQuoted = word.some((part) => part.type !== "text" || part.quoted);
  return braced.flatMap((text) => {
    const pieces = text.split(/\s+/).filter((piece) => piece !== "");
    if (pieces.length === 0 && isQuoted) return [{ text: "", isGlob: false }];
    return pieces.map((piece) => ({ text: unquote(piece), isGlob: /[*?]|\[[^\]]*\]/.test(piece) }));
  });
}

/** A word that is not cut into several: the target of a redirection, the value of an assignment, a text. */
export function expandWhole(word: Word, by: Expansion): readonly string[] | null {
  return alternatives(word, by)?.map((text) => unquote(withHome(by.userHome)(text))) ?? null;
}

function alternatives(word: Word, by: Expansion): readonly string[] | null {
  let found: readonly string[] = [""];
  for (const part of word) {
    const next = valuesOf(part, by);
    if (found.length * next.length > most) return null;
    found = found.flatMap((before) => next.map((after) => before + after));
  }
  return found;
}

function valuesOf(part: Part, by: Expansion): readonly string[] {
  if (part.type === "number") return [someName];
  if (part.type === "text") return [part.quoted ? quote(part.text) : part.text];
  const values = part.type === "variable" ? variable(part, by) : [fileOrText(part, by)];
  return part.quoted ? values.map(quote) : values;
}

function fileOrText(part: Part & { readonly type: "script" }, by: Expansion): string {
  return part.as === "file" ? "/dev/fd/63" : (by.saidBy(part.script) ?? unknown);
}

const numbers = new Set(["$", "?", "#", "!", "-", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID"]);

function variable({ name, inner }: Part & { readonly type: "variable" }, by: Expansion): readonly string[] {
  if (numbers.has(name)) return [someName];
  const [base = "", changed] = name.split(" ");
  if (changed === undefined) return by.variables.get(name) ?? [unknown];
  // ${X:-this}, ${X%/}: its value, what stands in for it, or something made of both.
  const instead = (expandWhole(inner, by) ?? []).map((text) => text.replace(/^:?[-=+?]/, ""));
  return [...(by.variables.get(base) ?? []), ...instead, unknown].slice(0, 8);
}

function withHome(userHome: string | null): (text: string) => string {
  return (given) => {
    // Where it was before, or a folder put aside.
    const text = given.replace(/^~[-+\d][^/]*(?=\/|$)/, unknown);
    return text.replace(/(^|=|:)~([A-Za-z_][\w-]*)?(?=\/|$|:)/g, (_all, before: string, name?: string) => {
      // Of the user's own name the folder is known; where others have theirs is a good guess.
      if (name !== undefined && userHome?.endsWith(`/${name}`) !== true) return `${before}/home/${name}`;
      return before + (userHome ?? unknown);
    });
  };
}

/** a{b,c} is ab and ac, {1..3} some numbers; null for too many. */
function braces(text: string, left: number): readonly string[] | null {
  const open = /\{(?=[^{}]*(?:,|\.\.))/.exec(text)?.index;
  if (open === undefined) return [text];
  const inner = /^\{([^{}]*)\}/.exec(text.slice(open));
  if (inner === null) return [text];
  const choices = /,/.test(inner[1] ?? "") ? (inner[1] ?? "").split(",") : [someName];
  if (choices.length > left) return null;
  const results: string[] = [];
  for (const choice of choices) {
    const more = braces(text.slice(0, open) + choice + text.slice(open + inner[0].length), left - results.length);
    if (more === null || results.length + more.length > left) return null;
    results.push(...more);
  }
  return results;
}
