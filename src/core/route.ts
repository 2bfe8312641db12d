// What an inbound message is to its session: a command, the answer to an open question, or the start of a turn. Pure.

import type { TurnId } from "./ids.ts";
import { type Body, type Inbound, textOf } from "./message.ts";

export const commands = {
  help: "what I can do and which commands there are",
  new: "start over with an empty memory",
  stop: "cancel what I am doing",
  status: "what I am doing and what waits",
  restart: "restart the gateway; what is unfinished goes on afterwards",
  whoami: "how I know you",
} as const;
export type CommandName = keyof typeof commands;
const commandNames = Object.keys(commands) as readonly CommandName[];

/** A turn that waits for an answer, with the choices it gave. */
export type OpenQuestion = {
  readonly turn: TurnId;
  readonly question: string;
  readonly kind: "question" | "approval";
  readonly text: string;
  readonly choices: readonly string[];
};

export type Route =
  | { readonly type: "turn" }
  | { readonly type: "answer"; readonly turn: TurnId; readonly question: string; readonly choice: string | null }
  | { readonly type: "late-answer" }
  | { readonly type: "command"; readonly name: CommandName; readonly rest: string }
  | { readonly type: "unknown-command"; readonly name: string; readonly nearest: CommandName | null };

/** Text that starts with a slash and a word is a command; a path such as /etc/hosts is not. */
export function readCommand(body: Body): { readonly name: string; readonly rest: string } | null {
  if (body.kind === "command") return body;
  if (body.kind !== "text") return null;
  const match = /^\/([a-z][a-z0-9_]{0,31})(?:@\S+)?(?:\s+([\s\S]*))?$/i.exec(body.text.trim());
  return match ? { name: (match[1] ?? "").toLowerCase(), rest: match[2] ?? "" } : null;
}

export function route(inbound: Inbound, open: readonly OpenQuestion[]): Route {
  const command = readCommand(inbound.body);
  if (command !== null) {
    if (isCommand(command.name)) return { type: "command", name: command.name, rest: command.rest };
    return { type: "unknown-command", name: command.name, nearest: nearest(command.name, commandNames) };
  }
  const { body } = inbound;
  if (body.kind === "answer") {
    const asked = open.find((one) => one.question === body.question);
    if (asked === undefined) return { type: "late-answer" };
    return { type: "answer", turn: asked.turn, question: asked.question, choice: body.choice };
  }
  if (body.kind === "timer") return { type: "turn" };
  const newest = open.at(-1);
  if (newest === undefined) return { type: "turn" };
  return { type: "answer", turn: newest.turn, question: newest.question, choice: readChoice(textOf(body), newest) };
}

/** Whether somebody may restart the gateway; "*" is everybody. */
export function mayRestart(sender: string, admins: readonly string[]): boolean {
  return admins.includes("*") || admins.includes(sender);
}

/** Typed answers may be the words of a choice in any case, or its number; anything else is the user's own words. */
function readChoice(text: string, asked: OpenQuestion): string {
  const typed = text.trim();
  const byWords = asked.choices.find((one) => one.toLowerCase() === typed.toLowerCase());
  const byNumber = /^\d+$/.test(typed) ? asked.choices[Number(typed) - 1] : undefined;
  return byWords ?? byNumber ?? typed;
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

/** The candidate at most two edits away, or null. */
export function nearest<T extends string>(word: string, candidates: readonly T[]): T | null {
  let best: { name: T; edits: number } | null = null;
  for (const name of candidates) {
    const edits = editsBetween(word, name);
    if (edits <= Math.min(2, Math.floor(name.length / 2)) && (best === null || edits < best.edits))
      best = { name, edits };
  }
  return best?.name ?? null;
}

function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
