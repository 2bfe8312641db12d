// Telegram's errors as they are recorded, and what is made of each.

import assert from "node:assert/strict";
import { test } from "node:test";
import { GrammyError, HttpError } from "grammy";
import { Fault } from "../../core/fault.ts";
import { table } from "../../testing/table.ts";
import { faultOf, judge, judgePoll } from "./faults.ts";

type Facts = { readonly retry_after?: number; readonly migrate_to_chat_id?: number };

function said(error_code: number, description: string, parameters: Facts = {}): GrammyError {
  return new GrammyError("Call to 'x' failed!", { ok: false, error_code, description, parameters }, "x", {});
}

function network(error: unknown): HttpError {
  return new HttpError("Network request for 'x' failed!", error);
}
const code = (name: string): Error =>
  Object.assign(new Error(`request to https://… failed, reason: ${name}`), { code: name });
const page = Object.assign(new Error("invalid json response body at https://… reason: Unexpected token '<'"), {
  type: "invalid-json",
});

table(
  "what becomes of a send and of an edit",
  [
    {
      name: "too fast",
      error: said(429, "Too Many Requests: retry after 7", { retry_after: 7 }),
      send: "retry",
      edit: "retry",
    },
    { name: "blocked", error: said(403, "Forbidden: bot was blocked by the user"), send: "refused", edit: "refused" },
    { name: "no such chat", error: said(400, "Bad Request: chat not found"), send: "refused", edit: "refused" },
    { name: "another token", error: said(401, "Unauthorized"), send: "retry", edit: "retry" },
    { name: "no such bot", error: said(404, "Not Found"), send: "retry", edit: "retry" },
    { name: "their error", error: said(500, "Internal Server Error"), send: "unknown", edit: "retry" },
    { name: "their gateway", error: said(502, "Bad Gateway"), send: "unknown", edit: "retry" },
    { name: "nobody there", error: network(code("ECONNREFUSED")), send: "retry", edit: "retry" },
    { name: "no such name", error: network(code("ENOTFOUND")), send: "retry", edit: "retry" },
    { name: "no TLS", error: network(code("ERR_SSL_WRONG_VERSION_NUMBER")), send: "retry", edit: "retry" },
    {
      name: "an untrusted issuer",
      error: network(code("UNABLE_TO_GET_ISSUER_CERT_LOCALLY")),
      send: "retry",
      edit: "retry",
    },
    { name: "broken off", error: network(code("ECONNRESET")), send: "unknown", edit: "retry" },
    { name: "a page", error: network(page), send: "unknown", edit: "retry" },
    {
      name: "took too long",
      error: network(new Error("Request to 'x' timed out after 60 seconds")),
      send: "unknown",
      edit: "retry",
    },
    { name: "something else", error: new TypeError("x"), send: "unknown", edit: "retry" },
  ] as const,
  ({ error, send, edit }) => {
    assert.deepEqual([judge(error, false).result.type, judge(error, true).result.type], [send, edit]);
  },
);

table(
  "what can be done about a refusal",
  [
    { description: "Bad Request: message is not modified: specified new message content and …", cure: "same" },
    { description: "Bad Request: message to edit not found", cure: "gone" },
    { description: "Bad Request: message to delete not found", cure: "gone" },
    { description: "Bad Request: message can't be edited", cure: "gone" },
    { description: "Bad Request: MESSAGE_ID_INVALID", cure: "gone" },
    { description: 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0', cure: "markup" },
    { description: "Bad Request: message thread not found", cure: "place" },
    { description: "Bad Request: TOPIC_CLOSED", cure: "place" },
    { description: "Bad Request: message to be replied not found", cure: "place" },
    { description: "Bad Request: message is too long", cure: "long" },
    { description: "Bad Request: PHOTO_INVALID_DIMENSIONS", cure: "file" },
    { description: "Bad Request: chat not found", cure: undefined },
    { description: "Bad Request: not enough rights to send text messages to the chat", cure: undefined },
  ].map((one) => ({ name: one.description, ...one })),
  ({ description, cure }) => {
    const verdict = judge(said(400, description), false);
    assert.deepEqual([verdict.result.type, verdict.cure], ["refused", cure]);
  },
);

test("the pause is as long as Telegram says, and a group that moved names its new id", () => {
  const slow = judge(said(429, "Too Many Requests: retry after 7", { retry_after: 7 }), false).result;
  assert.equal(slow.type === "retry" && slow.afterMs, 7_000);
  const moved = said(400, "Bad Request: group chat was upgraded to a supergroup chat", { migrate_to_chat_id: -1009 });
  assert.deepEqual([judge(moved, false).cure, judge(moved, false).movedTo], ["moved", -1009]);
  const denied = judge(said(401, "Unauthorized"), false).result;
  assert.equal(denied.type === "retry" && denied.all, true);
});

table(
  "what becomes of a poll",
  [
    {
      name: "another poller",
      error: said(409, "Conflict: terminated by other getUpdates request; make sure …"),
      type: "conflict",
      with: "poller",
    },
    {
      name: "a webhook",
      error: said(409, "Conflict: can't use getUpdates method while webhook is active; …"),
      type: "conflict",
      with: "webhook",
    },
    { name: "too fast", error: said(429, "Too Many Requests", { retry_after: 3 }), type: "wait", with: undefined },
    { name: "another token", error: said(401, "Unauthorized"), type: "denied", with: undefined },
    { name: "their error", error: said(502, "Bad Gateway"), type: "broken", with: undefined },
    { name: "the network", error: network(code("ECONNRESET")), type: "broken", with: undefined },
  ],
  ({ error, type, with: whom }) => {
    const judged = judgePoll(error);
    assert.deepEqual([judged.type, judged.type === "conflict" ? judged.with : undefined], [type, whom]);
  },
);

test("a wrong token says where the right one is; no error shows the address with the token", () => {
  const fault = faultOf(said(401, "Unauthorized"));
  assert.ok(fault instanceof Fault && fault.code === "denied");
  assert.match(fault.message, /@BotFather.*platforms\.telegram\.token/);
  const secret = network(
    Object.assign(new Error("request to https://api.telegram.org/bot777:SECRET/getMe failed"), {}),
  );
  assert.doesNotMatch(faultOf(secret).message, /SECRET/);
  assert.doesNotMatch(JSON.stringify(judge(secret, false)), /SECRET/);
});
