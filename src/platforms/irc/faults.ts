// What becomes of a send, by what the server said before it answered the ping behind the lines; pure.

import type { SendResult } from "../../core/outbox.ts";

export type Refused = { readonly code: string; readonly why: string };

/** Whoever is not there may come back, and what is moderated may not be for ever. */
const waitMs = 60_000;

export function resultOf(refused: readonly Refused[], remoteId: string, target: string): SendResult {
  const [first] = refused;
  if (first === undefined) return { type: "accepted", remoteId };
  const why = `${target} did not get it: ${first.why}`;
  switch (first.code) {
    case "401":
    case "402":
    case "403":
    case "404":
    case "477":
    case "531":
    case "716":
      return { type: "retry", afterMs: waitMs, why };
    default:
      return { type: "refused", why };
  }
}

export const notConnected = "There is no connection to the IRC server.";
export const away: SendResult = { type: "retry", afterMs: 1_000, why: notConnected };
export const broken: SendResult = {
  type: "unknown",
  why: "The connection to the IRC server broke before it had answered.",
};
