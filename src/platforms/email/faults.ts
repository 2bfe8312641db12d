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
/** Until then the words cannot have left. */
const early: ReadonlySet<unknown> = new Set([
  "CONN",
  "EHLO",
  "HELO",
  "LHLO",
  "STARTTLS",
  "AUTH",
  "MAIL FROM",
  "RCPT TO",
]);

export function sendResultOf(error: unknown): SendResult {
  const { code, command, responseCode, response } = factsOf(error);
  const said = typeof response === "string" ? response : sentenceOf(error);
  if (code === "EAUTH") return { type: "retry", afterMs: laterMs, why: `the mail server does not let us in: ${said}` };
  if (typeof responseCode === "number") {
    if (responseCode >= 500) return { type: "refused", why: `the mail server refused it: ${said}` };
    if (responseCode >= 400)
      return { type: "retry", afterMs: laterMs, why: `the mail server asks us to wait: ${said}` };
  }
  if (code === "EENVELOPE") return { type: "refused", why: `nobody can be written to at that address: ${said}` };
  const isEarly = early.has(command) || isUnreached(error);
  if (isEarly) return { type: "retry", afterMs: 1_000, why: `the mail server could not be reached: ${said}` };
  return { type: "unknown", why: `the mail server broke off: ${said}` };
}

function isUnreached(error: unknown): boolean {
  return ["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EDNS", "ECONNECTION"].includes(
    String(factsOf(error).code),
  );
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
