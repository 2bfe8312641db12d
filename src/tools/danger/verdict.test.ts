// The whole policy: every level under every setting, with and without strangers in the conversation.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolEffect } from "../../core/journal.ts";
import { judgeFetch, judgeForeign } from "./foreign.ts";
import { type Judgement, dangerous, forbidden, plain, worst } from "./judgement.ts";
import { type Policy, verdictOf } from "./verdict.ts";

const level: Readonly<Record<string, Judgement>> = {
  plain,
  dangerous: dangerous("it deletes a folder"),
  forbidden: forbidden("it would take all of /"),
};

const table: readonly (readonly [Policy, string, ToolEffect, inside: string, outside: string])[] = [
  ["always", "plain", "pure", "run", "run"],
  ["always", "plain", "keyed", "approve", "approve"],
  ["always", "plain", "checkable", "approve", "approve"],
  ["always", "plain", "once", "approve", "approve"],
  ["always", "dangerous", "pure", "approve", "approve"],
  ["always", "dangerous", "once", "approve", "approve"],
  ["always", "forbidden", "pure", "refuse", "refuse"],
  ["dangerous", "plain", "pure", "run", "run"],
  ["dangerous", "plain", "once", "run", "run"],
  ["dangerous", "plain", "checkable", "run", "run"],
  ["dangerous", "dangerous", "pure", "approve", "approve"],
  ["dangerous", "dangerous", "once", "approve", "approve"],
  ["dangerous", "forbidden", "once", "refuse", "refuse"],
  ["never", "plain", "once", "run", "run"],
  ["never", "dangerous", "pure", "run", "approve"],
  ["never", "dangerous", "checkable", "run", "approve"],
  ["never", "dangerous", "once", "run", "approve"],
  ["never", "forbidden", "pure", "refuse", "refuse"],
  ["never", "forbidden", "once", "refuse", "refuse"],
];

const rest = { what: "rm -r build", subject: "terminal rm", bound: "0f" };

test("each policy for each judgement", () => {
  for (const [policy, judged, effect, inside, outside] of table) {
    const judgement = level[judged] ?? plain;
    const name = `${policy}, ${judged}, ${effect}`;
    assert.equal(verdictOf({ policy, judgement, effect, outside: false, ...rest }).type, inside, name);
    assert.equal(verdictOf({ policy, judgement, effect, outside: true, ...rest }).type, outside, `${name}, outside`);
  }
});

test("an approval carries what is shown, the reason and what it is bound to; a refusal its reason", () => {
  const judgement = dangerous("it deletes a folder");
  assert.deepEqual(verdictOf({ policy: "dangerous", judgement, effect: "once", outside: false, ...rest }), {
    type: "approve",
    why: "it deletes a folder",
    ...rest,
  });
  const strange = verdictOf({ policy: "never", judgement, effect: "once", outside: true, ...rest });
  assert.ok(strange.type === "approve" && strange.why.includes("from outside"));
  const refused = verdictOf({
    policy: "never",
    judgement: forbidden("it would take all of /"),
    effect: "once",
    outside: false,
    ...rest,
  });
  assert.deepEqual(refused, { type: "refuse", why: "Refused: it would take all of /." });
});

test("of several judgements the gravest counts, and of two alike the first", () => {
  assert.deepEqual(worst([]), plain);
  assert.deepEqual(worst([plain, dangerous("a"), dangerous("b")]), dangerous("a"));
  assert.deepEqual(worst([dangerous("a"), forbidden("b"), plain, forbidden("c")]), forbidden("b"));
});

test("addresses", () => {
  const cases: readonly (readonly [string, Judgement["level"]])[] = [
    ["https://example.org/a?b=c", "plain"],
    ["http://example.org:8080/", "plain"],
    ["https://ann:pw@example.org/", "dangerous"],
    ["https://ann@example.org/", "dangerous"],
    ["http://example.org:22/", "dangerous"],
    ["http://example.org:6379/", "dangerous"],
    [`https://example.org/?q=${"x".repeat(3_000)}`, "dangerous"],
    ["file:///etc/passwd", "forbidden"],
    ["ftp://example.org/", "forbidden"],
    ["javascript:alert(1)", "forbidden"],
    ["nonsense", "forbidden"],
    ["", "forbidden"],
  ];
  for (const [address, expected] of cases) assert.equal(judgeFetch(address).level, expected, address);
});

test("what the author of a tool says counts only where the author is trusted", () => {
  const cases: readonly (readonly [readOnly: boolean, destructive: boolean, trusted: boolean, Judgement["level"]])[] = [
    [true, false, true, "plain"],
    [true, true, true, "plain"],
    [false, false, true, "plain"],
    [false, true, true, "dangerous"],
    [true, false, false, "dangerous"],
    [false, false, false, "dangerous"],
    [false, true, false, "dangerous"],
  ];
  for (const [readOnly, destructive, trusted, expected] of cases)
    assert.equal(
      judgeForeign({ readOnly, destructive, trusted }).level,
      expected,
      `${readOnly} ${destructive} ${trusted}`,
    );
});
