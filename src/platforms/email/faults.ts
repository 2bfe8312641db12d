// What mail servers and their libraries say when something is wrong, as answers the engine can work with: the only place
// that reads their errors. A send is in doubt only from the moment its words left until the server took them.

import { Fault, sentenceOf } from "../../core/fault.ts";
import type { SendResult } from "../../core/outbox.ts";

type MailError = {
  readonly code?: unknown;
  /** Of SMTP: what was being said when it went wrong. */
  readonly command?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
  readonly authenticationFailed?: unknown;
  readonly responseText?: unknown;
};

/** A server that wants us to come back is left alone for this long at first; greylisting means minutes. */
const laterMs = 60_000;
/** A server that shuts down is back soon. */
const restartMs = 5_000;
/** What is refused here is this mail or whom it is for. Before, it is us, and another configuration may help. */
const about: ReadonlySet<unknown> = new Set(["MAIL FROM", "RCPT TO", "DATA"]);
/** The server wants a password, or another one. */
const access: ReadonlySet<unknown> = new Set([530, 534, 535, 538]);

/** `wordsLeft`: the server may have the whole mail, and only its own last word says what became of it. */
export function sendResultOf(error: unknown, wordsLeft: boolean): SendResult {
  const { code, command, responseCode, response } = factsOf(error);
  const said = typeof response === "string" ? response : sentenceOf(error);
  const later = (why: string, afterMs = laterMs): SendResult => ({ type: "retry", afterMs, why: `${why}: ${said}` });
  const number = typeof responseCode === "number" ? responseCode : null;
  // Without its end no server takes it.
  if (code === "ESTREAM") return later("the mail could not be read to its end");
  if (wordsLeft) {
    // A server that shuts down says so whenever it likes, and means no mail by it.
    const isFinal = code === "EMESSAGE" && command === "DATA" && number !== null && number >= 400 && number !== 421;
    if (!isFinal) return { type: "unknown", why: `the mail server broke off: ${said}` };
    return number >= 500 ? refused(said) : later("the mail server asks us to wait");
  }
  if (code === "EAUTH" || access.has(number)) return later("the mail server does not let us in");
  if (number !== null && number >= 400)
    return number >= 500 && about.has(command)
      ? refused(said)
      : later("the mail server asks us to wait", number === 421 ? restartMs : laterMs);
  if (code === "EENVELOPE") return { type: "refused", why: `nobody can be written to at that address: ${said}` };
  if (code === "EMESSAGE") return refused(said);
  return { type: "retry", afterMs: 1_000, why: `the mail server could not be reached: ${said}`, unreachable: true };
}

function refused(said: string): SendResult {
  return { type: "refused", why: `the mail server refused it: ${said}` };
}

/** What ends listening: a password that is wrong is told once, everything else is tried again. */
export function listenFault(error: unknown, host: string): unknown {
  const { authenticationFailed, responseText } = factsOf(error);
  const said = typeof responseText === "string" ? responseText : sentenceOf(error);
  if (authenticationFailed === true)
    return new Fault(
      "denied",
      `${host} does not let us in (${said}). Check platforms.email.imap.user and password; some providers want a password made for programs.`,
      error,
    );
  return new Error(`${host}: ${said}`, { cause: error });
}

function factsOf(error: unknown): MailError {
  return typeof error === "object" && error !== null ? (error as MailError) : {};
}
