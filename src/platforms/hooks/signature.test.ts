// Signatures, made by us and by others, and everything that must not pass for one.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "node:test";
import { sign, verify } from "./signature.ts";

const secret = "a secret of some length";
const body = Buffer.from('{"text":"hé"}');
const now = 1_800_000_000_000;
const right = sign(secret, body, now);
const hex = createHmac("sha256", secret).update(`1800000000.${body.toString()}`).digest("hex");
const plain = createHmac("sha256", secret).update(body).digest("hex");

test("a signature is the time and a hash over it and the body", () => {
  assert.equal(right, `t=1800000000,v1=${hex}`);
  assert.equal(sign(secret, body.toString(), now), right);
});

describe("our own way", () => {
  const cases: readonly (readonly [what: string, header: string | null, verdict: string])[] = [
    ["right", right, "signed"],
    ["in capitals, with spaces", ` t=1800000000 , v1=${hex.toUpperCase()} `, "signed"],
    ["one of two while the secret changes", `t=1800000000,v1=${"0".repeat(64)},v1=${hex}`, "signed"],
    ["299 seconds old", sign(secret, body, now - 299_000), "signed"],
    ["299 seconds early", sign(secret, body, now + 299_000), "signed"],
    ["301 seconds old", sign(secret, body, now - 301_000), "too-old"],
    ["301 seconds early", sign(secret, body, now + 301_000), "too-old"],
    ["missing", null, "unsigned"],
    ["empty", "", "malformed"],
    ["without time", `v1=${hex}`, "malformed"],
    ["without hash", "t=1800000000", "malformed"],
    ["too short", `t=1800000000,v1=${hex.slice(1)}`, "malformed"],
    ["too many", `t=1800000000,${`v1=${hex},`.repeat(9)}`, "malformed"],
    ["of another time", `t=1800000001,v1=${hex}`, "wrong"],
    ["of another secret", sign("another secret, just as long", body, now), "wrong"],
    ["of another body", sign(secret, '{"text":"ho"}', now), "wrong"],
    ["GitHub's", `sha256=${plain}`, "malformed"],
  ];
  for (const [what, header, verdict] of cases) {
    test(what, () => {
      const headers = new Headers(header === null ? {} : { "x-everturn-signature": header });
      const found = verify("everturn", secret, headers, body, now);
      assert.equal(found.type === "signed" ? "signed" : found.why, verdict);
    });
  }
});

describe("GitHub's way", () => {
  const cases: readonly (readonly [what: string, headers: Record<string, string>, verdict: string])[] = [
    ["right", { "x-hub-signature-256": `sha256=${plain}` }, "signed"],
    ["missing", {}, "unsigned"],
    ["only ours", { "x-everturn-signature": right }, "unsigned"],
    ["the old hash", { "x-hub-signature-256": "sha1=aaaa" }, "malformed"],
    ["wrong", { "x-hub-signature-256": `sha256=${hex}` }, "wrong"],
  ];
  for (const [what, headers, verdict] of cases) {
    test(what, () => {
      const found = verify("github", secret, new Headers(headers), body, now);
      assert.equal(found.type === "signed" ? "signed" : found.why, verdict);
    });
  }
});
