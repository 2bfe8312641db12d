// Text from the environment: the .env file, `${NAME}` inside values, and `EVERTURN_A__B_C=…` overrides. Pure.
// Nothing here decides what a key means; it only finds names, places and text.

import { type ConfigFault, faultAt } from "./faults.ts";

/** A variable and where it was set; file and line are null for the real environment. */
export type Variable = { readonly text: string; readonly file: string | null; readonly line: number | null };
export type Variables = ReadonlyMap<string, Variable>;

const name = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** NAME=value lines; quotes may span lines, `#` begins a comment, `export` is skipped. Nothing is expanded. */
export function parseEnvFile(
  source: string,
  file: string,
): { readonly variables: Variables; readonly faults: readonly ConfigFault[] } {
  const variables = new Map<string, Variable>();
  const faults: ConfigFault[] = [];
  const lines = source.split(/\r\n|\n|\r/);
  for (let i = 0; i < lines.length; i++) {
    const line = i + 1;
    const text = (lines[i] ?? "").trim();
    if (text === "" || text.startsWith("#")) continue;
    const wrong = (what: string, todo: string) => faults.push(faultAt({ file, line, variable: null }, "", what, todo));
    const equals = text.indexOf("=");
    const key = text
      .slice(0, Math.max(0, equals))
      .replace(/^export\s+/, "")
      .trim();
    // The line itself is not shown: it may be the second half of a secret.
    if (equals < 0 || !name.test(key)) {
      wrong("this line is not NAME=value", "correct it, or begin it with # to leave it out");
      continue;
    }
    const value = readEnvValue(lines, i, text.slice(equals + 1).trimStart());
    if (value === null) {
      wrong(`the quotes around ${key} are not closed, or something follows them`, "close them at the end of the value");
      continue;
    }
    variables.set(key, { text: value.text, file, line });
    i = value.lastLine;
  }
  return { variables, faults };
}

function readEnvValue(
  lines: readonly string[],
  first: number,
  rest: string,
): { readonly text: string; readonly lastLine: number } | null {
  const quote = rest[0];
  if (quote !== '"' && quote !== "'") return { text: rest.replace(/(^|\s)#.*$/, "").trim(), lastLine: first };
  let body = rest.slice(1);
  for (let i = first; ; ) {
    const end = endOfQuote(body, quote);
    if (end >= 0) {
      if (!/^\s*(#.*)?$/.test(body.slice(end + 1))) return null;
      const inner = body.slice(0, end);
      return { text: quote === '"' ? unescape(inner) : inner, lastLine: i };
    }
    i += 1;
    const next = lines[i];
    if (next === undefined) return null;
    body += `\n${next}`;
  }
}

function endOfQuote(text: string, quote: string): number {
  for (let i = 0; i < text.length; i++) {
    if (quote === '"' && text[i] === "\\") i += 1;
    else if (text[i] === quote) return i;
  }
  return -1;
}

function unescape(text: string): string {
  const plain: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
  return text.replace(/\\([\s\S])/g, (_all, one: string) => plain[one] ?? one);
}

export type Substituted =
  | { readonly type: "plain"; readonly text: string }
  | { readonly type: "filled"; readonly text: string }
  | { readonly type: "missing"; readonly names: readonly string[] }
  | { readonly type: "unreadable" };

/** Puts variables in the place of `${NAME}`; `$${` stands for the characters `${`. An empty variable counts as missing. */
export function substitute(text: string, variables: Variables): Substituted {
  if (!text.includes("${")) return { type: "plain", text };
  const missing = new Set<string>();
  let unreadable = false;
  let filled = false;
  const result = text.replace(/\$\$\{|\$\{([^}]*)\}?/g, (all, inner: string | undefined) => {
    if (inner === undefined) return "${";
    if (!name.test(inner) || !all.endsWith("}")) unreadable = true;
    const value = variables.get(inner)?.text ?? "";
    if (value === "") missing.add(inner);
    filled = true;
    return value;
  });
  if (unreadable) return { type: "unreadable" };
  if (missing.size > 0) return { type: "missing", names: [...missing] };
  return { type: filled ? "filled" : "plain", text: result };
}

export type Override = {
  readonly variable: string;
  readonly path: readonly string[];
  readonly value: Variable;
};

/**
 * The variables that set a key: `EVERTURN_GATEWAY__DRAIN_SECONDS` is `gateway.drainSeconds`. One underscore where two are
 * needed is a fault, because it would otherwise be ignored in silence. Parents come before their children.
 */
export function overridesIn(
  variables: Variables,
  topKeys: readonly string[],
): { readonly overrides: readonly Override[]; readonly faults: readonly ConfigFault[] } {
  const overrides: Override[] = [];
  const faults: ConfigFault[] = [];
  for (const [variable, value] of variables) {
    if (!variable.startsWith("EVERTURN_") || value.text.trim() === "") continue;
    const path = variable.slice("EVERTURN_".length).split("__").map(camelCase);
    const [top = ""] = path;
    if (path.length > 1 || topKeys.includes(top)) {
      overrides.push({ variable, path, value });
      continue;
    }
    const meant = topKeys.find((key) => variable.startsWith(`EVERTURN_${key.toUpperCase()}_`));
    if (meant === undefined) continue;
    const rest = variable.slice(`EVERTURN_${meant}_`.length);
    const todo = `write EVERTURN_${meant.toUpperCase()}__${rest} (two underscores between levels) or unset it`;
    faults.push(faultAt({ ...value, variable }, "", "sets nothing", todo));
  }
  overrides.sort((a, b) => a.path.length - b.path.length || (a.variable < b.variable ? -1 : 1));
  return { overrides, faults };
}

/** The variable that sets a key: `gateway.drainSeconds` is `EVERTURN_GATEWAY__DRAIN_SECONDS`. */
export function variableOf(path: readonly (string | number)[]): string {
  const words = path.map((part) => String(part).replaceAll(/[A-Z]/g, "_$&").toUpperCase());
  return `EVERTURN_${words.join("__")}`;
}

function camelCase(part: string): string {
  return part.toLowerCase().replace(/_+([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
}

export type Scalar = { readonly type: "value"; readonly value: unknown } | { readonly type: "not-json" };

/** Text as YAML reads a plain scalar; JSON where it begins with a bracket, a brace or a quote. */
export function readScalar(source: string): Scalar {
  const text = source.trim();
  if (/^[[{"]/.test(text)) return readJson(text);
  if (/^(true|True|TRUE)$/.test(text)) return { type: "value", value: true };
  if (/^(false|False|FALSE)$/.test(text)) return { type: "value", value: false };
  if (/^(null|Null|NULL|~)$/.test(text)) return { type: "value", value: null };
  if (/^[-+]?\d+$/.test(text)) return { type: "value", value: exactInteger(text) };
  if (/^0x[\da-fA-F]+$|^0o[0-7]+$/.test(text)) return { type: "value", value: Number(text) };
  if (/^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(text)) return { type: "value", value: Number(text) };
  return { type: "value", value: source };
}

/** A number, or a bigint where a number would silently be another one, as with long user ids. */
export function exactInteger(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text.replace(/^\+/, ""));
}

function readJson(text: string): Scalar {
  try {
    const value: unknown = JSON.parse(text, (_key, one: unknown, context?: { readonly source?: string }) =>
      typeof one === "number" && /^-?\d+$/.test(context?.source ?? "") ? exactInteger(context?.source ?? "") : one,
    );
    return { type: "value", value };
  } catch (error) {
    // The parser's own words quote the text, which may be a secret.
    if (error instanceof SyntaxError) return { type: "not-json" };
    throw error;
  }
}
