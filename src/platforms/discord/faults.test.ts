import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deniedBy, endsSession, isGone, isTooLarge, resultOf, wrongToken } from "./faults.ts";

function said(status: number, code: number): Error {
  return Object.assign(new Error("Words of Discord"), { status, code });
}

const handshake = "Client network socket disconnected before secure TLS connection was established";

function broken(code: string, words = code): Error {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(words), { code }) });
}

/** As the library reports an answer that is no JSON. */
function page(status: number): Error {
  return Object.assign(new Error("No Description"), { status, rawError: new ArrayBuffer(8) });
}

describe("what becomes of a send", () => {
  const cases: readonly (readonly [what: string, error: unknown, type: string])[] = [
    ["a limit", Object.assign(new Error("limit"), { retryAfter: 1_500, global: false }), "retry"],
    ["nobody there", broken("ECONNREFUSED"), "retry"],
    ["no such name", Object.assign(new Error("x"), { code: "ENOTFOUND" }), "retry"],
    [
      "several addresses, none there",
      new AggregateError([Object.assign(new Error("x"), { code: "ECONNREFUSED" })]),
      "retry",
    ],
    ["broken on the way", broken("ECONNRESET"), "unknown"],
    ["the other side closed", broken("UND_ERR_SOCKET"), "unknown"],
    ["no answer in time", new DOMException("This operation was aborted", "AbortError"), "unknown"],
    ["an error of the server", Object.assign(new Error("Bad Gateway"), { status: 502 }), "unknown"],
    ["no JSON", new Error("no JSON"), "unknown"],
    ["a page that forbids it", page(403), "unknown"],
    ["a page that asks for a login", page(401), "unknown"],
    ["a page about the size", page(413), "refused"],
    ["a reset in the handshake", broken("ECONNRESET", handshake), "retry"],
    ["no TLS", broken("ERR_SSL_WRONG_VERSION_NUMBER"), "retry"],
    ["the token", said(401, 0), "retry"],
    ["no permission", said(403, 50_013), "refused"],
    ["a channel that is gone", said(404, 10_003), "refused"],
    ["something wrong in it", said(400, 50_035), "refused"],
    ["something thrown", "x", "unknown"],
  ];
  for (const [what, error, type] of cases) {
    test(`${what}: ${type}`, () => {
      const result = resultOf(error);
      assert.equal(result.type, type);
      assert.ok("why" in result && result.why !== "");
    });
  }

  test("the pause is Discord's, and for all of us where the limit is", () => {
    const limit = (global: boolean): Error => Object.assign(new Error("limit"), { retryAfter: 1_500, global });
    assert.deepEqual(resultOf(limit(false)), {
      type: "retry",
      afterMs: 1_500,
      why: "Discord asks us to send less here",
    });
    assert.deepEqual(resultOf(limit(true)), {
      type: "retry",
      afterMs: 1_500,
      why: "Discord asks us to send less",
      all: true,
    });
  });
});

test("how a connection was closed", () => {
  for (const code of [4004, 4010, 4011, 4012, 4013, 4014]) assert.equal(deniedBy(code)?.code, "denied");
  for (const code of [1000, 1001, 1006, 4000, 4007, 4008, 4009, 4200]) assert.equal(deniedBy(code), null);
  assert.match(deniedBy(4014)?.message ?? "", /MESSAGE CONTENT INTENT/);
  assert.match(wrongToken().message, /Reset Token/);
  for (const code of [4003, 4007, 4009]) assert.equal(endsSession(code), true);
  for (const code of [1000, 1006, 4000, 4008]) assert.equal(endsSession(code), false);
});

test("what is gone, and what is too large", () => {
  assert.deepEqual(
    [isGone(said(404, 10_008)), isGone(said(404, 10_003)), isGone(said(403, 50_001))],
    [true, true, false],
  );
  assert.deepEqual(
    [isTooLarge(said(413, 0)), isTooLarge(said(400, 40_005)), isTooLarge(said(400, 50_035))],
    [true, true, false],
  );
});
