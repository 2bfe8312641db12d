// What an error of the protocol's library means: for a call, whether it can have run; for a connection, whether trying
// again can help. Pure.

import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from "@modelcontextprotocol/client";
import { sentenceOf } from "../../core/fault.ts";

export type Failure = {
  readonly type:
    | "login" // it wants other credentials
    | "session" // it does not know our session, so it ran nothing
    | "refused" // it heard the request and declined it
    | "unreached" // the request did not arrive
    | "timeout"
    | "uncertain"; // the request may have arrived
  readonly why: string;
};

/** `hasSession`: the request named a session of the server. */
export function failureOf(error: unknown, hasSession: boolean): Failure {
  const status = statusOf(error);
  if (status !== null) return { type: statusMeaning(status, hasSession), why: httpText(status, error) };
  if (isTimeout(error)) return { type: "timeout", why: "it did not answer in time" };
  if (error instanceof ProtocolError) return { type: "refused", why: error.message };
  if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType) return unsupported(error);
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
    return { type: "uncertain", why: `its answer cannot be read: ${error.message.slice(0, 300)}` };
  }
  const why = reasonOf(error);
  return { type: isUnreached(error) ? "unreached" : "uncertain", why };
}

/** The reference server answers 400 to a session that it does not know, others 404 as the protocol says. */
export function statusMeaning(status: number, hasSession: boolean): Failure["type"] {
  if (status === 401) return "login";
  if (hasSession && (status === 400 || status === 404)) return "session";
  return status >= 400 && status < 500 ? "refused" : "uncertain";
}

/** The HTTP status that an error is about; null when it is about something else. */
export function statusOf(error: unknown): number | null {
  if (error instanceof SdkHttpError) return error.status;
  if (error instanceof SseError) return error.code ?? null;
  // The older transport has no error of its own for this.
  const found = error instanceof Error ? /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(error.message) : null;
  return found === null ? null : Number(found[1]);
}

export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

function httpText(status: number, error: unknown): string {
  if (status === 401) return "it requires a login (HTTP 401)";
  const body = error instanceof SdkHttpError ? textOf(error.data?.text) : sentenceOf(error).replace(/^[^:]*:\s*/, "");
  return `it answered HTTP ${status}${body === "" ? "" : `: ${body}`}`;
}

/** The message of a JSON-RPC error where the body is one. */
function textOf(body: unknown): string {
  if (typeof body !== "string") return "";
  try {
    const { error } = (JSON.parse(body) ?? {}) as { readonly error?: { readonly message?: unknown } };
    if (typeof error?.message === "string") return error.message.slice(0, 300);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return body.replace(/\s+/g, " ").trim().slice(0, 300);
}

/** A result that asks for input ends the request; any other kind may mean that work goes on. */
function unsupported(error: SdkError): Failure {
  const { resultType } = (error.data ?? {}) as { readonly resultType?: unknown };
  if (resultType === "input_required")
    return { type: "refused", why: "it asks for input that this gateway cannot give. It did not finish" };
  return { type: "uncertain", why: `its answer is of a kind that is not supported: ${String(resultType)}` };
}

/** A failed request hides what happened in its causes. */
export function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (error instanceof SdkError && cause !== undefined) return reasonOf(cause);
  return cause === undefined ? sentenceOf(error) : `${sentenceOf(error)}: ${sentenceOf(cause)}`;
}

const unreached: readonly string[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];

function isUnreached(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && unreached.includes(String(error.code))) return true;
  return error.cause !== undefined && isUnreached(error.cause);
}
