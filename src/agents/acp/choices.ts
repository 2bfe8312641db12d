// A permission that the agent wants, as a question to our user, and the user's answer as one of the agent's options. Pure.

import { type ApprovalChoice, readApproval } from "../../core/approval.ts";

export type Option = { readonly id: string; readonly name: string; readonly kind: string };

export type Permission = { readonly text: string; readonly options: readonly Option[] };

const kinds: Readonly<Record<ApprovalChoice, readonly string[]>> = {
  approve: ["allow_once"],
  always: ["allow_always"],
  deny: ["reject_once", "reject_always"],
};

const detailMax = 1_500;

/** Reads what an agent sent; whatever is missing is left out. */
export function permissionOf(request: unknown): Permission {
  const { toolCall, options } = record(request);
  const { title, kind, rawInput, locations } = record(toolCall);
  const input = record(rawInput);
  const command = input["command"];
  const shown =
    typeof command === "string"
      ? command
      : Object.keys(input).length > 0
        ? JSON.stringify(input, null, 2)
        : list(locations)
            .map((one) => words(record(one)["path"]))
            .join("\n");
  const what = words(title) || words(kind) || "something";
  const detail = shown.trim() === "" || shown.trim() === what ? "" : `\n\n${fenced(shown)}`;
  return { text: `The agent wants to do this: ${what}${detail}\n\nMay it?`, options: list(options).map(optionOf) };
}

function fenced(text: string): string {
  const cut = text.length > detailMax ? `${text.slice(0, detailMax).toWellFormed()}…` : text;
  const fence = cut.includes("```") ? "~~~~" : "```";
  return `${fence}\n${cut}\n${fence}`;
}

function optionOf(option: unknown): Option {
  const { optionId, name, kind } = record(option);
  return { id: words(optionId), name: words(name) || words(kind) || words(optionId), kind: words(kind) };
}

/** The names of the options, each once. */
export function choicesOf({ options }: Permission): readonly string[] {
  return options.map((option) => nameOf(option, options));
}

function nameOf(option: Option, options: readonly Option[]): string {
  const alike = options.filter((one) => one.name === option.name);
  return alike.length === 1 ? option.name : `${option.name} (${alike.indexOf(option) + 1})`;
}

/** `id` is null where nothing was chosen that the agent has an option for; `words` is what the user said instead. */
export type Chosen = { readonly id: string | null; readonly words: string | null };

export function chosen({ options }: Permission, choice: string | null): Chosen {
  const reject = options.find((one) => kinds.deny.includes(one.kind))?.id ?? null;
  if (choice === null) return { id: reject, words: null };
  const typed = choice.trim().toLowerCase();
  const named = options.find((one) => nameOf(one, options).toLowerCase() === typed);
  if (named !== undefined) return { id: named.id, words: null };
  const spoken = /^\d$/.test(typed) ? null : readApproval(choice);
  const fitting = spoken === null ? undefined : options.find((one) => kinds[spoken].includes(one.kind));
  if (fitting !== undefined) return { id: fitting.id, words: null };
  // Anything else is no permission; the agent gets the words as the next message.
  return { id: reject, words: spoken === null ? choice : null };
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
