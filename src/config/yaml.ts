// YAML text to a plain value, with the place of every key. Imported only when there is a config.yaml, because the parser
// is the largest thing that a start would load. Faults are told in our own words: the parser's quote the text, secrets included.

import { type Document, LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument } from "yaml";
import { exactInteger } from "./env.ts";
import { type ConfigFault, type KeyPath, faultAt, formatKey } from "./faults.ts";

export type ParsedYaml =
  | { readonly type: "parsed"; readonly value: unknown; readonly lines: ReadonlyMap<string, number> }
  | { readonly type: "wrong"; readonly faults: readonly ConfigFault[] };

const mostFaults = 20;
/** Values after aliases are expanded; a real configuration has a few hundred. */
const mostValues = 10_000;
const deepest = 32;

const sentences: Readonly<Record<string, readonly [what: string, todo: string]>> = {
  TAB_AS_INDENT: ["this line is indented with a tab", "use spaces"],
  BAD_INDENT: [
    "the indentation does not fit the lines before, or a bracket is not closed",
    "line it up with its neighbours",
  ],
  BLOCK_AS_IMPLICIT_KEY: [
    "there are two keys on one line",
    "put the second on its own line, or quote text that holds a colon",
  ],
  MULTILINE_IMPLICIT_KEY: ["a key has no colon after it, or goes over several lines", "write key: value"],
  MISSING_CHAR: ["something is not finished: a quote, a bracket, a comma or a colon is missing", "add it"],
  BAD_SCALAR_START: ["a value begins with a character that YAML keeps for itself", "put the value in quotes"],
  BAD_DQ_ESCAPE: ["an escape after a backslash is not known", "write \\\\ for a backslash, or use single quotes"],
  MULTIPLE_DOCS: ["a second document begins here", "remove the line with ---"],
  BAD_ALIAS: ["an alias names an anchor that does not stand before it", "write the value itself"],
  RESOURCE_EXHAUSTION: ["the values are nested too deeply", "make it flatter"],
  TAG_RESOLVE_FAILED: ["a tag (!…) is not known here", "remove the tag"],
  KEY_OVER_1024_CHARS: ["a key is too long", "shorten it"],
};
const otherwise = ["this is not YAML that can be read", "correct it"] as const;

export function parseYaml(text: string, file: string): ParsedYaml {
  const places = new LineCounter();
  const document = parse(text, places);
  if (document === null)
    return { type: "wrong", faults: [faultAt({ file, line: null, variable: null }, "", ...tooDeep)] };
  const bad = [...document.errors, ...document.warnings].toSorted((a, b) => a.pos[0] - b.pos[0]);
  if (bad.length === 0) return new Reader(document, places, file).read();
  // Once the parser has lost its way, every token after that is a fault to it.
  const lost = bad.findIndex((error) => error.code === "UNEXPECTED_TOKEN");
  const faults = bad.slice(0, lost < 0 ? mostFaults : Math.min(lost + 1, mostFaults)).map((error) => {
    const { line, col } = places.linePos(error.pos[0]);
    const isVariable = text.slice(0, error.pos[0] + 1).endsWith("${") || text.startsWith("${", error.pos[0]);
    const [what, todo] = isVariable ? variableInBraces : (sentences[error.code] ?? otherwise);
    return faultAt({ file, line, variable: null }, "", what, todo, col);
  });
  return { type: "wrong", faults: faults.filter((fault, i) => fault.line !== faults[i - 1]?.line) };
}

const variableInBraces = ["a ${NAME} inside { } needs quotes", 'write "${NAME}"'] as const;

const tooDeep = ["the values are nested too deeply to be read", "make it flatter"] as const;

function parse(text: string, lineCounter: LineCounter): Document.Parsed | null {
  try {
    // Keys are compared by us: the parser takes quadratic time for it. Warnings stay with us instead of the terminal.
    return parseDocument(text, {
      lineCounter,
      prettyErrors: false,
      uniqueKeys: false,
      intAsBigInt: true,
      logLevel: "error",
    });
  } catch (error) {
    // Text made to exhaust the stack.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** One walk over the parsed document; counts what it makes, so that aliases cannot grow without end. */
class Reader {
  readonly #document: Document.Parsed;
  readonly #places: LineCounter;
  readonly #file: string;
  readonly #lines = new Map<string, number>();
  readonly #faults: ConfigFault[] = [];
  #made = 0;

  constructor(document: Document.Parsed, places: LineCounter, file: string) {
    this.#document = document;
    this.#places = places;
    this.#file = file;
  }

  read(): ParsedYaml {
    const value = this.#value(this.#document.contents, [], 1);
    if (this.#made > mostValues)
      this.#wrong(
        1,
        [],
        `holds more than ${mostValues} values`,
        "make it smaller; look for aliases (*name) that repeat others",
      );
    if (this.#faults.length > 0) return { type: "wrong", faults: this.#faults.slice(0, mostFaults) };
    return { type: "parsed", value, lines: this.#lines };
  }

  #value(node: unknown, path: KeyPath, line: number): unknown {
    this.#made += 1;
    if (this.#made > mostValues) return null;
    if (path.length > deepest) return this.#wrong(line, path, ...tooDeep);
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      if (target !== undefined) return this.#value(target, path, line);
      return this.#wrong(
        line,
        path,
        "is an alias of something that does not stand before it",
        "write the value itself",
      );
    }
    if (isMap(node)) return this.#group(node.items, path, line);
    if (isSeq(node))
      return node.items.map((item, i) => this.#value(item, [...path, i], this.#mark([...path, i], item, line)));
    if (!isScalar(node)) return null;
    const { value } = node;
    if (typeof value === "bigint") return exactInteger(String(value));
    if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      return value;
    return this.#wrong(
      line,
      path,
      "is a kind of value that cannot be used here",
      "write text, a number, true or false",
    );
  }

  #group(items: readonly { readonly key: unknown; readonly value: unknown }[], path: KeyPath, line: number): unknown {
    const entries = new Map<string, unknown>();
    for (const item of items) {
      const key = isScalar(item.key) ? keyText(item.key.value) : null;
      const here = key === null ? path : [...path, key];
      const keyLine = this.#lineOf(item.key, line);
      if (key === null) {
        this.#wrong(keyLine, path, "has a key that is empty or not plain text", "write key: value");
        continue;
      }
      const first = entries.has(key) ? this.#lines.get(JSON.stringify(here)) : undefined;
      if (first !== undefined) {
        this.#wrong(keyLine, here, `is given twice, first on line ${first}`, "keep one of them");
        continue;
      }
      this.#lines.set(JSON.stringify(here), keyLine);
      entries.set(key, this.#value(item.value, here, keyLine));
      if (this.#made > mostValues) break;
    }
    // Own keys only, whatever their names: `__proto__` is a key like any other.
    return Object.fromEntries(entries);
  }

  #mark(path: KeyPath, node: unknown, before: number): number {
    const line = this.#lineOf(node, before);
    this.#lines.set(JSON.stringify(path), line);
    return line;
  }

  #lineOf(node: unknown, otherwiseLine: number): number {
    const range = typeof node === "object" && node !== null && "range" in node ? node.range : null;
    const start: unknown = Array.isArray(range) ? range[0] : null;
    return typeof start === "number" ? this.#places.linePos(start).line : otherwiseLine;
  }

  #wrong(line: number, path: KeyPath, what: string, todo: string): null {
    if (this.#faults.length < mostFaults) {
      const key = path.length === 0 ? "the configuration" : formatKey(path);
      this.#faults.push(faultAt({ file: this.#file, line, variable: null }, key, what, todo));
    }
    return null;
  }
}

function keyText(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" ? String(value) : null;
}
