// What Slack's errors mean: the only place that reads them. An error of the library, or a dropped connection, becomes one
// of four failures; what follows for a send, and for listening, is decided from that.

import { Fault, type FaultCode } from "../../core/fault.ts";
import type { SendResult } from "../../core/outbox.ts";
import { connectFailure } from "../../ports/connect-failure.ts";

export type Failure =
  /** Too much at once; it was not done. */
  | { readonly kind: "limited"; readonly afterMs: number }
  /** Slack said no, and why; it was not done. */
  | { readonly kind: "no"; readonly code: string; readonly needed?: string }
  /** It never left, or was turned away before anybody looked at it. */
  | { readonly kind: "unsent"; readonly why: string }
  /** Nobody knows whether it was done. */
  | { readonly kind: "vague"; readonly why: string };

/** `later`: its owner can mend it outside, and then it is sent. */
type Verdict = "denied" | "later" | "refused" | "vague" | "limited";

const codes: { readonly [code: string]: readonly [Verdict, string] } = {
  invalid_auth: ["denied", "Slack does not know this token"],
  not_authed: ["denied", "Slack was given no token"],
  account_inactive: ["denied", "the app was removed from the workspace, or the workspace is gone"],
  token_revoked: ["denied", "the token was revoked"],
  token_expired: ["denied", "the token has expired"],
  user_removed_from_team: ["denied", "the app was removed from the workspace"],
  team_disabled: ["denied", "the workspace is disabled"],
  not_allowed_token_type: [
    "denied",
    "this kind of token may not do that: botToken begins with xoxb-, appToken with xapp-",
  ],
  no_permission: ["later", "the app may not do that"],
  missing_scope: ["later", "the app lacks a permission"],
  team_access_not_granted: ["later", "the app has no access to this workspace"],
  channel_not_found: ["refused", "there is no such conversation, or the app is not in it: invite it with /invite"],
  not_in_channel: ["refused", "the app is not in this channel: invite it with /invite"],
  is_archived: ["refused", "the channel is archived"],
  channel_is_archived: ["refused", "the channel is archived"],
  user_not_found: ["refused", "there is no such person"],
  cannot_dm_bot: ["refused", "another app cannot be written to"],
  messages_tab_disabled: ["refused", "the app's Messages tab is switched off, under App Home in its settings"],
  restricted_action: ["refused", "the workspace does not let the app write there"],
  restricted_action_read_only_channel: ["refused", "the channel is read-only"],
  restricted_action_thread_only_channel: ["refused", "only threads may be written to in this channel"],
  restricted_action_non_threadable_channel: ["refused", "there are no threads in this channel"],
  thread_locked: ["refused", "the thread is locked"],
  msg_too_long: ["refused", "the text is longer than Slack takes"],
  no_text: ["refused", "there is nothing in it"],
  ratelimited: ["limited", "too much at once"],
  rate_limited: ["limited", "too much at once"],
  message_limit_exceeded: ["limited", "the workspace has sent too much"],
  fatal_error: ["vague", "Slack failed and does not know how far it came"],
  internal_error: ["vague", "Slack failed and does not know how far it came"],
  request_timeout: ["vague", "Slack did not get the whole request in time"],
  service_unavailable: ["vague", "Slack is not there for the moment"],
};

/** A draft that can no longer be edited: the answer is sent as a message of its own. */
const goneCodes = new Set(["message_not_found", "cant_update_message", "edit_window_closed", "cant_delete_message"]);
/** Conversations whose past we may not read: there is nothing to catch up with. */
const closedCodes = new Set([
  "channel_not_found",
  "not_in_channel",
  "is_archived",
  "missing_scope",
  "no_permission",
  "thread_not_found",
]);

const limitedMs = 30_000;
const laterMs = 60_000;

export function failureOf(error: unknown): Failure {
  const { code, retryAfter, statusCode, data, original } = (error ?? {}) as LibraryError;
  if (code === "slack_webapi_rate_limited_error") return { kind: "limited", afterMs: 1_000 * (retryAfter ?? 30) };
  if (code === "slack_webapi_platform_error") return ofAnswer(data ?? {});
  if (typeof statusCode === "number") return ofStatus(statusCode);
  const why = sentenceOf(original ?? error);
  const isUnsent = connectFailure(error) !== null || noRetryTime.test(why);
  return isUnsent ? { kind: "unsent", why } : { kind: "vague", why };
}

type LibraryError = {
  readonly code?: string;
  readonly retryAfter?: number;
  readonly statusCode?: number;
  readonly data?: Answer;
  readonly original?: unknown;
};
type Answer = {
  readonly error?: string;
  readonly needed?: string;
  readonly response_metadata?: { readonly retryAfter?: number };
};

/** The library's words for a limit that names no time. */
const noRetryTime = /Retry header/;

function ofAnswer({ error = "", needed, response_metadata: more }: Answer): Failure {
  // The library hands over as the error whatever was no JSON: a page of a proxy, or nothing.
  if (!/^[a-z][a-z0-9_]*$/.test(error))
    return { kind: "vague", why: "something between us and Slack answered with a page" };
  const [verdict, why] = codes[error] ?? [];
  if (verdict === "limited") return { kind: "limited", afterMs: 1_000 * (more?.retryAfter ?? limitedMs / 1_000) };
  if (verdict === "vague" && why !== undefined) return { kind: "vague", why: `${why} (${error})` };
  return { kind: "no", code: error, ...(needed === undefined ? {} : { needed }) };
}

function ofStatus(status: number): Failure {
  if (status === 429) return { kind: "limited", afterMs: limitedMs };
  if (status >= 500 || status === 408) return { kind: "vague", why: `the answer was ${status}` };
  return { kind: "unsent", why: `the answer was ${status}` };
}

/** Every cause on the way down, because "fetch failed" alone says nothing. */
function sentenceOf(error: unknown): string {
  const words: string[] = [];
  for (let one = error; one instanceof Error && words.length < 5; one = one.cause) {
    const { code } = one as { readonly code?: unknown };
    words.push(typeof code === "string" ? `${one.message} (${code})` : one.message);
  }
  return words.length === 0 ? String(error) : words.join(": ");
}

export function isGone(failure: Failure): boolean {
  return failure.kind === "no" && goneCodes.has(failure.code);
}

export function isClosed(failure: Failure): boolean {
  return failure.kind === "no" && closedCodes.has(failure.code);
}

/** What went wrong, in words. */
export function wordsOf(failure: Failure): string {
  switch (failure.kind) {
    case "limited":
      return "Slack asks to wait, because too much was sent at once";
    case "unsent":
      return `Slack could not be reached: ${failure.why}`;
    case "vague":
      return `nobody knows whether Slack took it: ${failure.why}`;
    case "no": {
      const why = codes[failure.code]?.[1] ?? "Slack refused";
      const scope =
        failure.needed === undefined ? "" : `; it needs the scope ${failure.needed}, then install the app again`;
      return `${why}${scope} (${failure.code})`;
    }
  }
}

export function resultOf(failure: Failure): SendResult {
  const why = wordsOf(failure);
  switch (failure.kind) {
    case "limited":
      return { type: "retry", afterMs: failure.afterMs, why };
    case "unsent":
      return { type: "retry", afterMs: 0, why, unreachable: true };
    case "vague":
      return { type: "unknown", why };
    case "no": {
      const verdict = codes[failure.code]?.[0];
      // With another token, or more permissions, it can still be sent.
      if (verdict === "denied" || verdict === "later") return { type: "retry", afterMs: laterMs, why };
      return { type: "refused", why };
    }
  }
}

/** Why we do not listen. Only another configuration, or another setting of the app, helps against a denial. */
export function faultOf(failure: Failure, of: "botToken" | "appToken", cause?: unknown): Fault {
  const isDenied = failure.kind === "no" && ["denied", "later"].includes(codes[failure.code]?.[0] ?? "");
  const code: FaultCode = isDenied ? "denied" : "not-possible";
  const todo = of === "botToken" ? botTodo : appTodo;
  const why = wordsOf(failure);
  return new Fault(code, isDenied ? `Slack denied platforms.slack.${of}: ${why}. ${todo}` : `Slack: ${why}.`, cause);
}

const botTodo = "Copy the Bot User OAuth Token from OAuth & Permissions of your app.";
const appTodo =
  "Make an app-level token with the scope connections:write under Basic Information of your app, and switch Socket Mode on.";
