import assert from "node:assert/strict";
import { test } from "node:test";
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { nextMode } from "./dial.ts";
import { type Failure, failureOf } from "./failures.ts";

const http = (status: number, text = "no"): Error =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, "Error POSTing to endpoint: no", { status, text });
const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" });
const fetchFailed = (cause: Error): Error => new TypeError("fetch failed", { cause });
const timeout = new SdkError(SdkErrorCode.RequestTimeout, "Request timed out");

const cases: readonly (readonly [error: unknown, hasSession: boolean, type: Failure["type"], why: RegExp])[] = [
  [http(400), true, "session", /HTTP 400: no/],
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
