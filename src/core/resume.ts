// A session whose turn was interrupted is marked, so that whoever comes next knows why, and the agent is told once. Pure:
// the mark, its reading, and the words of the note. The note is an input of the agent's step, never the user's words.

import type { Instant } from "./ids.ts";
import type { Entry, Said } from "./journal.ts";
import { textOf } from "./message.ts";
import type { StopFacts } from "./recovery.ts";
import type { Resume, ResumeReason, Session } from "./session.ts";

/** The marked session; null for a suspended one, which starts over anyway. */
export function markResume(
  session: Session,
  at: Instant,
  reason: ResumeReason,
): (Session & { readonly resume: Resume }) | null {
  if (session.standing === "suspended") return null;
  return { ...session, resume: { reason, markedAt: at } };
}

/** The session without its mark; null where there was none. */
export function clearResume(session: Session): Session | null {
  return session.resume === null ? null : { ...session, resume: null };
}

/** What a stop, or an end without one, is to the turns it interrupted. */
export function resumeReason(stop: Pick<StopFacts, "class"> | null): ResumeReason {
  if (stop === null) return "crash";
  return stop.class === "restart" || stop.class === "take-over" ? "restart_timeout" : "shutdown_timeout";
}

/**
 * Reads a stored mark, whoever wrote it: a moment that cannot be read is left out, a reason of another kind is an
 * interruption like a crash, no reason at all is a restart. What is no mark is none.
 */
export function readResume(text: string | null): Resume | null {
  const found = text === null ? null : parsed(text);
  if (typeof found !== "object" || found === null || Array.isArray(found)) return null;
  const { reason, markedAt } = found as { readonly reason?: unknown; readonly markedAt?: unknown };
  return { reason: readReason(reason), markedAt: isMoment(markedAt) ? markedAt : null };
}

function readReason(reason: unknown): ResumeReason {
  if (reason === undefined || reason === null) return "restart_timeout";
  return reason === "restart_timeout" || reason === "shutdown_timeout" ? reason : "crash";
}

function isMoment(value: unknown): value is Instant {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** How the record ends: with the result of a tool that the agent has not seen yet, or with anything else. */
export type Tail = "tool-result" | "other";

const phrases: Readonly<Record<ResumeReason, string>> = {
  restart_timeout: "gateway restart",
  shutdown_timeout: "gateway shutdown",
  crash: "gateway interruption",
};

/** The input of the first step after an interruption: one note, then what the user has said since, if anything. */
export function resumeNote(resume: Pick<Resume, "reason"> | null, tail: Tail, text: string): string {
  const note = noteOf(resume, tail);
  if (note === null) return text;
  return text === "" ? note : `${note}\n\n${text}`;
}

/** How to continue: what is pending comes before what is new, and nothing is done twice. */
const order =
  "First process any tool results that you have not answered yet and say what was done; then answer the user's new message, if there is one. Do not repeat finished work.]";

function noteOf(resume: Pick<Resume, "reason"> | null, tail: Tail): string | null {
  if (resume !== null) {
    return `[System note: your work on this turn was cut short by a ${phrases[resume.reason]}. The history is intact: everything you finished is on record. ${order}`;
  }
  if (tail === "other") return null;
  return `[System note: your work on this turn was cut short after a tool result that you have not answered yet. The history is intact. ${order}`;
}

/** For a new turn whose predecessor was interrupted and then failed. */
function previousNote({ reason }: Pick<Resume, "reason">): string {
  return `[System note: your previous turn in this conversation was cut short by a ${phrases[reason]} and never finished. The history is intact. ${order}`;
}

/**
 * The note for the step that a journal asks for; null unless it is the first one after an interruption. `before`: what
 * interrupted the previous turn, where that turn was never finished.
 */
export function noteFor(journal: readonly Entry[], before: Pick<Resume, "reason"> | null = null): string | null {
  const at = journal.findLastIndex(
    (entry) => entry.type === "resumed" || entry.type === "asked" || (entry.type === "said" && !isEmpty(entry)),
  );
  const resumed = journal[at];
  if (resumed === undefined) return before === null ? null : previousNote(before);
  if (resumed.type !== "resumed") return null;
  const words = joinedWords(journal.slice(at));
  const note = resumeNote(resumed.reason === undefined ? null : { reason: resumed.reason }, tailOf(journal), words);
  // Without a note the words that joined are in the journal like any others.
  return note === words ? null : note;
}

/** A step that only puts something on record, such as the session of an ACP agent: its agent was told nothing yet. */
function isEmpty({ text, calls, final }: Said): boolean {
  return text === "" && calls.length === 0 && !final;
}

/** A note of `noteFor` without the words that joined: the journal has those too. */
export function noteAlone({ note, journal }: { readonly note: string | null; readonly journal: readonly Entry[] }) {
  if (note === null) return null;
  const at = journal.findLastIndex((entry) => entry.type === "resumed");
  const words = joinedWords(journal.slice(Math.max(at, 0)));
  return words !== "" && note.endsWith(`\n\n${words}`) ? note.slice(0, -words.length).trimEnd() : note;
}

function joinedWords(journal: readonly Entry[]): string {
  return journal.flatMap((entry) => (entry.type === "joined" ? [textOf(entry.message.body)] : [])).join("\n\n");
}

function tailOf(journal: readonly Entry[]): Tail {
  const last = journal.findLast(
    (entry) => entry.type !== "resumed" && entry.type !== "joined" && entry.type !== "heard",
  );
  return last?.type === "tool-ended" ? "tool-result" : "other";
}
