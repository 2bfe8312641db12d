import assert from "node:assert/strict";
import { test } from "node:test";
import { connectFailure } from "./connect-failure.ts";

const coded = (code: string, more: object = {}): Error => Object.assign(new Error("words"), { code, ...more });
const fetched = (cause: Error): Error => new TypeError("fetch failed", { cause });
const disconnected = "Client network socket disconnected before secure TLS connection was established";

test("errors after which nothing can have been sent, and errors after which it can", () => {
  const rows: readonly (readonly [what: string, error: unknown, code: string | null])[] = [
    ["nothing listens", fetched(coded("ECONNREFUSED")), "ECONNREFUSED"],
    ["the name does not exist", fetched(coded("ENOTFOUND")), "ENOTFOUND"],
    ["the name server is silent", coded("EAI_AGAIN"), "EAI_AGAIN"],
    ["connecting took too long", fetched(coded("UND_ERR_CONNECT_TIMEOUT")), "UND_ERR_CONNECT_TIMEOUT"],
    ["no route while connecting", coded("EHOSTUNREACH", { syscall: "connect" }), "EHOSTUNREACH"],
    ["no route for data", coded("EHOSTUNREACH", { syscall: "read" }), null],
    [
      "no route, in the words of node-fetch",
      Object.assign(new Error("request to https://x failed, reason: connect ENETUNREACH 1.2.3.4:443"), {
        code: "ENETUNREACH",
      }),
      "ENETUNREACH",
    ],
    ["a certificate that signed itself", fetched(coded("DEPTH_ZERO_SELF_SIGNED_CERT")), "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["an unknown issuer", coded("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["another name", coded("ERR_TLS_CERT_ALTNAME_INVALID"), "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["no TLS", fetched(coded("ERR_SSL_WRONG_VERSION_NUMBER")), "ERR_SSL_WRONG_VERSION_NUMBER"],
    ["a reset in the handshake", Object.assign(new Error(disconnected), { code: "ECONNRESET" }), "ECONNRESET"],
    ["inside an error of grammY", Object.assign(new Error("x"), { error: coded("ENOTFOUND") }), "ENOTFOUND"],
    ["inside an error of Slack", { code: "slack_webapi_request_error", original: coded("ENOTFOUND") }, "ENOTFOUND"],
    ["all addresses", fetched(new AggregateError([coded("ECONNREFUSED"), coded("ENOTFOUND")])), "ECONNREFUSED"],
    ["one of the addresses", new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET")]), null],
    ["a reset", fetched(coded("ECONNRESET")), null],
    ["the other side closed", fetched(coded("UND_ERR_SOCKET")), null],
    ["a broken pipe", coded("EPIPE"), null],
    ["no answer in time", new DOMException("timed out", "TimeoutError"), null],
    ["an error that is its own cause", loop(), null],
    ["no error", undefined, null],
    ["words", "ECONNREFUSED", null],
  ];
  for (const [what, error, code] of rows) assert.equal(connectFailure(error), code, what);
});

function loop(): Error {
  const error: Error & { cause?: unknown } = new Error("x");
  error.cause = error;
  return error;
}
