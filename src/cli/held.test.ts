// Held answers in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { heldText } from "./held.ts";

test("held answers are named with their number, chat and age", () => {
  const one = { address: "telegram/bot/7", platform: "telegram", account: "bot", since: 0 };
  const now = 3 * 3_600_000;
  assert.match(
    heldText({ ...one, answers: 2 }, now),
    /^2 answers for telegram\/bot\/7 may not have arrived, held since \d\d:\d\d \(3 h ago\)$/,
  );
  assert.match(heldText({ ...one, answers: 1 }, now), /^1 answer for /);
});
