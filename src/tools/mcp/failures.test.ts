import assert from "node:assert/strict";
import { test } from "node:test";
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { nextMode } from "./dial.ts";
import { type Failure, endAfterPing, failureOf } from "./failures.ts";

const http = (status: number, text = "no"): Error =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, "Error POSTing to endpoint: no", { status, text });
const rpc = (status: number, code: number, message: string): Error =>
  http(status, JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }));
const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" });
const fetchFailed = (cause: Error): Error => new TypeError("fetch failed", { cause });
const timeout = new SdkError(SdkErrorCode.RequestTimeout, "Request timed out");

const cases: readonly (readonly [error: unknown, hasSession: boolean, type: Failure["type"], why: RegExp])[] = [
  [http(400), true, "refused", /HTTP 400: no/],
  [rpc(400, -32602, "1 of 2 transfers was made"), true, "refused", /HTTP 400: 1 of 2/],
  [rpc(400, -32602, "no such session"), true, "refused", /no such session/],
  [rpc(400, -32000, "1 of 2 transfers was made"), true, "refused", /1 of 2/],
  [rpc(400, -32000, "Bad Request: No valid session ID provided"), true, "session", /No valid session/],
  [rpc(400, -32000, "Bad Request: Server not initialized"), true, "session", /not initialized/],
  [rpc(400, -32001, "Session not found"), true, "session", /Session not found/],
  [rpc(400, -32600, "Bad Request: Missing session ID"), true, "session", /Missing session ID/],
  [rpc(400, -32600, "Invalid Request"), true, "refused", /Invalid Request/],
  [rpc(400, -32001, "Session not found"), false, "refused", /Session not found/],
  [http(400, "Bad Request: No valid session ID provided"), true, "session", /No valid session/],
  [http(400, "the trading session is closed, 1 order was made"), true, "refused", /1 order/],
  [http(400, "null"), true, "refused", /HTTP 400: null/],
  [http(400, '{"error":"bad"}'), true, "refused", /HTTP 400/],
  [new Error("Error POSTing to endpoint (HTTP 400): Invalid session ID"), true, "session", /Invalid session ID/],
  [new Error("Error POSTing to endpoint (HTTP 400): bad amount"), true, "refused", /bad amount/],
  [http(404), true, "session", /HTTP 404/],
  [http(400), false, "refused", /HTTP 400/],
  [http(404), false, "refused", /HTTP 404/],
  [http(401), true, "login", /requires a login \(HTTP 401\)$/],
  [http(403), true, "refused", /HTTP 403/],
  [http(429, '{"error":{"message":"slow down"}}'), true, "refused", /^it answered HTTP 429: slow down$/],
  [http(500), true, "uncertain", /HTTP 500/],
  [http(503), false, "uncertain", /HTTP 503/],
  [new Error("Error POSTing to endpoint (HTTP 404): gone"), true, "session", /HTTP 404: gone/],
  [timeout, true, "timeout", /in time/],
  [new ProtocolError(-32602, "no such argument"), true, "refused", /no such argument/],
  [new SdkError(SdkErrorCode.InvalidResult, "Invalid result"), true, "uncertain", /cannot be read/],
  [
    new SdkError(SdkErrorCode.UnsupportedResultType, "x", { resultType: "input_required" }),
    false,
    "refused",
    /asks for input/,
  ],
  [new SdkError(SdkErrorCode.UnsupportedResultType, "x", { resultType: "task" }), false, "uncertain", /task/],
  [fetchFailed(refused), true, "unreached", /fetch failed: connect ECONNREFUSED/],
  [
    new SdkError(SdkErrorCode.EraNegotiationFailed, "probe", undefined, { cause: fetchFailed(refused) }),
    false,
    "unreached",
    /^fetch failed: connect ECONNREFUSED/,
  ],
  [fetchFailed(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })), true, "uncertain", /ECONNRESET/],
  [new Error("odd"), true, "uncertain", /odd/],
];

for (const [error, hasSession, type, why] of cases) {
  const title = error instanceof SdkHttpError ? `HTTP ${error.status}` : String(error);
  test(`${title}, ${hasSession ? "with" : "without"} a session`, () => {
    const failure = failureOf(error, hasSession);
    assert.equal(failure.type, type);
    assert.match(failure.why, why);
  });
}

test("a failed ping ends the connection while calls run only where its end is certain", () => {
  const reset = fetchFailed(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }));
  for (const [error, idle, busy] of [
    [new ProtocolError(-32601, "no ping"), null, null],
    [http(403), null, null],
    [rpc(400, -32601, "no ping"), null, null],
    [http(400), "session", "session"],
    [http(404), "session", "session"],
    [fetchFailed(refused), "unreached", "unreached"],
    [reset, "uncertain", "uncertain"],
    [timeout, "timeout", null],
    [http(401), "login", null],
    [http(504), "uncertain", null],
    [new SdkError(SdkErrorCode.InvalidResult, "Invalid result"), "uncertain", null],
  ] as const) {
    assert.equal(endAfterPing(error, true, false)?.type ?? null, idle, String(error));
    assert.equal(endAfterPing(error, true, true)?.type ?? null, busy, String(error));
  }
});

test("what is tried after a failed attempt to connect", () => {
  for (const [mode, isRemote, error, hasEnded, next] of [
    ["auto", false, new Error("closed"), true, "initialize"],
    ["auto", false, timeout, false, null],
    ["initialize", false, new Error("closed"), true, null],
    ["auto", true, timeout, false, "initialize"],
    ["initialize", true, timeout, false, null],
    ["auto", true, http(405), false, "sse"],
    ["initialize", true, http(404), false, "sse"],
    ["auto", true, http(400), false, "sse"],
    ["auto", true, http(401), false, null],
    ["auto", true, http(403), false, null],
    ["auto", true, http(503), false, null],
    ["auto", true, fetchFailed(refused), false, null],
    ["sse", true, http(404), false, null],
  ] as const)
    assert.equal(nextMode(mode, isRemote, error, hasEnded), next, `${mode} ${String(error)}`);
});
