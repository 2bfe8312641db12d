// Reads a TypeScript source far enough for the tidy rules: what is code, what is text, which files it imports, and where
// its functions begin and end. No compiler: a pass over the characters that knows comments, strings and patterns.

export type Source = {
  readonly path: string;
  readonly text: string;
  /** The text with comments blanked out. */
  readonly strings: string;
  /** The text with comments and the insides of strings, templates and patterns blanked out. */
  readonly code: string;
  readonly lines: number;
  /** The line, from 1, of a place in any of the three. */
  lineAt(index: number): number;
};

export type Import = {
  readonly specifier: string;
  readonly line: number;
  /** Whether anything is imported when the program runs. */
  readonly value: boolean;
  readonly names: readonly string[];
};

export function readSource(path: string, text: string): Source {
  const isScript = /\.(?:ts|js|mjs)$/.test(path);
  const { strings, code } = isScript ? mask(text) : { strings: text, code: text };
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  return { path, text, strings, code, lines, lineAt: (index) => text.slice(0, index).split("\n").length };
}

type Kind = "code" | "text" | "comment";

/** Marks each character, then blanks what is not wanted; line ends stay, so that places stay. */
function mask(text: string): { readonly strings: string; readonly code: string } {
  const kinds: Kind[] = Array.from({ length: text.length }, () => "code");
  const mark = (from: number, to: number, kind: Kind): void => {
    for (let i = from; i < to; i++) kinds[i] = kind;
  };
  /** Braces of `${` in templates that are open, each with the depth of braces inside it. */
  const templates: number[] = [];
  let i = 0;
  while (i < text.length) {
    const one = text[i] ?? "";
    const two = text.slice(i, i + 2);
    if (two === "//") i = skipTo(text, i, /\n|$/g, 0, (end) => mark(i, end, "comment"));
    else if (two === "/*") i = skipTo(text, i + 2, /\*\/|$/g, 2, (end) => mark(i, end, "comment"));
    else if (one === '"' || one === "'") i = stringEnd(text, i, one, (end) => mark(i + 1, end - 1, "text"));
    else if (one === "/" && startsPattern(text, i)) i = patternEnd(text, i, (end) => mark(i + 1, end - 1, "text"));
    else if (one === "`" || (one === "}" && templates.at(-1) === 0)) {
      if (one === "}") templates.pop();
      const end = templateEnd(text, i + 1);
      mark(i + 1, end.at, "text");
      if (end.opens) templates.push(0);
      i = end.at + (end.opens ? 2 : 1);
    } else {
      const depth = templates.length - 1;
      if (one === "{" && depth >= 0) templates[depth] = (templates[depth] ?? 0) + 1;
      if (one === "}" && depth >= 0) templates[depth] = (templates[depth] ?? 0) - 1;
      i += 1;
    }
  }
  const keep = (wanted: readonly Kind[]): string =>
    Array.from({ length: text.length }, (_, n) => {
      const char = text[n] ?? "";
      return char === "\n" || wanted.includes(kinds[n] ?? "code") ? char : " ";
    }).join("");
  return { strings: keep(["code", "text"]), code: keep(["code"]) };
}

function skipTo(text: string, from: number, end: RegExp, extra: number, done: (end: number) => void): number {
  end.lastIndex = from;
  const at = Math.min(text.length, (end.exec(text)?.index ?? text.length) + extra);
  done(at);
  return at;
}

function stringEnd(text: string, from: number, quote: string, done: (end: number) => void): number {
  let i = from + 1;
  while (i < text.length && text[i] !== quote && text[i] !== "\n") i += text[i] === "\\" ? 2 : 1;
  done(i + 1);
  return i + 1;
}

function templateEnd(text: string, from: number): { readonly at: number; readonly opens: boolean } {
  let i = from;
  while (i < text.length && text[i] !== "`") {
    if (text[i] === "$" && text[i + 1] === "{") return { at: i, opens: true };
    i += text[i] === "\\" ? 2 : 1;
  }
  return { at: i, opens: false };
}

/** A slash is a division after a value, and begins a pattern everywhere else. */
function startsPattern(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 40), at).trimEnd();
  return (
    before === "" ||
    /[([{,;:=!&|?+\-*%<>~^]$|\b(?:return|typeof|case|in|of|do|else|void|delete|await|yield)$/.test(before)
  );
}

function patternEnd(text: string, from: number, done: (end: number) => void): number {
  let i = from + 1;
  let inClass = false;
  while (i < text.length && text[i] !== "\n" && (inClass || text[i] !== "/")) {
    if (text[i] === "[") inClass = true;
    if (text[i] === "]") inClass = false;
    i += text[i] === "\\" ? 2 : 1;
  }
  done(i + 1);
  return i + 1;
}

export function importsOf(source: Source): readonly Import[] {
  const found: Import[] = [];
  const add = (index: number, specifier: string, clause: string): void => {
    // Inside a string or a comment the word itself is blanked out.
    if (!/^(?:import|export)\b/.test(source.code.slice(index, index + 7))) return;
    const value = !/^(?:import|export)\s+type\b/.test(clause);
    const names = clause
      .replace(/^(?:import|export)\s+(?:type\s+)?/, "")
      .replace(/\bfrom\s*$/, "")
      .split(/[{},]/)
      .map((name) =>
        name
          .replace(/^\s*type\s+/, "")
          .replace(/\s+as\s+.*$/s, "")
          .trim(),
      )
      .filter((name) => name !== "");
    found.push({ specifier, line: source.lineAt(index), value, names });
  };
  for (const match of source.strings.matchAll(/\b((?:import|export)\b[^;"'`()]*?\bfrom\s*)["']([^"'\n]+)["']/g)) {
    add(match.index, match[2] ?? "", match[1] ?? "");
  }
  for (const match of source.strings.matchAll(/\b(import\s*\(?\s*)["']([^"'\n]+)["']/g)) {
    add(match.index, match[2] ?? "", "import *");
  }
  return found;
}

export type Func = {
  readonly name: string;
  /** Where it begins. */
  readonly line: number;
  /** How many lines it has, without those of functions inside it; each of them leaves its first line. */
  readonly lines: number;
};

/** Every function, method and arrow. */
export function functionsOf(source: Source): readonly Func[] {
  const spans = spansOf(source.code);
  return spans.map((span) => {
    const inside = spans.filter((one) => one !== span && one.start > span.start && one.end <= span.end);
    const outermost = inside.filter((one) => !inside.some((other) => other.start < one.start && one.end <= other.end));
    const whole = source.lineAt(span.end) - source.lineAt(span.start) + 1;
    const others = outermost.map((one) => source.lineAt(one.end) - source.lineAt(one.start));
    return { name: span.name, line: source.lineAt(span.start), lines: others.reduce((left, n) => left - n, whole) };
  });
}

type Span = { readonly name: string; readonly start: number; readonly end: number };

function spansOf(code: string): readonly Span[] {
  const closing = bracketsIn(code);
  const found: Span[] = [];
  for (const match of code.matchAll(/=>\s*/g)) {
    const body = match.index + match[0].length;
    const end = code[body] === "{" ? (closing.get(body) ?? body) : expressionEnd(code, body, closing);
    found.push({ name: "an arrow function", start: match.index, end });
  }
  const header =
    /\bfunction\b\s*\*?\s*([\w$]*)[^(]*\(|^[ \t]*(?:(?:async|static|get|set|override)\s+)*\*?([\w$#]+)(?:<[^>\n]*>)?\(/gm;
  for (const match of code.matchAll(header)) {
    const name = match[1] ?? match[2] ?? "";
    if (match[1] === undefined && notNames.has(name)) continue;
    const open = match.index + match[0].length - 1;
    const body = bodyAfter(code, (closing.get(open) ?? code.length) + 1, closing);
    const start = match.index + match[0].search(/\S/);
    if (body !== null) found.push({ name: name || "a function", start, end: closing.get(body) ?? body });
  }
  return found;
}

const notNames: ReadonlySet<string> = new Set(
  "if for while switch catch with return await super import function".split(" "),
);

function bracketsIn(code: string): ReadonlyMap<number, number> {
  const open: number[] = [];
  const closing = new Map<number, number>();
  for (const { 0: char, index } of code.matchAll(/[()[\]{}]/g)) {
    if ("([{".includes(char)) open.push(index);
    else closing.set(open.pop() ?? -1, index);
  }
  return closing;
}

/** Where the body of a function opens after its parameters, past the return type; null when it has none. */
function bodyAfter(code: string, from: number, closing: ReadonlyMap<number, number>): number | null {
  const first = code.slice(from).search(/\S/) + from;
  if (code[first] === "{") return first;
  if (code[first] !== ":") return null;
  let angles = 0;
  for (let i = first + 1; i < code.length; i++) {
    const char = code[i] ?? "";
    if (char === ";" || char === ")" || char === "}" || char === "]") return null;
    if (char === "<") angles += 1;
    if (char === ">" && code[i - 1] !== "=") angles -= 1;
    if (!"{([".includes(char)) continue;
    const end = closing.get(i) ?? code.length;
    // A brace of the return type is followed by more of the type or by the body; the body is followed by neither.
    if (char === "{" && angles === 0 && !/^\s*(?:[{|&]|\[)/.test(code.slice(end + 1, end + 40))) return i;
    i = end;
  }
  return null;
}

/** The last character of an arrow's expression: before the comma, semicolon or bracket that ends it. */
function expressionEnd(code: string, from: number, closing: ReadonlyMap<number, number>): number {
  let i = from;
  while (i < code.length && !",;)]}".includes(code[i] ?? ""))
    i = "([{".includes(code[i] ?? "") ? (closing.get(i) ?? i) + 1 : i + 1;
  return Math.max(from, i - 1);
}
