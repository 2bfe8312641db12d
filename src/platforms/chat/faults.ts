// What a client is told when its request cannot be served: the only place that turns faults into HTTP answers here.
// Every message says what happened and what to do. What is not a Fault is our own mistake and is thrown on.

import type { Fault, FaultCode } from "../../core/fault.ts";
import type { ErrorReply } from "./api.ts";

/** A request that is refused: value, not exception. */
export type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  readonly allow?: string;
};

export function badRequest(message: string): Refusal {
  return { status: 400, code: "bad-request", message };
}

export function tooLarge(what: string, max: string): Refusal {
  return {
    status: 413,
    code: "too-large",
    message: `${what} is too large: at most ${max} are taken. Send it in smaller pieces.`,
  };
}

export function tooMany(message: string): Refusal {
  return { status: 429, code: "busy", message, retryAfterSeconds: 1 };
}

export function notServing(state: "starting" | "stopping"): Refusal {
  const message = `The gateway is ${state}; nothing was stored. Send the message again in a moment, with the same id.`;
  return { status: 503, code: state, message, retryAfterSeconds: 1 };
}

/** How the client may go on after a fault of the gateway. */
export function refusalOf(fault: Fault): Refusal {
  const { code, message } = fault;
  const after = retryAfter(code);
  const answer = { status: statusOf(code), code, message };
  return after === null ? answer : { ...answer, retryAfterSeconds: after };
}

export function refuse(refusal: Refusal): Response {
  const headers: Record<string, string> = { "content-type": "application/json", "cache-control": "no-store" };
  if (refusal.retryAfterSeconds !== undefined) headers["retry-after"] = String(refusal.retryAfterSeconds);
  if (refusal.allow !== undefined) headers["allow"] = refusal.allow;
  const body: ErrorReply = { error: { code: refusal.code, message: refusal.message } };
  return new Response(JSON.stringify(body), { status: refusal.status, headers });
}

function statusOf(code: FaultCode): number {
  switch (code) {
    case "busy":
      return 429;
    case "too-large":
      return 413;
    case "empty":
    case "not-possible":
      return 400;
    case "not-found":
      return 404;
    default:
      return 503;
  }
}

/** Seconds until another attempt may help; null when the same request will never be taken. */
function retryAfter(code: FaultCode): number | null {
  switch (code) {
    case "busy":
      return 1;
    case "too-large":
    case "empty":
    case "not-possible":
    case "not-found":
      return null;
    default:
      return 2;
  }
}
