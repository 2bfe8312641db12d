// What Telegram's errors mean, as a table; nobody else reads its sentences. They are told apart by shape, so that the
// library need not be loaded to judge them.

import { Fault, sentenceOf } from "../../core/fault.ts";
import type { SendResult } from "../../core/outbox.ts";
import { connectFailure } from "../../ports/connect-failure.ts";

/** Errors that the caller can do something about, beside giving up or waiting. */
export type Cure =
  | "same" // the edit changes nothing
  | "gone" // what was to be edited or deleted is not there
  | "markup" // the text could not be read as HTML
  | "place" // the topic or the message to reply to is not there
  | "long"
  | "file" // this file, or this way of sending it, is not taken
  | "moved"; // the group has another id now

export type Verdict = {
  readonly result: SendResult;
  readonly cure?: Cure;
  /** The new id of a group that moved. */
  readonly movedTo?: number;
};

type Said = {
  readonly error_code: number;
  readonly description: string;
  readonly parameters: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
};

/** 400: the request was understood and refused; by what it says. */
const refusals: readonly (readonly [says: RegExp, cure: Cure])[] = [
  [/message is not modified/i, "same"],
  [/message to (?:edit|delete) not found|message can't be (?:edited|deleted)|MESSAGE_ID_INVALID/i, "gone"],
  [/there is no text in the message to edit/i, "gone"],
  [/can't parse (?:entities|message caption|caption)|unsupported start tag|can't find end/i, "markup"],
  [/(?:message )?thread not found|TOPIC_(?:CLOSED|DELETED|ID_INVALID)|direct messages topic/i, "place"],
  [/(?:message to be replied|replied message) not found|REPLY_MESSAGE_ID_INVALID/i, "place"],
  [/(?:message|text) is too long|caption is too long|ENTITIES_TOO_LONG/i, "long"],
  [
    /PHOTO_|IMAGE_|VOICE_|DOCUMENT_INVALID|file (?:is )?too big|wrong (?:type|file)|failed to get|not enough rights to send (?:photos|documents|voice|audios)/i,
    "file",
  ],
  [/upgraded to a supergroup/i, "moved"],
];

const soonMs = 1_000;
/** A token that is refused now may be right after the next change of the configuration. */
const deniedMs = 60_000;

/** `repeatable`: doing it twice is doing it once, so whatever is in doubt is simply done again. */
export function judge(error: unknown, repeatable: boolean): Verdict {
  const said = answerIn(error);
  if (said !== null) return judgeAnswer(said, repeatable);
  const why = `the connection to Telegram failed: ${networkReason(error)}`;
  const isSafe = repeatable || connectFailure(error) !== null;
  return { result: isSafe ? brokenFor(why) : { type: "unknown", why } };
}

/** Nothing arrived, or a repeat does no harm; a probe decides when to go on. */
function brokenFor(why: string): SendResult {
  return { type: "retry", afterMs: soonMs, why, unreachable: true };
}

function judgeAnswer(said: Said, repeatable: boolean): Verdict {
  const { error_code: code, description, parameters } = said;
  const why = `Telegram said: ${description} (${code})`;
  if (code === 429) {
    const afterMs = Math.max(1, parameters.retry_after ?? 5) * 1_000;
    return { result: { type: "retry", afterMs, why } };
  }
  if (code === 401 || code === 404) return { result: { type: "retry", afterMs: deniedMs, why, all: true } };
  if (code >= 500) {
    return { result: repeatable ? brokenFor(why) : { type: "unknown", why } };
  }
  const result = { type: "refused", why } as const;
  if (parameters.migrate_to_chat_id !== undefined)
    return { result, cure: "moved", movedTo: parameters.migrate_to_chat_id };
  const cure = code === 413 ? "file" : refusals.find(([says]) => says.test(description))?.[1];
  return cure === undefined ? { result } : { result, cure };
}

/** Whether two accounts of the same program fight for the updates, or somebody has them brought elsewhere. */
export type Conflict = "poller" | "webhook";

/** What becomes of a poll that failed. */
export type PollFault =
  | { readonly type: "denied"; readonly fault: Fault }
  | { readonly type: "conflict"; readonly with: Conflict }
  | { readonly type: "wait"; readonly afterMs: number; readonly why: string }
  | { readonly type: "broken"; readonly why: string };

export function judgePoll(error: unknown): PollFault {
  const said = answerIn(error);
  if (said === null) return { type: "broken", why: `Telegram cannot be reached: ${networkReason(error)}` };
  const { error_code: code, description, parameters } = said;
  if (code === 401 || code === 404) return { type: "denied", fault: deniedFault(code) };
  if (code === 409) return { type: "conflict", with: /webhook/i.test(description) ? "webhook" : "poller" };
  const why = `Telegram said: ${description} (${code})`;
  if (code === 429) return { type: "wait", afterMs: Math.max(1, parameters.retry_after ?? 5) * 1_000, why };
  return { type: "broken", why };
}

function deniedFault(code: number): Fault {
  return new Fault(
    "denied",
    `Telegram refused the bot token (${code}). Ask @BotFather for the right one with /mybots → API Token; it is platforms.telegram.token.`,
  );
}

/** Of a call that a person asked for: a sentence to read. */
export function faultOf(error: unknown): Fault {
  const judged = judgePoll(error);
  if (judged.type === "denied") return judged.fault;
  const why = judged.type === "conflict" ? sentenceOf(error) : judged.why;
  return new Fault("not-possible", `${why}.`, error);
}

function answerIn(error: unknown): Said | null {
  if (!(error instanceof Error) || error.name !== "GrammyError") return null;
  const { error_code, description, parameters } = error as Error & Partial<Said>;
  // A gateway of theirs that fails answers without a code of its own.
  return { error_code: error_code ?? 502, description: description ?? error.message, parameters: parameters ?? {} };
}

/** Inside the library's error is the one of the connection; only that one says what happened. It may hold the token's address. */
function networkReason(error: unknown): string {
  const inner = innerOf(error);
  const code = codeOf(error);
  if (code !== "") return code;
  if (inner instanceof Error && inner.name === "AbortError") return "it took too long";
  if (/invalid json/i.test(sentenceOf(inner))) return "something else than Telegram answered";
  return "it broke off";
}

function codeOf(error: unknown): string {
  const inner = innerOf(error);
  const { code, cause } = (inner ?? {}) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  return typeof code === "string" ? code : typeof cause?.code === "string" ? cause.code : "";
}

function innerOf(error: unknown): unknown {
  return error instanceof Error && "error" in error ? error.error : error;
}
