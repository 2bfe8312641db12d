import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HttpTrouble } from "./api.ts";
import { failureOf, faultOf, isClosed, isGone, resultOf, wordsOf } from "./faults.ts";

const platform = (error: string, more: object = {}) => ({
  code: "slack_webapi_platform_error",
  data: { ok: false, error, ...more },
});
const request = (message: string, cause?: Error) => ({
  code: "slack_webapi_request_error",
  original: new Error("fetch failed", { cause: cause ?? new Error(message) }),
});
const coded = (code: string) => Object.assign(new Error("connect"), { code });

describe("what a send is told", () => {
  const cases: readonly (readonly [what: string, error: unknown, type: string, words: RegExp, afterMs?: number])[] = [
    ["429", { code: "slack_webapi_rate_limited_error", retryAfter: 7 }, "retry", /too much/, 7_000],
    [
      "ratelimited in words",
      platform("ratelimited", { response_metadata: { retryAfter: 3 } }),
      "retry",
      /too much/,
      3_000,
    ],
    ["a wrong token", platform("invalid_auth"), "retry", /does not know this token/, 60_000],
    ["a permission", platform("missing_scope", { needed: "files:write" }), "retry", /files:write/, 60_000],
    ["no such channel", platform("channel_not_found"), "refused", /\/invite/],
    ["archived", platform("is_archived"), "refused", /archived/],
    ["not in it", platform("not_in_channel"), "refused", /\/invite/],
    ["something new", platform("novel_trouble"), "refused", /novel_trouble/],
    ["Slack fails", platform("fatal_error"), "unknown", /fatal_error/],
    ["a page", platform("<html>Bad gateway</html>"), "unknown", /page/],
    ["nothing", platform(""), "unknown", /page/],
    ["503", { code: "slack_webapi_http_error", statusCode: 503 }, "unknown", /503/],
    ["408", { code: "slack_webapi_http_error", statusCode: 408 }, "unknown", /408/],
    ["403 of a proxy", { code: "slack_webapi_http_error", statusCode: 403 }, "retry", /403/, 0],
    ["an upload that failed", new HttpTrouble(500, "the upload"), "unknown", /500/],
    ["refused", request("", coded("ECONNREFUSED")), "retry", /ECONNREFUSED/, 0],
    ["no name", request("", coded("ENOTFOUND")), "retry", /ENOTFOUND/, 0],
    ["reset", request("", coded("ECONNRESET")), "unknown", /ECONNRESET/],
    ["dropped", request("other side closed"), "unknown", /other side closed/],
    ["timed out", request("The operation was aborted due to timeout"), "unknown", /timeout/],
    ["given up", new Error("the call was given up before there was an answer"), "unknown", /given up/],
  ];
  for (const [what, error, type, words, afterMs] of cases) {
    test(what, () => {
      const result = resultOf(failureOf(error));
      assert.equal(result.type, type);
      if (result.type !== "accepted") assert.match(result.why, words);
      if (result.type === "retry" && afterMs !== undefined) assert.equal(result.afterMs, afterMs);
    });
  }
});

describe("what listening is told", () => {
  const cases: readonly (readonly [unknown, string, RegExp])[] = [
    [platform("invalid_auth"), "denied", /platforms\.slack\.appToken.*connections:write/],
    [platform("account_inactive"), "denied", /removed/],
    [platform("missing_scope", { needed: "connections:write" }), "denied", /scope connections:write/],
    [platform("internal_error"), "not-possible", /internal_error/],
    [{ code: "slack_webapi_rate_limited_error", retryAfter: 7 }, "not-possible", /wait/],
    [request("", coded("ECONNREFUSED")), "not-possible", /reached/],
  ];
  for (const [error, code, words] of cases) {
    test(`${code} ${String(words)}`, () => {
      const fault = faultOf(failureOf(error), "appToken");
      assert.equal(fault.code, code);
      assert.match(fault.message, words);
    });
  }
});

test("drafts that are gone, and pasts that are closed", () => {
  assert.ok(isGone(failureOf(platform("message_not_found"))));
  assert.ok(isGone(failureOf(platform("edit_window_closed"))));
  assert.ok(!isGone(failureOf(platform("channel_not_found"))));
  assert.ok(isClosed(failureOf(platform("not_in_channel"))));
  assert.ok(!isClosed(failureOf(platform("fatal_error"))));
  assert.ok(!isClosed(failureOf({ code: "slack_webapi_rate_limited_error", retryAfter: 1 })));
});

test("every failure has words", () => {
  for (const error of [platform("x"), request("x"), new Error("x"), "x", undefined, null, 5])
    assert.notEqual(wordsOf(failureOf(error)), "");
});
