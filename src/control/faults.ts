// What a caller of the control port is told when its request cannot be served; every message says what to do.

import type { Fault, FaultCode } from "../core/fault.ts";
import type { ErrorReply } from "./protocol.ts";

export type Refusal = { readonly status: number; readonly code: string; readonly message: string };

export function refuse(refusal: Refusal): Response {
  const body: ErrorReply = { error: { code: refusal.code, message: refusal.message } };
  const headers: Record<string, string> = { "content-type": "application/json", "cache-control": "no-store" };
  if (refusal.status === 401) headers["www-authenticate"] = "Bearer";
  if (refusal.status === 429 || refusal.status === 503) headers["retry-after"] = "1";
  return new Response(JSON.stringify(body), { status: refusal.status, headers });
}

/** The request itself is wrong; found while it is read. */
export class BadRequest extends Error {
  override name = "BadRequest";
}

export function notFound(message: string): Refusal {
  return { status: 404, code: "not-found", message };
}

/** What a fault quotes of the outside world may hold a secret. */
export function refusalOf(fault: Fault, redact: (text: string) => string = (text) => text): Refusal {
  return { status: statusOf(fault.code), code: fault.code, message: redact(fault.message) };
}

function statusOf(code: FaultCode): number {
  switch (code) {
    case "not-found":
      return 404;
    case "not-possible":
      return 409;
    case "empty":
      return 400;
    case "too-large":
      return 413;
    case "busy":
      return 429;
    default:
      return 503;
  }
}
