// What a caller is told when a request cannot be served, in the shape that OpenAI's clients know. Their own retries go by
// the status: 429 and 503 say that the same request, under the same key, is worth repeating, and when.

import type { Fault, FaultCode } from "../../core/fault.ts";
import type { ErrorReply } from "./api.ts";

/** A request that is refused: value, not exception. */
export type Refusal = {
  readonly status: number;
  readonly message: string;
  readonly code: string;
  readonly param?: string;
  readonly retryAfterSeconds?: number;
  readonly allow?: string;
  /** A repeat under the same key gets the same. */
  readonly isFinal?: true;
  /** The turn goes on: only a repeat under the same key is worth anything. */
  readonly isPending?: true;
};

export function invalid(message: string, param?: string, code = "invalid_value"): Refusal {
  return { status: 400, code, message, ...(param === undefined ? {} : { param }) };
}

export function tooLarge(message: string): Refusal {
  return { status: 413, code: "request_too_large", message };
}

export function tooMany(message: string): Refusal {
  return { status: 429, code: "rate_limit_exceeded", message, retryAfterSeconds: 1 };
}

export function notFound(message: string): Refusal {
  return { status: 404, code: "not_found", message };
}

export function unknownModel(model: string): Refusal {
  const message = `The model \`${model.slice(0, 64)}\` does not exist. \`GET /v1/models\` lists those that do.`;
  return { status: 404, code: "model_not_found", param: "model", message };
}

export function wrongMethod(allow: string): Refusal {
  return { status: 405, code: "method_not_allowed", message: `This address takes ${allow}.`, allow };
}

export const noKey: Refusal = {
  status: 401,
  code: "missing_api_key",
  message:
    "This needs a key: send `Authorization: Bearer <key>`, with a key of `platforms.api.keys` in config.yaml, or on the gateway's own machine with the token from control.token in its home folder.",
};

export const wrongKey: Refusal = {
  status: 401,
  code: "invalid_api_key",
  message:
    "The key is wrong. Keys are set in `platforms.api.keys` in config.yaml; the token from control.token works only under a loopback address such as 127.0.0.1.",
};

export const anotherRequest: Refusal = {
  status: 422,
  code: "idempotency_key_reused",
  param: "Idempotency-Key",
  message:
    "This Idempotency-Key was used for another request, with other messages or for another conversation. Nothing was stored: give each request a key of its own, and the same key only to its repeats.",
};

export const notLetIn: Refusal = {
  status: 403,
  code: "not_allowed",
  message: "This key may not speak here: `platforms.api.allow` in config.yaml does not name it.",
};

export function notServing(state: "starting" | "stopping"): Refusal {
  const message = `The gateway is ${state}. Send the request again in a moment under the same Idempotency-Key: whatever was stored is not done twice, and its one answer is given then.`;
  return { status: 503, code: state, message, retryAfterSeconds: 1, isPending: true };
}

export const stillAtWork: Refusal = {
  status: 504,
  code: "timeout",
  message:
    "The answer takes longer than a request may wait. It is still being made: send the request again under the same Idempotency-Key to get it.",
  retryAfterSeconds: 1,
  isPending: true,
};

/** How the caller may go on after a fault of the gateway. */
export function refusalOf({ code, message }: Fault): Refusal {
  switch (code) {
    case "busy":
      return tooMany(message);
    case "too-large":
      return tooLarge(message);
    case "empty":
    case "not-possible":
      return invalid(message, "messages");
    case "not-found":
      return notFound(message);
    default:
      return { status: 503, code: codeOf(code), message, retryAfterSeconds: 2 };
  }
}

function codeOf(code: FaultCode): string {
  return code.replaceAll("-", "_");
}

export function errorOf({ status, message, param, code }: Refusal): ErrorReply {
  return { error: { message, type: typeOf(status), param: param ?? null, code } };
}

/** `more`: what else its headers say. */
export function refuse(refusal: Refusal, more: Readonly<Record<string, string>> = {}): Response {
  const headers: Record<string, string> = { ...more, "content-type": "application/json", "cache-control": "no-store" };
  if (refusal.retryAfterSeconds !== undefined) headers["retry-after"] = String(refusal.retryAfterSeconds);
  if (refusal.allow !== undefined) headers["allow"] = refusal.allow;
  if (refusal.status === 401) headers["www-authenticate"] = "Bearer";
  return new Response(JSON.stringify(errorOf(refusal)), { status: refusal.status, headers });
}

function typeOf(status: number): string {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 429:
      return "rate_limit_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}
