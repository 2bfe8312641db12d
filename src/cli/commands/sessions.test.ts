// What a conversation is called in a list.

import assert from "node:assert/strict";
import { test } from "node:test";
import { codeText } from "../../core/access/pairing.ts";
import { titleOf } from "./sessions.ts";

test("a conversation is called by its first words, a stranger's by what it is", () => {
  for (const [title, endedAt, shown] of [
    ["Hello\nthere", null, "Hello there"],
    ["Hello", 5, "(ended) Hello"],
    [codeText("********").slice(0, 80), null, "(a stranger who asked to be let in)"],
  ] as const)
    assert.equal(titleOf({ title, endedAt }), shown);
  assert.equal(titleOf({ endedAt: null }), "");
});
