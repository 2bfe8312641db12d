// A permission that the agent wants, as an approval of ours, and the user's decision as one of the agent's options. Pure.

import { createHash } from "node:crypto";
import type { Verdict } from "../../core/approval.ts";
import { approvalText, choicesFor, readDecision, subjectOffered } from "../../core/asked/asking.ts";
import type { TurnId } from "../../core/ids.ts";
import type { Step } from "../../ports/agent.ts";

export type Option = { readonly id: string; readonly name: string; readonly kind: string };

export type Permission = {
  readonly asking: Verdict & { readonly type: "approve" };
  readonly options: readonly Option[];
};

/** Reads what an agent sent; whatever is missing is left out. */
export function permissionOf(request: unknown): Permission {
  const { toolCall, options: given } = record(request);
  const options = list(given).map(optionOf);
  const once = options.find(({ kind }) => kind === "allow_once");
  const always = options.find(({ kind }) => kind === "allow_always");
  const onlyAlways = once === undefined && always !== undefined;
  return {
    options,
    asking: {
      type: "approve",
      why: `my own settings want your word for it${onlyAlways ? `, and they know no other yes than "${always.name}"` : ""}`,
      what: whatOf(record(toolCall)),
      bound: boundOf(record(toolCall)),
      subject: once === undefined || always === undefined ? null : `whatever my own settings call "${always.name}"`,
    },
  };
}

/** All that the agent tells of it: its name, the command, the other arguments, the changes, the places. */
function whatOf({ title, kind, rawInput, content, locations }: Readonly<Record<string, unknown>>): string {
  const { command, ...others } = record(rawInput);
  const isCommand = typeof command === "string";
  const input = isCommand ? others : rawInput;
  const paths = list(locations).map((one) => words(record(one)["path"]));
  const parts = [words(title) || words(kind) || "something", isCommand ? command : "", json(input), json(content)];
  return [...new Set([...parts, ...paths].filter((part) => part.trim() !== ""))].join("\n");
}

function json(value: unknown): string {
  const isEmpty = typeof value === "object" && Object.keys(value ?? {}).length === 0;
  return isEmpty ? "" : (JSON.stringify(value, null, 2) ?? "");
}

/** The whole request; only what names it, and not what it does, may be another the next time. */
function boundOf(toolCall: Readonly<Record<string, unknown>>): string {
  const told = Object.entries(toolCall).filter(([name]) => name !== "toolCallId" && name !== "status");
  return createHash("sha256").update(JSON.stringify(told)).digest("hex");
}

function optionOf(option: unknown): Option {
  const { optionId, name, kind } = record(option);
  return { id: words(optionId), name: words(name) || words(kind) || words(optionId), kind: words(kind) };
}

/** Beyond this nobody reads it, and the digest holds for the rest. */
const keptMax = 500_000;

/** `changed`: it is not what its user was asked about before. */
export function asked({ asking }: Permission, changed: boolean, turn: TurnId): Omit<Step & { type: "asked" }, "until"> {
  const { what, bound } = asking;
  const left = what.length - keptMax;
  return {
    type: "asked",
    kind: "approval",
    text: approvalText("a tool of my own", asking, changed, turn),
    choices: choicesFor(subjectOffered(asking)),
    what: left <= 0 ? what : `${what.slice(0, keptMax).toWellFormed()}\n[… ${left} characters are not kept …]`,
    bound,
  };
}

/** `id` is null where the agent has no option for it; `words` is what the user said with it. */
export type Chosen = { readonly id: string | null; readonly words: string | null };

export function chosen({ options }: Permission, choice: string | null): Chosen {
  const first = (...kinds: readonly string[]): string | null =>
    kinds.flatMap((kind) => options.find((one) => one.kind === kind)?.id ?? [])[0] ?? null;
  const decision = readDecision(choice);
  switch (decision.type) {
    case "approve":
      return { id: first("allow_once", "allow_always"), words: null };
    case "always":
      return { id: first("allow_always", "allow_once"), words: null };
    case "deny":
      return { id: first("reject_once", "reject_always"), words: decision.words === "" ? null : decision.words };
    case "nobody":
      return { id: first("reject_once", "reject_always"), words: null };
  }
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function words(value: unknown): string {
  return typeof value === "string" ? value : "";
}
