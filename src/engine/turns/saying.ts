// What a turn says to its user: its answer, its end, its questions. Each is one commit with the state of the turn that it
// goes with.

import type { Change } from "../../core/change.ts";
import { type Instant, later } from "../../core/ids.ts";
import type { Asked, CallAsked, Entry } from "../../core/journal.ts";
import { limits } from "../../core/limits.ts";
import type { Question } from "../../core/message.ts";
import { hintsFor } from "../../core/notice.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { TurnFailure } from "../../core/running/failure.ts";
import type { TurnEvent } from "../../core/turn.ts";
import { unmark } from "../marks.ts";
import { type Reply, writeReply } from "../outbox/replies.ts";
import { platformOf } from "../parts.ts";
import type { Fate } from "./drafts.ts";
import { routeApproval } from "./routing.ts";
import type { Work } from "./work.ts";

type Words = Pick<Reply, "id" | "text" | "question">;

async function say(
  { parts, outlet, running, book, preview }: Work,
  event: TurnEvent,
  entries: readonly Entry[],
  words: Words,
  more: readonly Change[] = [],
): Promise<void> {
  const { session, turn } = running;
  const to = session.address;
  const text = parts.hide(words.text);
  const texts = text === "" ? [] : (platformOf(parts, to)?.parts(text) ?? [text]);
  const { hints, anchor } = turn.input;
  const { edits, changes: shown } = await preview.finish();
  const slot = outlet.reserve(session.id, to, edits);
  const where = { session: session.id, turn: turn.id, to, hints: hintsFor(to, hints, anchor), edits };
  const whole: Reply = { ...words, ...where, text, role: "assistant", parts: texts, at: parts.world.now() };
  const written = writeReply(whole, slot.free ? parts.boot : null);
  let taken: OutboxItem | null = null;
  let fate: Fate = "unsure";
  try {
    await book.move(event, entries, [...written.changes, ...shown, ...more]);
    taken = written.taken;
    fate = texts.length === 0 ? "dropped" : "finished";
  } finally {
    preview.end(fate);
    slot.send(taken, taken !== null && written.more);
  }
}

export type Ending = {
  readonly outcome: "replied" | "failed";
  readonly text: string;
  readonly why?: string;
  readonly failure?: TurnFailure;
  readonly entries?: readonly Entry[];
  readonly more?: readonly Change[];
};

/** The end of the turn, with its answer. */
export async function end(work: Work, ending: Ending): Promise<false> {
  const { parts, running } = work;
  const { session } = running;
  const { text, entries = [], more = [] } = ending;
  const why = ending.why === undefined ? {} : { why: parts.hide(ending.why) };
  const outcome = text === "" ? "silent" : ending.outcome;
  // A failed turn keeps mark and counts: its agent has not dealt with the interruption, and the next stop adds to them.
  const isOver = outcome !== "failed";
  const clear: Change[] = isOver ? [{ drop: "strikes", key: session.key }] : [];
  if (isOver && running.session.resume !== null) clear.push(...(await unmark(parts, running.session)));
  const failure = ending.failure === undefined ? {} : { failure: ending.failure };
  const event: TurnEvent = { type: "ended", outcome, ...why, ...failure, at: parts.world.now() };
  await say(work, event, entries, { id: running.turn.id, text }, [...clear, ...more]);
  if (clear.length > 1) running.session = { ...running.session, resume: null };
  parts.events.emit({ type: "turn-ended", session: session.id, turn: running.turn.id, outcome, ...why });
  return false;
}

export function fail(
  work: Work,
  why: string,
  { failure, more = [] }: { readonly failure?: TurnFailure | undefined; readonly more?: readonly Change[] } = {},
): Promise<false> {
  const known = failure === undefined ? {} : { failure };
  return end(work, { outcome: "failed", text: `I could not finish this: ${why}`, why, ...known, more });
}

/** The turn rests until somebody answers, or its time is over; it holds no memory meanwhile. */
export async function ask(work: Work, asked: Asked | CallAsked, until: Instant): Promise<false> {
  const { parts, running, timers } = work;
  const { question, kind = "question" } = asked;
  const { id: turn, session } = running.turn;
  const routing = await routeApproval(work, asked);
  const { text, choices } = routing ?? asked;
  const dueAt = Math.min(until, later(parts.world.now(), limits.questionMaxMs)) as Instant;
  const timer: Change = { put: "timer", timer: { id: question, session, turn, dueAt, text: "" } };
  const shown: Question = { id: question, choices, ...(kind === "approval" ? { kind } : {}) };
  // Without words nothing would be sent, and nobody would know that something waits.
  const words = { id: question, text: text.trim() === "" ? "I need an answer to go on." : text, question: shown };
  const entry = routing === null ? asked : { ...asked, routed: routing.routed };
  await say(work, { type: "asked", question, until: dueAt }, [entry], words, [timer, ...(routing?.changes ?? [])]);
  timers.poke();
  routing?.send();
  parts.events.emit({ type: "turn-waiting", session, turn, kind, question, until: dueAt });
  return false;
}
