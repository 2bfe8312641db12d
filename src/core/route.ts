// What an inbound message is to its session: a command, the answer to an open question, or the start of a turn. Pure.

import { readApproval } from "./approval.ts";
import { denial, readAnswer } from "./asked/asking.ts";
import type { TurnId } from "./ids.ts";
import type { RoutedQuestion } from "./journal.ts";
import { type Body, type Inbound, textOf } from "./message.ts";

export const commands = {
  help: "what I can do and which commands there are",
  new: "start over with an empty memory",
  stop: "cancel what I am doing",
  status: "what I am doing and what waits",
  approve: "allow what I asked for; /approve always also allows the same from then on",
  deny: "do not allow it; what you write behind it is told to me",
  retry: "answer your last message again",
  resend: "send again what may not have arrived",
  undo: "take the last exchange out of my memory",
  model: "which model answers here; /model with a name chooses another",
  restart: "restart the gateway; what is unfinished goes on afterwards (admins)",
  sethome: "tell here what the gateway itself has to say; /sethome off takes it back (admins)",
  pair: "who waits to be let in; /pair approve with a code, /pair deny or revoke with a name (admins)",
  whoami: "how I know you",
} as const;
export type CommandName = keyof typeof commands;

/** Who may use a command: everybody who may speak, or those who may change the gateway. */
export const commandRoles = {
  help: "person",
  new: "person",
  stop: "person",
  status: "person",
  // What they decide is judged by who may answer.
  approve: "person",
  deny: "person",
  retry: "person",
  undo: "person",
  resend: "person",
  model: "person",
  restart: "admin",
  sethome: "admin",
  pair: "admin",
  whoami: "person",
} as const satisfies Record<CommandName, "person" | "admin">;
const commandNames = Object.keys(commands) as readonly CommandName[];

/** A turn that waits for an answer, with the choices it gave. */
export type OpenQuestion = {
  readonly turn: TurnId;
  readonly question: string;
  readonly kind: "question" | "approval";
  readonly text: string;
  readonly choices: readonly string[];
  /** Where else it was asked. */
  readonly routed?: readonly RoutedQuestion[];
  /** Only the owner and admins may allow it. */
  readonly needsAdmin?: true;
};

export type Route =
  | { readonly type: "turn" }
  | { readonly type: "answer"; readonly turn: TurnId; readonly question: string; readonly choice: string | null }
  | { readonly type: "late-answer"; readonly question: string }
  /** An approval was answered with something that is no decision. */
  | { readonly type: "no-decision"; readonly choices: readonly string[] }
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
  // Strangers neither command nor answer for anybody, whatever their words look like.
  if (inbound.outside === true) return { type: "turn" };
  const command = readCommand(inbound.body);
  if (command !== null) {
    if (isCommand(command.name)) return { type: "command", name: command.name, rest: command.rest };
    return { type: "unknown-command", name: command.name, nearest: nearest(command.name, commandNames) };
  }
  const { body } = inbound;
  if (body.kind === "answer") {
    const asked = open.find((one) => one.question === body.question);
    if (asked === undefined) return { type: "late-answer", question: body.question };
    if (asked.kind === "question") return answerTo(asked, body.choice);
    const decision = readAnswer(body.choice, asked.choices);
    return decision === null ? { type: "no-decision", choices: asked.choices } : answerTo(asked, decision);
  }
  if (body.kind !== "text") return { type: "turn" };
  for (const asked of open.toReversed()) {
    if (asked.kind === "question") {
      // Files without a word answer nothing that was asked.
      return body.text.trim() === "" ? { type: "turn" } : answerTo(asked, readChoice(textOf(body), asked));
    }
    // Only a clear word allows or denies something, no number; anything else is a message like any other.
    const isWord = body.files.length === 0 && !/^\d+$/.test(body.text.trim());
    const decision = isWord ? readAnswer(body.text, asked.choices) : null;
    if (decision !== null) return answerTo(asked, decision);
  }
  return { type: "turn" };
}

/** /approve and /deny: the newest of what waits to be allowed; null when nothing does, `unclear` when nothing was decided. */
export function decided(
  name: "approve" | "deny",
  rest: string,
  open: readonly OpenQuestion[],
): Decided | "unclear" | null {
  const waiting = open.filter(({ kind }) => kind === "approval");
  const asked = waiting.at(-1);
  if (asked === undefined) return null;
  const read = rest.trim() === "" ? "approve" : readApproval(rest);
  if (name === "approve" && read !== "approve" && read !== "always") return "unclear";
  const choice = name === "deny" || read === null ? denial(rest) : readAnswer(read, asked.choices);
  return { asked, answer: answerTo(asked, choice), others: waiting.length - 1 };
}

/** `others`: so many more wait to be allowed. */
export type Decided = {
  readonly asked: OpenQuestion;
  readonly answer: Route & { readonly type: "answer" };
  readonly others: number;
};

function answerTo({ turn, question }: OpenQuestion, choice: string | null): Route & { readonly type: "answer" } {
  return { type: "answer", turn, question, choice };
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
