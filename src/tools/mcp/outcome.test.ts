import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolEffect } from "../../core/journal.ts";
import { type FailedAttempt, afterAttempts } from "./outcome.ts";

type Type = FailedAttempt["type"];

const again = "again";
const cases: readonly (readonly [attempts: readonly Type[], pure: string, keyed: string, once: string])[] = [
  [["refused"], "failed", "failed", "failed"],
  [["unheard"], again, again, again],
  [["lost"], again, again, "unknown"],
  [["unreachable"], "failed", "failed", "failed"],
  [["unheard", "unheard"], "failed", "failed", "failed"],
  [["unheard", "refused"], "failed", "failed", "failed"],
  [["unheard", "unreachable"], "failed", "failed", "failed"],
  [["unheard", "lost"], again, again, "unknown"],
  [["lost", "unheard"], again, again, "unknown"],
  [["unheard", "lost", "unheard"], "failed", "unknown", "unknown"],
  [["lost", "unheard", "unreachable"], "failed", "unknown", "unknown"],
  [["lost", "unheard", "lost"], "failed", "unknown", "unknown"],
  [["lost", "refused"], "failed", "unknown", "unknown"],
  [["lost", "unreachable"], "failed", "unknown", "unknown"],
  [["lost", "lost"], "failed", "unknown", "unknown"],
];

for (const [types, ...expected] of cases)
  test(`a call after ${types.join(", then ")}`, () => {
    const effects: readonly ToolEffect[] = ["pure", "keyed", "once"];
    for (const [i, effect] of effects.entries()) {
      const attempts = types.map((type, n) => ({ type, why: `reason ${n}` }));
      const next = afterAttempts({ server: "s", tool: "t", effect }, attempts);
      assert.equal(next === again ? again : next.type, expected[i], effect);
      const text = JSON.stringify(next);
      assert.doesNotMatch(text, /nothing was done/i, effect);
      if (next !== again && next.type === "unknown") assert.match(text, /Whether t was done is not known/);
      if (next !== again && types.includes("lost") && effect !== "pure")
        assert.doesNotMatch(text, /not delivered/, effect);
    }
  });

test("the reasons of both attempts are given", () => {
  const attempts: readonly FailedAttempt[] = [
    { type: "lost", why: "it ended with exit code 7" },
    { type: "unreachable", why: "it cannot be started." },
  ];
  const next = afterAttempts({ server: "s", tool: "t", effect: "keyed" }, attempts);
  assert.match(JSON.stringify(next), /exit code 7; a later attempt failed: it cannot be started\. Whether/);
});
