// The definitions of a server's tools: what of them is stored once they are approved, and how to see that one changed.
// A definition is text that a model reads and obeys, so a server must not swap it after its owner looked. Pure.

import { createHash } from "node:crypto";
import type { Listed } from "./connection.ts";
import { type Schema, shortSchema, shortText } from "./schema.ts";

/** An approved definition: as much of it as a model is shown, and a digest of all of it. */
export type ToolDefinition = Pick<Listed, "name" | "readOnly" | "idempotent" | "destructive"> & {
  readonly digest: string;
  readonly description: string;
  readonly input: Schema;
};

/** All that is approved of one server. */
export type ApprovedTools = {
  /** Of what the configuration names: another program or address is another server. */
  readonly server: string;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
};

export function definitionOf(listed: Listed): ToolDefinition {
  const { name, readOnly, idempotent, destructive } = listed;
  const input = shortSchema(listed.input);
  const description = shortText(listed.description);
  return { name, readOnly, idempotent, destructive, description, input, digest: digestOf(listed) };
}

/** Over the name, title, description, schema and annotations, whatever order the server writes their keys in. */
export function digestOf({ name, title, description, input, annotations }: Listed): string {
  const all = { name, title, description, input, annotations };
  return createHash("sha256")
    .update(JSON.stringify(sorted(all)))
    .digest("hex");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

export type ToolChange = { readonly before: ToolDefinition | null; readonly after: ToolDefinition };

/** What a server lists and its owner has not approved: `before` is null for a new tool. */
export function changesIn(approved: ApprovedTools, listed: readonly Listed[]): readonly ToolChange[] {
  return listed.flatMap((one) => {
    const before = approvedAs(approved, one.name);
    return before?.digest === digestOf(one) ? [] : [{ before, after: definitionOf(one) }];
  });
}

export function approvedAs({ tools }: ApprovedTools, name: string): ToolDefinition | null {
  return Object.hasOwn(tools, name) ? (tools[name] ?? null) : null;
}

/** What changed, in words for an approver. */
export function changeText({ before, after }: ToolChange): string {
  if (before === null) return `New: ${aspects(after).join("\n")}`;
  const [old, now] = [aspects(before), aspects(after)];
  const lines = old.flatMap((line, i) => (line === now[i] ? [] : [`Before: ${line}`, `Now: ${now[i] ?? ""}`]));
  return lines.length === 0 ? "Details that a model is not shown are different." : lines.join("\n");
}

function aspects({ description, input, readOnly, destructive }: ToolDefinition): readonly string[] {
  return [
    description === "" ? "(no description)" : description,
    `arguments ${JSON.stringify(input)}`,
    `says that it ${readOnly ? "only reads" : destructive ? "may destroy something" : "writes, but destroys nothing"}`,
  ];
}

/** Null when it is none, for example of a later version. */
export function readApproved(stored: string | null): ApprovedTools | null {
  if (stored === null) return null;
  try {
    const { server, tools } = (JSON.parse(stored) ?? {}) as Partial<ApprovedTools>;
    return typeof server === "string" && typeof tools === "object" && tools !== null ? { server, tools } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
