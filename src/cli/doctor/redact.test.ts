import assert from "node:assert/strict";
import { test } from "node:test";
import { redactTold } from "./redact.ts";

test("errors that checks quote lose known secrets and what looks like one", () => {
  const todo = "Look at --token=abcdef";
  const ok = { name: "telegram", level: "fault", fix: null } as const;
  const [told] = redactTold(
    ["my-password-1"],
    [
      {
        ...ok,
        what: "GET https://api.telegram.org/bot123456789:AAF-abcdefghijklmnopqrstuvwxyz0123456/getMe failed for my-password-1",
        todo,
      },
    ],
  );
  assert.doesNotMatch(JSON.stringify(told), /AAF-|my-password-1|abcdef/);
  assert.match(told?.what ?? "", /^GET https:\/\/api\.telegram\.org\/bot\[secret\]\/getMe failed for \[secret\]$/);
});
