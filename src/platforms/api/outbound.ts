// What callers are shown: completions, chunks of a stream, lists. Pure.

import type { TurnId } from "../../core/ids.ts";
import type { Entry } from "../../core/journal.ts";
import type { Message } from "../../core/message.ts";
import { stoppedMark } from "../../core/running/stopped.ts";
import type { Turn } from "../../core/turn.ts";
import type { EntryLine } from "../../ports/store.ts";
import type { Chunk, Completion, FinishReason, Line, UsageReply } from "./api.ts";
import { errorOf, type Refusal } from "./faults.ts";

/** Which answer it is. */
export type Head = { readonly id: string; readonly created: number; readonly model: string };

/** What an answer is made of when it is whole. */
export type Whole = {
  readonly text: string;
  readonly usage: UsageReply | null;
  readonly finish: FinishReason;
};

export function toCompletion({ id, created, model }: Head, { text: content, usage, finish }: Whole): Completion {
  const message = { role: "assistant", content, refusal: null } as const;
  return {
    id,
    object: "chat.completion",
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    ...(usage === null ? {} : { usage }),
  };
}

type Piece = { readonly delta: Chunk["choices"][number]["delta"]; readonly finish: FinishReason | null };

/** With usage wanted, every chunk says that it is not there yet. */
export function toChunk({ id, created, model }: Head, { delta, finish }: Piece, includeUsage: boolean): Chunk {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finish } as const;
  const usage = includeUsage ? { usage: null } : {};
  return { id, object: "chat.completion.chunk", created, model, choices: [choice], ...usage };
}

export function usageChunk({ id, created, model }: Head, usage: UsageReply | null): Chunk {
  return { id, object: "chat.completion.chunk", created, model, choices: [], usage };
}

export function frame(data: Chunk, mark: string): string {
  return `id: ${mark}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const doneFrame = "data: [DONE]\n\n";
export const pingFrame = ": still at work\n\n";

/** In the middle of a stream there is no status any more; clients look for this. */
export function errorFrame(refusal: Refusal): string {
  return `data: ${JSON.stringify(errorOf(refusal))}\n\n`;
}

/** Whether the last words of the model were all that it would have said. */
export function finishOf(entries: readonly EntryLine[], until: number | null): FinishReason {
  const last = entries.findLast(({ at, entry }) => entry.type === "said" && (until === null || at <= until))?.entry;
  const cut = last?.type === "said" ? last.cut : undefined;
  return cut === undefined ? "stop" : cut === "length" ? "length" : "content_filter";
}

/** What the model was paid for between two moments; null where nothing is known. */
export function usageOf(entries: readonly EntryLine[], from: number, to: number | null): UsageReply | null {
  const used = entries.flatMap(({ at, entry }) => {
    const usage = at < from || (to !== null && at > to) ? undefined : usageIn(entry);
    return usage === undefined ? [] : [usage];
  });
  if (used.length === 0) return null;
  const sum = (of: (usage: (typeof used)[number]) => number) => used.reduce((all, one) => all + of(one), 0);
  const input = sum((one) => one.input);
  const output = sum((one) => one.output);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: sum((one) => one.cached) },
  };
}

function usageIn(entry: Entry) {
  return entry.type === "said" || entry.type === "compacted" ? entry.usage : undefined;
}

/** One line of ours as a caller reads it: with the choices of a question, and where its files are. */
export function shown({ text, question, files = [] }: Pick<Message, "text" | "question" | "files">): string {
  const choices = question === undefined || question.choices.length === 0 ? [] : [choicesOf(question)];
  const links = files.map(({ name, blob, mime }) => {
    const path = `/v1/files/${blob}/content?name=${encodeURIComponent(name.toWellFormed())}`;
    return `[${name.replaceAll(/[[\]\\]/g, "_")}](${path}) (${mime})`;
  });
  return [text, ...choices, ...links].filter((one) => one !== "").join("\n\n");
}

function choicesOf({ choices, kind }: NonNullable<Message["question"]>): string {
  // Leave is given in words only: a number may be the answer to something else.
  if (kind === "approval") return `Answer with one of these words: ${choices.join(", ")}.`;
  const numbered = choices.map((choice, i) => `${i + 1}. ${choice}`).join("\n");
  return `${numbered}\n\nAnswer with a number or in your own words.`;
}

export function answerText(lines: readonly Pick<Message, "text" | "question" | "files">[]): string {
  return lines
    .map(shown)
    .filter((one) => one !== "")
    .join("\n\n");
}

/** What `found` goes by: the lines of the turn, and the first of anybody, because the turn may yet be taken in by another. */
export function answering(turn: TurnId, lines: readonly Message[]): readonly Message[] {
  return lines.filter(({ role }) => role === "assistant").filter((line, i) => i === 0 || line.turn === turn);
}

/** What of an answer stands in the transcript, and whether more is to come. */
export type Found = {
  readonly isDone: boolean;
  /** Its drafts are those of the place. */
  readonly isRunning: boolean;
  readonly text: string;
  /** When its last line was said. */
  readonly until: number | null;
  /** The turn whose end decides whether this is an answer or an error; null where a question is the answer. */
  readonly endedBy: TurnId | null;
};

/**
 * `after`: all that was said at the place after the caller's message, or what `answering` leaves of it. A question ends an
 * answer: the next message there answers it, and what follows is the answer to that one.
 */
export function found(turn: Turn, after: readonly Message[]): Found {
  const { now } = turn;
  const isJoined = now.state === "done" && now.outcome === "joined";
  const own = after.filter(({ role, turn: of }) => role === "assistant" && (isJoined || of === turn.id));
  const asked = own.findIndex(({ question }) => question !== undefined);
  const lines = isJoined ? own.slice(0, 1) : asked < 0 ? own : own.slice(0, asked + 1);
  const isDone = isJoined ? lines.length > 0 : asked >= 0 || now.state === "done";
  const isTold = lines.at(-1)?.text.endsWith(stoppedMark) === true;
  const isStopped = lines.length > 0 && now.state === "done" && now.outcome === "cancelled" && asked < 0 && !isTold;
  const stopped = isStopped ? [{ text: `(This was stopped: ${now.why ?? "somebody asked for it"}.)` }] : [];
  return {
    isDone,
    isRunning: now.state === "running",
    text: answerText([...lines, ...stopped]),
    until: lines.at(-1)?.at ?? null,
    endedBy: isJoined ? (lines[0]?.turn ?? null) : asked >= 0 || isCut(now, lines) ? null : turn.id,
  };
}

/** Stopped in the middle of its words: those are its answer. */
function isCut(now: Turn["now"], lines: readonly Message[]): boolean {
  return now.state === "done" && now.outcome === "cancelled" && lines.length > 0;
}

export function toLine(message: Message): Line {
  const { n, key, role, text, at } = message;
  const content = role === "user" ? text : shown(message);
  return { n, id: key, role, content, created: Math.floor(at / 1000) };
}
