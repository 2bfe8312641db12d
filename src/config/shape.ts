// Looks into the schema: which keys a group knows, what kind of value a key wants. Pure.
// It lets one schema also drive suggestions, and how text from the environment becomes a value.

import type { GenericSchema } from "valibot";
import { type KeyPath } from "./faults.ts";
import { command, secretText } from "./kinds.ts";

/** Only what is read here of the many kinds of schema. */
type Inside = {
  readonly type: string;
  readonly wrapped?: GenericSchema;
  readonly entries?: Readonly<Record<string, GenericSchema>>;
  readonly options?: readonly unknown[];
  readonly item?: GenericSchema;
  readonly value?: unknown;
  readonly literal?: unknown;
  readonly pipe?: readonly unknown[];
};

/** Without the layers that say "may be absent"; every choice of a union by itself. */
function choices(schema: GenericSchema): readonly Inside[] {
  const inside: Inside = schema;
  if (inside.wrapped !== undefined) return choices(inside.wrapped);
  if (inside.type !== "union") return [inside];
  return (inside.options ?? []).filter(isSchema).flatMap(choices);
}

function isSchema(value: unknown): value is GenericSchema {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "schema";
}

/** The keys of a group, or null when the schema allows no group. */
export function entriesOf(schema: GenericSchema): Readonly<Record<string, GenericSchema>> | null {
  const found = choices(schema).flatMap((one) => (one.entries === undefined ? [] : [one.entries]));
  return found.length === 0 ? null : Object.assign({}, ...found);
}

/** Whether there is one kind of group only, so that faults inside it are meant. */
export function hasOneGroup(schema: GenericSchema | null): boolean {
  if (schema === null) return false;
  return choices(schema).filter((one) => one.entries !== undefined || one.type === "record").length === 1;
}

/** The schema of one key of a group, one name of a named set, or one item of a list; null when there is none. */
export function within(schema: GenericSchema | null, key: string | number): GenericSchema | null {
  if (schema === null) return null;
  const entries = entriesOf(schema);
  if (entries !== null && Object.hasOwn(entries, key)) return entries[key] ?? null;
  for (const one of choices(schema)) {
    if (one.type === "record" && isSchema(one.value)) return one.value;
    if (one.type === "array" && one.item !== undefined) return one.item;
  }
  return null;
}

export function schemaAt(root: GenericSchema, path: KeyPath): GenericSchema | null {
  return path.reduce<GenericSchema | null>(within, root);
}

/** Whether a value is text however it looks, so that a password of digits stays one. */
export function wantsText(schema: GenericSchema | null): boolean {
  if (schema === null) return false;
  const kinds = choices(schema);
  const others = ["number", "bigint", "array"];
  return kinds.some(isText) && kinds.every((one) => isText(one) || others.includes(one.type));
}

/** Whether a list may stand there too. */
export function takesList(schema: GenericSchema | null): boolean {
  return schema !== null && choices(schema).some((one) => one.type === "array");
}

/** Whether it is a list of texts and nothing else; a program with its arguments is not meant, they may hold commas. */
export function wantsTexts(schema: GenericSchema | null): boolean {
  if (schema === null || isSame(schema, command)) return false;
  return choices(schema).every(
    ({ type, item }) => type === "array" && item !== undefined && choices(item).some(isText),
  );
}

function isText(one: Inside): boolean {
  return (
    one.type === "string" || one.type === "picklist" || (one.type === "literal" && typeof one.literal === "string")
  );
}

export function isSecret(schema: GenericSchema | null): boolean {
  if (schema === null) return false;
  if (isSame(schema, secretText)) return true;
  const inside: Inside = schema;
  if (inside.wrapped !== undefined) return isSecret(inside.wrapped);
  // A secret that must have a certain form is still one.
  const first = inside.pipe?.[0];
  if (isSchema(first) && isSecret(first)) return true;
  return inside.type === "union" && (inside.options ?? []).some((one) => isSchema(one) && isSecret(one));
}

/** Whether it is a group with names of the user's own choice, and nothing else. */
export function takesNames(schema: GenericSchema): boolean {
  return choices(schema).every((one) => one.type === "record");
}

/** Whether a key wants exactly this kind of value, or may be absent. */
export function isSame(schema: GenericSchema | null, kind: GenericSchema): boolean {
  const inside: Inside | null = schema;
  return schema === kind || (inside?.wrapped !== undefined && isSame(inside.wrapped, kind));
}

/** The words a key may be, for a suggestion; empty when it is free. */
export function wordsOf(schema: GenericSchema | null): readonly string[] {
  if (schema === null) return [];
  return choices(schema)
    .flatMap((one) => (one.type === "picklist" ? (one.options ?? []) : []))
    .filter((one) => typeof one === "string");
}
