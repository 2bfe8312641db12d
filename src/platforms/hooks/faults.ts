// What a sender is told when its call is refused, and what becomes of an answer by what its receiver said. Pure.

import type { Fault } from "../../core/fault.ts";
import type { SendResult } from "../../core/outbox.ts";
import { connectFailure } from "../../ports/connect-failure.ts";
import { hookLimits } from "./api.ts";
import type { Verdict } from "./signature.ts";

/** A request that is refused: value, not exception. */
export type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
};

export function badRequest(message: string): Refusal {
  return { status: 400, code: "bad-request", message };
}

export function tooMany(message: string): Refusal {
  return { status: 429, code: "busy", message, retryAfterSeconds: 1 };
}

export function notServing(state: "starting" | "stopping"): Refusal {
  const message = `The gateway is ${state}; nothing was stored. Send it again in a moment, with the same id.`;
  return { status: 503, code: state, message, retryAfterSeconds: 2 };
}

export function unsigned(why: (Verdict & { type: "refused" })["why"]): Refusal {
  return { status: 401, code: "signature", message: whyUnsigned[why] };
}

const whyUnsigned = {
  unsigned: "The request is not signed: the header of the signature is missing.",
  malformed:
    "The signature cannot be read; it must look like t=<seconds>,v1=<64 hex digits>, or sha256=<64 hex digits>.",
  "too-old": "The signature is from another time: the clocks differ by more than 5 minutes, or it is an old request.",
  wrong: "The signature is wrong: it must be made with this hook's secret, over the body as it is sent.",
} as const;

export function refusalOf({ code, message }: Fault): Refusal {
  switch (code) {
    case "busy":
      return tooMany(message);
    case "too-large":
      return { status: 413, code, message };
    case "empty":
    case "not-possible":
      return badRequest(message);
    default:
      return { status: 503, code, message, retryAfterSeconds: 2 };
  }
}

export function refuse({ status, code, message, retryAfterSeconds }: Refusal): Response {
  const headers: Record<string, string> = { "content-type": "application/json", "cache-control": "no-store" };
  if (retryAfterSeconds !== undefined) headers["retry-after"] = String(retryAfterSeconds);
  return new Response(JSON.stringify({ error: { code, message } }), { status, headers });
}

/** What a receiver answered. A repeat goes under the same key, so `unknown` is safe wherever the receiver keeps keys. */
export function afterStatus(status: number, retryAfter: string | null, remoteId: string, nowMs: number): SendResult {
  // It has had this key before: that is what keys are for.
  if ((status >= 200 && status < 300) || status === 409) return { type: "accepted", remoteId };
  const why = `the receiver answered with status ${status}`;
  if (status === 429 || status === 503)
    return { type: "retry", afterMs: pauseOf(retryAfter, nowMs) ?? hookLimits.pauseMs, why };
  if (status === 408 || status === 425 || status >= 500) return { type: "unknown", why };
  if (status >= 300 && status < 400)
    return { type: "refused", why: `${why}; redirects are not followed: set \`reply.url\` to where it leads` };
  return { type: "refused", why };
}

/**
 * Why a redirect does not come from the receiver; null when it may. Without TLS anything on the way can answer in its place,
 * as networks with a login page do: with a page, or with a redirect to another host.
 */
export function foreignRedirect(url: string, status: number, location: string | null): string | null {
  const asked = new URL(url);
  if (asked.protocol === "https:") return null;
  const target = location === null ? null : URL.parse(location, url);
  if (status >= 300 && status < 400 && target !== null && target.hostname !== asked.hostname)
    return `something between here and the receiver redirects to ${target.host} (status ${status})`;
  return null;
}

/** Whether the body decides if the answer is a login page. Over TLS only the receiver can answer, so its body is never read. */
export function mayBeLoginPage(url: string, status: number, contentType: string | null): boolean {
  const isOpen = new URL(url).protocol !== "https:";
  return isOpen && status >= 200 && status < 300 && /^text\/html\b/i.test(contentType ?? "");
}

/**
 * Why a page does not count as the receiver's answer; null when it does. A login page goes away or is replaced by the
 * receiver's own answer; a receiver that always answers with pages would otherwise get every answer many times.
 */
export function foreignPage(status: number, sinceMs: number, nowMs: number): string | null {
  if (nowMs - sinceMs >= hookLimits.pagesMs) return null;
  return `a web page came back instead of the receiver's answer (status ${status}); the network may want a login`;
}

/** Seconds, or a date. */
function pauseOf(retryAfter: string | null, nowMs: number): number | null {
  if (retryAfter === null) return null;
  const given = retryAfter.trim();
  if (/^\d{1,9}$/.test(given)) return Number(given) * 1000;
  const date = Date.parse(given);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

export function afterError(error: Error): SendResult {
  const cause = (error.cause ?? error) as { readonly code?: unknown; readonly message?: string };
  const code = typeof cause.code === "string" ? cause.code : "";
  const why = `the receiver could not be reached: ${cause.message || code || error.message}`;
  if (connectFailure(error) !== null) return { type: "retry", afterMs: hookLimits.pauseMs, why };
  return { type: "unknown", why };
}
