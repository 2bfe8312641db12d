// What went wrong on the way to a homeserver, as an answer the engine can work with: the only place that reads its errors.
// Every send has a transaction id, so whatever nobody knows may simply be sent again.

import { Fault, sentenceOf } from "../../core/fault.ts";
import type { SendResult } from "../../core/outbox.ts";
import { connectFailure } from "../../ports/connect-failure.ts";
import { MatrixError } from "./api.ts";

const deniedCodes: ReadonlySet<string | null> = new Set([
  "M_UNKNOWN_TOKEN",
  "M_MISSING_TOKEN",
  "M_USER_DEACTIVATED",
  "M_USER_LOCKED",
  "M_USER_SUSPENDED",
]);

/** A limit that names no pause is respected for this long. */
const restMs = 5_000;

export function sendResultOf(error: unknown): SendResult {
  if (!(error instanceof MatrixError)) {
    const why = reasonOf(error);
    return connectFailure(error) === null
      ? { type: "unknown", why }
      : { type: "retry", afterMs: 0, why, unreachable: true };
  }
  const { status, code, retryAfterMs, message } = error;
  if (code === "M_LIMIT_EXCEEDED" || status === 429)
    // Homeservers count what an account sends, in whatever room.
    return {
      type: "retry",
      afterMs: retryAfterMs ?? restMs,
      why: "the homeserver asks us to send more slowly",
      all: true,
    };
  // A token that is replaced in the configuration brings the words out; until then they wait.
  if (deniedCodes.has(code))
    return { type: "retry", afterMs: restMs, why: `the homeserver refuses our token: ${message}` };
  if (code === "M_TOO_LARGE") return { type: "refused", why: `the homeserver takes no event of this size: ${message}` };
  if (code === "M_FORBIDDEN") return { type: "refused", why: `we may not write in this room: ${message}` };
  if (code === "M_NOT_FOUND") return { type: "refused", why: `there is no such room: ${message}` };
  if (code !== null && status < 500) return { type: "refused", why: `the homeserver refused it (${code}): ${message}` };
  return { type: "unknown", why: `the homeserver answered with ${status}: ${message}` };
}

/** What ends listening: a token that nobody knows is told once, everything else is tried again. */
export function listenFault(error: unknown, homeserver: string): unknown {
  if (!(error instanceof MatrixError))
    return error instanceof Error ? new Error(reasonOf(error), { cause: error }) : error;
  if (!deniedCodes.has(error.code)) return error;
  return new Fault(
    "denied",
    `${homeserver} does not know our access token (${error.message}). Log the account in again and put its new token into platforms.matrix.token.`,
    error,
  );
}

/** The runtime's own words for a broken connection are in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? sentenceOf(error) : `${sentenceOf(error)}: ${sentenceOf(cause)}`;
}
