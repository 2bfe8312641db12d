import assert from "node:assert/strict";
import { test } from "node:test";
import { concernsCredential, credentialIn, entranceIn, headersOf } from "./credential.ts";

test("the address asks for a sign-in, or for nothing", () => {
  const secret = "a-secret_of-some-length-0123456789";
  for (const [hash, entrance] of [
    [`#link=${secret}`, { type: "link", secret }],
    ["#old-link", { type: "old-link" }],
    ["", null],
    ["#/c/abc", null],
    ["#link=", null],
    ["#link=short", null],
    [`#link=${secret}&x=1`, null],
    [`#link=${"x".repeat(200)}`, null],
  ] as const)
    assert.deepEqual(entranceIn(hash), entrance, hash);
});

test("a credential is kept in the storage, and in memory where that is forbidden", () => {
  const stored = new Map<string, string | null>();
  const keep = {
    setting: (name: string) => stored.get(name) ?? null,
    setSetting: (n: string, v: string | null) => void stored.set(n, v),
  };
  const first = credentialIn(keep);
  assert.deepEqual([first.get(), headersOf(first)], [null, {}]);
  first.set("abc");
  assert.deepEqual(headersOf(credentialIn(keep)), { authorization: "Bearer abc" }, "another tab has it too");
  const forbidden = credentialIn({ setting: () => null, setSetting: () => undefined });
  forbidden.set("abc");
  assert.equal(forbidden.get(), "abc");
});

test("another tab that signs in is noticed", () => {
  assert.deepEqual(["everturn.credential", null, "everturn.theme"].map(concernsCredential), [true, true, false]);
});
