// Who calls, by the key that came, and who does not get in.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { callerOf } from "./callers.ts";

const keys = [
  { name: "app", key: "a-key-of-some-length" },
  { name: "other", key: "another-key-of-some-length" },
];

describe("who calls", () => {
  const cases: readonly (readonly [what: string, header: string | null, isOwner: boolean, caller: string | number])[] =
    [
      ["a key", "Bearer a-key-of-some-length", false, "app"],
      ["another key", "bearer  another-key-of-some-length", false, "other"],
      ["the control token", "Bearer the-token", true, "owner"],
      ["the control token under another name", "Bearer the-token", false, 401],
      ["a key with more behind it", "Bearer a-key-of-some-lengthx", false, 401],
      ["half a key", "Bearer a-key-of-some", false, 401],
      ["another way", "Basic a-key-of-some-length", false, 401],
      ["nothing", null, true, 401],
    ];
  for (const [what, header, isOwner, expected] of cases) {
    test(what, () => {
      const headers: Record<string, string> = header === null ? {} : { authorization: header };
      const found = callerOf(keys, new Request("http://127.0.0.1/v1", { headers }), { isOwner });
      assert.equal(typeof found === "string" ? found : found.status, expected);
      if (typeof found !== "string") assert.ok(!JSON.stringify(found).includes("a-key-of"));
    });
  }

  test("nobody is the owner without being told to be", () => {
    const request = new Request("http://127.0.0.1/v1", { headers: { authorization: "Bearer x" } });
    assert.equal(typeof callerOf([], request, undefined), "object");
  });
});
