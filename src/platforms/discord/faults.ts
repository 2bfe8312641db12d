// What Discord and its library say when something goes wrong, as answers the engine can decide by. The only place that
// reads their errors.

import type { SendResult } from "../../core/outbox.ts";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { connectFailure } from "../../ports/connect-failure.ts";

/** The kinds of errors of the library, read by their shape, so that nothing has to be loaded to know them. */
export type Failure =
  | { readonly kind: "said"; readonly status: number; readonly code: number; readonly words: string }
  | { readonly kind: "limited"; readonly afterMs: number; readonly isGlobal: boolean }
  /** The request never left. */
  | { readonly kind: "unreachable"; readonly words: string }
  /** It may have arrived. */
  | { readonly kind: "lost"; readonly words: string };

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { kind: "lost", words: String(error) };
  const given = error as Error & Readonly<Record<string, unknown>>;
  if (typeof given["retryAfter"] === "number")
    return { kind: "limited", afterMs: given["retryAfter"], isGlobal: given["global"] === true };
  const { status, code } = given;
  if (typeof status === "number" && status < 500 && (status === contentTooLarge || !isForeign(given)))
    return { kind: "said", status, code: typeof code === "number" ? code : 0, words: error.message };
  if (typeof status === "number") return { kind: "lost", words: `Discord answered with ${status}` };
  const reason = connectFailure(error);
  if (reason !== null) return { kind: "unreachable", words: `Discord cannot be reached (${reason})` };
  const why = error.name === "AbortError" ? "no answer in time" : sentenceOf(error.cause ?? error);
  return { kind: "lost", words: `the connection to Discord broke: ${why}` };
}

/** What stands in front of Discord refuses large uploads with a page. */
const contentTooLarge = 413;

/** Discord refuses in JSON. A page comes from something in between, which knows nothing about the message. */
function isForeign({ rawError }: Readonly<Record<string, unknown>>): boolean {
  return rawError instanceof ArrayBuffer;
}

const unknownChannel = 10_003;
export const unknownMessage = 10_008;
const tooLarge = 40_005;
const missingAccess = 50_001;
const noDirect = 50_007;
const missingPermissions = 50_013;

const refusals: Readonly<Record<number, string>> = {
  [unknownChannel]: "the channel is gone, or the bot is no longer in it",
  [missingAccess]: "the bot may not see this channel; give it the permission View Channel",
  [noDirect]: "this person takes no direct messages from the bot",
  [missingPermissions]:
    "the bot may not write here; give it Send Messages, Send Messages in Threads and Attach Files in this channel",
};

export function resultOf(error: unknown): SendResult {
  const failure = failureOf(error);
  switch (failure.kind) {
    case "limited":
      return {
        type: "retry",
        afterMs: failure.afterMs,
        why: failure.isGlobal ? "Discord asks us to send less" : "Discord asks us to send less here",
        ...(failure.isGlobal ? { all: true } : {}),
      };
    case "unreachable":
      return { type: "retry", afterMs: 0, why: failure.words, unreachable: true };
    case "lost":
      return { type: "unknown", why: failure.words };
    case "said":
      // A token that is not taken any more is replaced in the configuration; what was to be said waits for that.
      if (failure.status === 401)
        return { type: "retry", afterMs: 60_000, why: "Discord does not take the bot's token" };
      if (failure.status === 408 || failure.status === 425) return { type: "unknown", why: failure.words };
      return { type: "refused", why: refusals[failure.code] ?? `Discord refused it: ${failure.words}` };
  }
}

export function isGone(error: unknown): boolean {
  const failure = failureOf(error);
  return failure.kind === "said" && (failure.code === unknownMessage || failure.code === unknownChannel);
}

export function isTooLarge(error: unknown): boolean {
  const failure = failureOf(error);
  return failure.kind === "said" && (failure.status === 413 || failure.code === tooLarge);
}

/** Nothing there for us, now and later: no permission, or it does not exist. */
export function isClosed(error: unknown): boolean {
  const failure = failureOf(error);
  return failure.kind === "said" && (failure.status === 403 || failure.status === 404);
}

const portal = "the Discord developer portal (https://discord.com/developers/applications)";

export function wrongToken(): Fault {
  return new Fault(
    "denied",
    `Discord does not take the bot's token. Make a new one in ${portal}: your application, Bot, Reset Token; then put it into platforms.discord.token.`,
  );
}

/** Why a closed connection stays closed until somebody changes something; null when it is worth another try. */
export function deniedBy(closeCode: number): Fault | null {
  switch (closeCode) {
    case 4004:
      return wrongToken();
    case 4013:
    case 4014:
      return new Fault(
        "denied",
        `Discord does not let this bot read messages. Open ${portal}: your application, Bot, Privileged Gateway Intents; switch MESSAGE CONTENT INTENT on and save, then restart the gateway.`,
      );
    case 4010:
    case 4011:
      return new Fault(
        "denied",
        "This bot is in so many servers that Discord wants several connections, which Everturn does not make.",
      );
    case 4012:
      return new Fault(
        "denied",
        "Discord no longer speaks the version of its gateway that Everturn uses; a newer Everturn is needed.",
      );
    default:
      return null;
  }
}

/** The session is over; another one must be begun, and what was missed is looked up. */
export function endsSession(closeCode: number): boolean {
  return closeCode === 4003 || closeCode === 4007 || closeCode === 4009;
}

/** A call of ours outside of a send: throws what the engine understands. */
export function asFault(error: unknown): unknown {
  const failure = failureOf(error);
  if (failure.kind === "said" && failure.status === 401) return wrongToken();
  if (failure.kind === "said") return new Error(`Discord refused it: ${failure.words}`, { cause: error });
  if (failure.kind === "limited")
    return new Error(`Discord asks us to wait ${Math.ceil(failure.afterMs / 1000)} s`, { cause: error });
  return new Error(failure.words, { cause: error });
}
