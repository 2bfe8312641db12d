// What becomes of an answer by what its receiver said, or did not.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Origin, afterError, afterStatus, foreignAnswer } from "./faults.ts";

describe("what a receiver answered", () => {
  const cases: readonly (readonly [status: number, retryAfter: string | null, type: string, afterMs?: number])[] = [
    [200, null, "accepted"],
    [202, null, "accepted"],
    [204, null, "accepted"],
    [409, null, "accepted"],
    [429, "7", "retry", 7_000],
    [429, null, "retry", 5_000],
    [503, "nonsense", "retry", 5_000],
    [503, new Date(9_000).toUTCString(), "retry", 8_000],
    [503, new Date(0).toUTCString(), "retry", 0],
    [301, null, "refused"],
    [307, null, "refused"],
    [400, null, "refused"],
    [401, null, "refused"],
    [404, null, "refused"],
    [410, null, "refused"],
    [408, null, "unknown"],
    [500, null, "unknown"],
    [502, null, "unknown"],
    [504, null, "unknown"],
  ];
  for (const [status, retryAfter, type, afterMs] of cases) {
    test(`${status} ${retryAfter ?? ""}`, () => {
      const found = afterStatus(status, retryAfter, "i1", 1_000);
      assert.equal(found.type, type);
      if (found.type === "retry") assert.equal(found.afterMs, afterMs);
      if (found.type === "accepted") assert.equal(found.remoteId, "i1");
    });
  }
});

describe("whose answer it is", () => {
  const cases: readonly (readonly [what: string, answer: Origin, isForeign: boolean])[] = [
    ["a page without TLS", { url: "http://x.example/a", status: 200, location: null, isPage: true }, true],
    ["a page with TLS", { url: "https://x.example/a", status: 200, location: null, isPage: true }, false],
    ["no page", { url: "http://x.example/a", status: 200, location: null, isPage: false }, false],
    ["a page with an error", { url: "http://x.example/a", status: 404, location: null, isPage: true }, false],
    ["to a login", { url: "http://x.example/a", status: 302, location: "http://login.example/", isPage: true }, true],
    ["to TLS", { url: "http://x.example/a", status: 301, location: "https://x.example/a", isPage: false }, false],
    ["to another path", { url: "http://x.example/a", status: 308, location: "/b", isPage: false }, false],
    [
      "elsewhere by the receiver",
      { url: "https://x.example/a", status: 302, location: "http://y/", isPage: false },
      false,
    ],
    ["to nowhere", { url: "http://x.example/a", status: 302, location: "http://[", isPage: false }, false],
  ];
  for (const [what, answer, isForeign] of cases)
    test(what, () => assert.equal(foreignAnswer(answer) !== null, isForeign));
});

describe("what broke", () => {
  const wrapped = (code: string) => new TypeError("fetch failed", { cause: Object.assign(new Error("why"), { code }) });
  const cases: readonly (readonly [error: Error, type: string])[] = [
    [wrapped("ECONNREFUSED"), "retry"],
    [wrapped("ENOTFOUND"), "retry"],
    [wrapped("EAI_AGAIN"), "retry"],
    [wrapped("UND_ERR_CONNECT_TIMEOUT"), "retry"],
    [wrapped("DEPTH_ZERO_SELF_SIGNED_CERT"), "retry"],
    [wrapped("CERT_HAS_EXPIRED"), "retry"],
    [wrapped("ECONNRESET"), "unknown"],
    [wrapped("UND_ERR_SOCKET"), "unknown"],
    [wrapped("EPIPE"), "unknown"],
    [new DOMException("it took too long", "TimeoutError"), "unknown"],
    [new Error("anything"), "unknown"],
  ];
  for (const [error, type] of cases) {
    test(String((error.cause as { code?: string } | undefined)?.code ?? error.message), () =>
      assert.equal(afterError(error).type, type),
    );
  }
});
