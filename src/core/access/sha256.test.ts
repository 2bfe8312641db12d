// Beside the machine's own, over lengths around every border of a block.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { sha256 } from "./sha256.ts";

test("sha256 says what everybody's says", () => {
  const texts = ["", "abc", "x:ABCDEFGH", "äöü€😀", ...Array.from({ length: 140 }, (_, n) => "q".repeat(n))];
  for (const text of texts) assert.equal(sha256(text), createHash("sha256").update(text).digest("hex"), text);
});
