// What becomes of an answer by what its receiver said, or did not.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { afterError, afterStatus, foreignPage, foreignRedirect, mayBeLoginPage } from "./faults.ts";

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

describe("whose redirect it is", () => {
  const plain = "http://x.example/a";
  const cases: readonly (readonly [what: string, url: string, status: number, location: string, isForeign: boolean])[] =
    [
      ["to a login", plain, 302, "http://login.example/", true],
      ["to TLS", plain, 301, "https://x.example/a", false],
      ["to another path", plain, 308, "/b", false],
      ["elsewhere by the receiver", "https://x.example/a", 302, "http://y/", false],
      ["to nowhere", plain, 302, "http://[", false],
      ["no redirect", plain, 201, "http://y/", false],
    ];
  for (const [what, url, status, location, isForeign] of cases)
    test(what, () => assert.equal(foreignRedirect(url, status, location) !== null, isForeign));
});

describe("whether a page may be that of a login", () => {
  const cases: readonly (readonly [url: string, status: number, type: string | null, isPossible: boolean])[] = [
    ["http://x.example/a", 200, "text/html", true],
    ["http://x.example/a", 201, "Text/HTML; charset=utf-8", true],
    ["https://x.example/a", 200, "text/html", false],
    ["http://x.example/a", 200, "application/json", false],
    ["http://x.example/a", 200, null, false],
    ["http://x.example/a", 404, "text/html", false],
    ["http://x.example/a", 302, "text/html", false],
  ];
  for (const [url, status, type, isPossible] of cases)
    test(`${url} ${status} ${type}`, () => assert.equal(mayBeLoginPage(url, status, type), isPossible));

  test("pages count as the receiver's answer when nothing else came for two minutes", () => {
    assert.match(foreignPage(200, 1_000, 1_000) ?? "", /status 200.*login/);
    assert.notEqual(foreignPage(200, 1_000, 120_999), null);
    assert.equal(foreignPage(200, 1_000, 121_000), null);
  });
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
