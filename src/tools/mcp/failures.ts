// What an error of the protocol's library means: for a call, whether it can have run; for a connection, whether trying
// again can help. Pure.

import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
} from "@modelcontextprotocol/client";
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
  if (status !== null) return { type: statusMeaning(status, hasSession, error), why: httpText(status, error) };
  if (isTimeout(error)) return { type: "timeout", why: "it did not answer in time" };
  if (error instanceof ProtocolError) return { type: "refused", why: error.message };
  if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType) return unsupported(error);
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
    return { type: "uncertain", why: `its answer cannot be read: ${error.message.slice(0, 300)}` };
  }
  const why = reasonOf(error);
  return { type: isUnreached(error) ? "unreached" : "uncertain", why };
}

/**
 * What a failed ping says about the connection; null means that the server is alive. `isBusy`: calls are running, and each
 * has its own response stream and time limit, so only a certain end of the connection may end them.
 */
export function endAfterPing(error: unknown, hasSession: boolean, isBusy: boolean): Failure | null {
  if (error instanceof ProtocolError) return null;
  const failure = failureOf(error, hasSession);
  const status = statusOf(error);
  // A ping has no arguments that could be wrong, so a 400 is about the session.
  if (hasSession && status === 400 && rpcErrorIn(bodyOf(error))?.code !== ProtocolErrorCode.MethodNotFound) {
    return { ...failure, type: "session" };
  }
  if (failure.type === "refused") return null;
  const isNetworkError = status === null && !(error instanceof SdkError);
  const isCertain = isNetworkError || failure.type === "session" || failure.type === "unreached";
  return isCertain || !isBusy ? failure : null;
}

/** An unknown session is a 404 in the protocol. The reference server answers 400, which is also its answer to bad input. */
function statusMeaning(status: number, hasSession: boolean, error: unknown): Failure["type"] {
  if (status === 401) return "login";
  if (hasSession && (status === 404 || (status === 400 && isAboutSession(bodyOf(error))))) return "session";
  return status >= 400 && status < 500 ? "refused" : "uncertain";
}

/** The codes of the TypeScript and Python reference servers for a request outside of a session. */
const sessionCodes: readonly unknown[] = [-32000, -32001, -32600];
/** Older Python servers, and those of the SSE transport, answer in plain text. */
const sessionText =
  /^(?:bad request: )?(?:(?:no valid|invalid|missing|unknown) session|no transport found for session)/i;

/** A tool that fails may have changed something before, so a text of any other form is not about the session. */
function isAboutSession(body: string): boolean {
  const error = rpcErrorIn(body);
  if (error === null) return sessionText.test(body.trim());
  return sessionCodes.includes(error.code) && /session|not initialized/i.test(String(error.message));
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
  const body = textOf(bodyOf(error));
  return `it answered HTTP ${status}${body === "" ? "" : `: ${body}`}`;
}

/** The older transport has the body in its message. */
function bodyOf(error: unknown): string {
  if (!(error instanceof SdkHttpError)) return sentenceOf(error).replace(/^[^:]*:\s*/, "");
  const text: unknown = error.data?.text;
  return typeof text === "string" ? text : "";
}

/** The message of a JSON-RPC error where the body is one. */
function textOf(body: string): string {
  const message = rpcErrorIn(body)?.message;
  return (typeof message === "string" ? message : body.replace(/\s+/g, " ").trim()).slice(0, 300);
}

function rpcErrorIn(body: string): { readonly code?: unknown; readonly message?: unknown } | null {
  try {
    const { error } = (JSON.parse(body) ?? {}) as { readonly error?: unknown };
    return typeof error === "object" ? error : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
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
