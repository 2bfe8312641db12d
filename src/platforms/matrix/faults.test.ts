import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../core/fault.ts";
import { MatrixError } from "./api.ts";
import { listenFault, sendResultOf } from "./faults.ts";

const answered = (status: number, code: string | null, after: number | null = null) =>
  new MatrixError(status, code, "words", after);

const connecting = (code: string) => new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) });

test("what becomes of a send, by what the homeserver said", () => {
  const rows: readonly (readonly [string, unknown, string, number | null])[] = [
    ["a limit with its pause", answered(429, "M_LIMIT_EXCEEDED", 1_500), "retry", 1_500],
    ["a limit without one", answered(429, "M_LIMIT_EXCEEDED"), "retry", 5_000],
    ["a proxy's limit", answered(429, null), "retry", 5_000],
    ["a wrong token", answered(401, "M_UNKNOWN_TOKEN"), "retry", 5_000],
    ["not in the room", answered(403, "M_FORBIDDEN"), "refused", null],
    ["no such room", answered(404, "M_NOT_FOUND"), "refused", null],
    ["too large", answered(413, "M_TOO_LARGE"), "refused", null],
    ["nonsense", answered(400, "M_BAD_JSON"), "refused", null],
    ["an error of the server", answered(500, "M_UNKNOWN"), "unknown", null],
    ["a proxy's page", answered(502, null), "unknown", null],
    ["a page instead of an answer", answered(200, null), "unknown", null],
    ["nothing listens", connecting("ECONNREFUSED"), "retry", 0],
    ["no such name", connecting("ENOTFOUND"), "retry", 0],
    ["an untrusted certificate", connecting("SELF_SIGNED_CERT_IN_CHAIN"), "retry", 0],
    ["a broken connection", new TypeError("fetch failed", { cause: new Error("ECONNRESET") }), "unknown", null],
    ["a time that is over", new DOMException("timed out", "TimeoutError"), "unknown", null],
  ];
  for (const [what, error, type, after] of rows) {
    const result = sendResultOf(error);
    assert.equal(result.type, type, what);
    assert.equal(result.type === "retry" ? result.afterMs : null, after, what);
    if (result.type !== "accepted") assert.notEqual(result.why, "", what);
  }
});

test("only a token that nobody knows ends listening for good, and says what to do", () => {
  const denied = listenFault(answered(401, "M_UNKNOWN_TOKEN"), "https://example.org");
  assert.ok(denied instanceof Fault && denied.code === "denied" && denied.message.includes("platforms.matrix.token"));
  const broken = listenFault(
    new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") }),
    "https://example.org",
  );
  assert.ok(broken instanceof Error && !(broken instanceof Fault) && broken.message.includes("ECONNREFUSED"));
  const slow = answered(429, "M_LIMIT_EXCEEDED", 10);
  assert.equal(listenFault(slow, "https://example.org"), slow);
});
