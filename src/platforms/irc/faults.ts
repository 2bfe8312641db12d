// What becomes of a send, by what the server said before it answered the ping behind the lines; pure.

import type { SendResult } from "../../core/outbox.ts";
import { withoutMarks } from "./markup.ts";

export type Refused = { readonly code: string; readonly why: string };

/** Whoever is not there may come back, and what is moderated may not be for ever. */
const waitMs = 60_000;
const mayPass = new Set(["401", "402", "403", "404", "408", "477", "531", "716"]);

/** Only what was refused as a whole is tried again: lines that were taken would be said twice. */
export function resultOf(refused: readonly Refused[], said: number, remoteId: string, target: string): SendResult {
  const [first] = refused;
  if (first === undefined || refused.length < said) return { type: "accepted", remoteId };
  const why = `${target} did not get it: ${first.why}`;
  const isPassing = refused.every(({ code }) => mayPass.has(code));
  return isPassing ? { type: "retry", afterMs: waitMs, why } : { type: "refused", why };
}

/**
 * Channels may refuse bold and other letters. The server does not say which line it means; when it refused as many as have
 * marks, it was those, and they are said again without.
 */
export function plainAgain(refused: readonly Refused[], lines: readonly string[]): readonly string[] {
  const marked = lines.filter((line) => withoutMarks(line) !== line);
  const isAboutMarks =
    refused.length === marked.length && refused.every(({ code }) => code === "404" || code === "408");
  return isAboutMarks ? marked.map(withoutMarks) : [];
}

export const notConnected = "There is no connection to the IRC server.";
export const away: SendResult = { type: "retry", afterMs: 1_000, why: notConnected };
export const broken: SendResult = {
  type: "unknown",
  why: "The connection to the IRC server broke before it had answered.",
};
