// What is wrong with a raw value: unknown keys with the nearest known one, what this version cannot do, wrong values. Pure.
// Collects every fault instead of stopping at the first, and says each thing once.

import { type GenericSchema, safeParse } from "valibot";
import { nearest } from "../../core/route.ts";
import { checkAgent } from "../agent/access.ts";
import { meantModel } from "../agent/providers.ts";
import { modelName } from "../agent/schema.ts";
import { isRefused, isRefusedAlways, isRefusedAt, notYet } from "../available.ts";
import { variableOf } from "../env.ts";
import { type ConfigFault, type KeyPath, type Origin, faultAt, formatKey, quoted } from "../faults.ts";
import { type Config, configSchema } from "../schema.ts";
import { withoutSecrets } from "../secret.ts";
import { entriesOf, hasOneGroup, isSame, isSecret, schemaAt, takesNames, within, wordsOf } from "../shape.ts";
import { type Checked, type Raw, isGroup, valueAt } from "./raw.ts";

export function explain(raw: Raw): Checked {
  const faults: ConfigFault[] = [];
  const done = new Set(raw.faulty.map((path) => JSON.stringify(path)));
  const report: Report = (path, what, todo, also) => {
    // A key and what is below it have one fault at most; the first says enough.
    for (let length = 0; length <= path.length; length++) {
      if (done.has(JSON.stringify(path.slice(0, length)))) return;
    }
    for (const one of also === undefined ? [path] : [path, also]) done.add(JSON.stringify(one));
    const origin = raw.originOf(path);
    faults.push(faultAt(origin, formatKey(path), what, typeof todo === "string" ? todo : todo(origin)));
  };
  const possible = withoutNotYet(raw.value, raw, report);
  const known = withoutUnknown(configSchema, possible, [], report);
  const { rest, removed } = parseRest(known, (leaf) => tell(leaf, raw, report));
  const isAgentWhole = [...raw.faulty, ...removed].every(([first, second]) => first !== "agent" || isApart(second));
  if (rest !== null && isAgentWhole) checkAgent(rest.agent, report);
  if (rest !== null && faults.length === 0 && raw.faulty.length === 0) return { type: "right", config: rest };
  return { type: "wrong", faults, rest };
}

/** Settings of the agent that the checks between its settings do not read. */
function isApart(key: KeyPath[number] | undefined): boolean {
  return key === "tools" || key === "budget";
}

/**
 * Checks that need several values run only where each of them is right. So faulty values are taken out, the group around
 * them where that is not enough, and the rest is parsed again: one look finds everything.
 */
function parseRest(
  known: unknown,
  onFault: (leaf: Leaf) => void,
): { rest: Config | null; removed: readonly KeyPath[] } {
  const removed: KeyPath[] = [];
  for (let value = known; ; ) {
    const parsed = safeParse(configSchema, value);
    if (parsed.success) return { rest: parsed.output, removed };
    let next = value;
    let hasChanged = false;
    for (const leaf of parsed.issues.flatMap((issue) => leaves(issue, []))) {
      // What is missing because it was taken out has its fault already.
      if (!removed.some((one) => isWithin(one, leaf.path))) onFault(leaf);
      const path = removableFrom(next, leaf.path).map(String);
      next = without(next, path);
      hasChanged ||= path.length > 0;
      removed.push(leaf.path);
    }
    if (!hasChanged) return { rest: null, removed };
    value = next;
  }
}

/** The path, or the nearest one above it that is there and can be left out. */
function removableFrom(value: unknown, path: KeyPath): KeyPath {
  const list = path.findIndex((key) => typeof key === "number");
  const groups = list === -1 ? path : path.slice(0, list);
  if (groups.length === 0 || valueAt(value, groups.map(String)) !== undefined) return groups;
  return removableFrom(value, groups.slice(0, -1));
}

function isWithin(inner: KeyPath, outer: KeyPath): boolean {
  return outer.every((key, i) => inner[i] === key);
}

/** `also`: another key about which this says enough. */
type Report = (path: KeyPath, what: string, todo: Advice, also?: KeyPath) => void;
/** What to do may depend on where the value was written. */
type Advice = string | ((origin: Origin) => string);

/** The value without keys that the schema does not know; an empty group stands for one without settings. */
function withoutUnknown(schema: GenericSchema | null, value: unknown, path: KeyPath, report: Report): unknown {
  if (schema === null) return value;
  const entries = entriesOf(schema);
  if (entries === null) return isGroup(value) || Array.isArray(value) ? inside(schema, value, path, report) : value;
  if (value === null) return {};
  if (Array.isArray(value)) return notList(path, report);
  if (!isGroup(value)) return value;
  const known = Object.keys(entries);
  const kept = Object.entries(value).filter(([key]) => {
    if (Object.hasOwn(entries, key)) return true;
    const meant = meantKey(path, key, known);
    const [what, todo] = unknownKey(path, key, meant, known);
    // Whoever misspelt a key has not left it out.
    report([...path, key], what, todo, meant !== null && !Object.hasOwn(value, meant) ? [...path, meant] : undefined);
    return false;
  });
  return Object.fromEntries(
    kept.map(([key, inner]) => [key, withoutUnknown(entries[key] ?? null, inner, [...path, key], report)]),
  );
}

function notList(path: KeyPath, report: Report): undefined {
  report(path, "must be a group of settings, not a list", "write key: value lines below it, without dashes");
}

/** The same for what stands in a list or under names of the user's own choice. */
function inside(schema: GenericSchema, value: object, path: KeyPath, report: Report): unknown {
  if (Array.isArray(value) && takesNames(schema)) return notList(path, report);
  if (Array.isArray(value)) return value.map((one, i) => withoutUnknown(within(schema, i), one, [...path, i], report));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, withoutUnknown(within(schema, key), one, [...path, key], report)]),
  );
}

function meantKey(path: KeyPath, key: string, known: readonly string[]): string | null {
  const usable = usableOf(path, known);
  return key.length > 64 ? null : (usable.find((one) => plain(one) === plain(key)) ?? nearest(key, usable));
}

const usableOf = (path: KeyPath, known: readonly string[]) => known.filter((one) => !isRefusedAlways([...path, one]));

function unknownKey(
  path: KeyPath,
  key: string,
  meant: string | null,
  known: readonly string[],
): [what: string, todo: Advice] {
  const usable = usableOf(path, known);
  if (path.length === 1 && path[0] === "platforms" && meant === null)
    return [
      "is not available in this version",
      `remove it; the platforms of this version are ${usable.slice(0, -1).join(", ")} and ${usable.at(-1)}`,
    ];
  if (meant !== null)
    return ["is not known", ({ variable }) => `did you mean ${namedIn(variable, [...path, key], [...path, meant])}?`];
  return ["is not known", `remove it; known here: ${usable.join(", ")}`];
}

/** A key that a variable sets by its own name is meant by the name of a variable; one inside of its value is not. */
function namedIn(variable: string | null, path: KeyPath, meant: KeyPath): string {
  const isNamed = variable !== null && variable.split("__").length === path.length;
  return isNamed ? variableOf(meant) : String(meant.at(-1));
}

/** `drain_seconds`, `drain-seconds` and `DrainSeconds` all mean drainSeconds. */
function plain(key: string): string {
  return key.replace(/[-_]/g, "").toLowerCase();
}

function withoutNotYet(value: unknown, raw: Raw, report: Report): unknown {
  return notYet.reduce((rest, rule) => {
    const path = rule.key.split(".");
    const found = valueAt(rest, path);
    if (found === undefined || !isRefused(rule, found)) return rest;
    const telling = rule.refused !== undefined && typeof found === "string" && !raw.isFilled(path);
    const what = telling
      ? `is ${shownValue(found)}, which is`
      : rule.refused === undefined
        ? "is"
        : "has a value that is";
    report(path, `${what} not available in this version`, rule.todo);
    return without(rest, path);
  }, value);
}

function without(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined || !isGroup(value)) return value;
  const { [key]: inner, ...others } = value;
  return rest.length === 0 ? others : { ...others, [key]: without(inner, rest) };
}

/** What is read of an issue of the schema library. */
type Issue = {
  readonly type: string;
  readonly message: string;
  readonly input: unknown;
  readonly expected: string | null;
  readonly path?: readonly { readonly key: unknown }[] | undefined;
  readonly issues?: readonly Issue[] | undefined;
};
type Leaf = { readonly issue: Issue; readonly path: KeyPath };

/** A union answers with one issue for all its choices; for a group the faults inside it say more. */
function leaves(issue: Issue, before: KeyPath): readonly Leaf[] {
  const path = [...before, ...(issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)))];
  const inner = (issue.issues ?? []).filter((one) => (one.path ?? []).length > 0);
  const isInside = issue.type === "union" && isGroup(issue.input) && hasOneGroup(schemaAt(configSchema, path));
  if (!isInside || inner.length === 0) return [{ issue, path }];
  return inner.flatMap((one) => leaves(one, path));
}

function tell(leaf: Leaf, raw: Raw, report: Report): void {
  const { issue, path } = leaf;
  const { input, message } = issue;
  if (input === undefined) return report(path, "is missing", "add it");
  if (input === null) return report(path, "is empty", `give it a value or remove it; it ${message}`);
  const schema = schemaAt(configSchema, path);
  const words = wordsOf(schema).filter((word) => !isRefusedAt(path, word));
  const hidden = isSecret(schema) || raw.isFilled(path);
  const shown = hidden ? "" : `, but is ${shownValue(input)}`;
  const meant = isSame(schema, modelName) && typeof input === "string" && !hidden ? meantModel(input) : null;
  const todo = meant === null ? adviceFor(leaf, words, raw.originOf(path)) : `did you mean ${meant}?`;
  report(path, `${message}${shown}`, todo);
}

function adviceFor({ issue, path }: Leaf, words: readonly string[], origin: Origin): string {
  const { input, type } = issue;
  if (origin.variable !== null) return "correct or unset the variable";
  const wantsNumber = type === "number";
  if (typeof input === "string") {
    if (wantsNumber && /^\s*-?\d+(\.\d+)?\s*$/.test(input)) return "remove the quotes";
    if (/^(no|off|disabled?)$/i.test(input) && issue.expected?.includes("false")) return "write false";
    if (/^(no|off|yes|on)$/i.test(input) && type === "boolean") return `write ${/^(yes|on)$/i.test(input)}`;
    const meant = input.length > 64 ? null : nearest(input, words);
    if (meant !== null) return `did you mean ${meant}?`;
  }
  if (type === "string" && (typeof input === "number" || typeof input === "boolean" || typeof input === "bigint"))
    return "put it in quotes";
  if (input === true && issue.expected?.includes("Object")) return groupAdvice(path);
  return "correct or remove it";
}

/** For a group that was switched on by `true`: an empty one is enough only where nothing is needed. */
function groupAdvice(path: KeyPath): string {
  const schema = schemaAt(configSchema, path);
  if (schema === null || entriesOf(schema) === null) return "write names below it, each with its settings";
  const needs = (safeParse(schema, {}).issues ?? [])
    .flatMap((issue) => leaves(issue, path))
    .map((one) => String(one.path.at(-1)));
  if (needs.length === 0) return "write {} to use it as it is";
  const list = needs.length === 1 ? needs[0] : `${needs.slice(0, -1).join(", ")} and ${needs.at(-1)}`;
  return `write its settings below it, at least ${list}`;
}

function shownValue(value: unknown): string {
  if (typeof value === "string") return quoted(withoutSecrets(value));
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a group of settings";
  return String(value);
}
