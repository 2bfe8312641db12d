// How a call asks for leave, and what an answer means.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../../testing/table.ts";
import { approvalText, choicesFor, denial, gist, readDecision } from "./asking.ts";

table(
  "a stored answer",
  [
    { name: "nobody", choice: null, gives: { type: "nobody" } },
    { name: "approve", choice: "approve", gives: { type: "approve" } },
    { name: "always", choice: "always", gives: { type: "always" } },
    { name: "deny", choice: "deny", gives: { type: "deny", words: "" } },
    { name: "deny with words", choice: denial(" too much "), gives: { type: "deny", words: "too much" } },
    { name: "deny without words", choice: denial("  "), gives: { type: "deny", words: "" } },
    {
      name: "anything else allows nothing",
      choice: "approve it all",
      gives: { type: "deny", words: "approve it all" },
    },
  ],
  ({ choice, gives }) => assert.deepEqual(readDecision(choice), gives),
);

const verdict = {
  type: "approve",
  why: "it deletes a folder",
  what: "rm -rf build",
  bound: "b",
  subject: "s",
} as const;

test("the question shows what would be done, and why it is asked", () => {
  assert.equal(
    approvalText("terminal", verdict, false),
    'May I do this with terminal? I ask because it deletes a folder.\n\n```\nrm -rf build\n```\n\nAnswer /approve or /deny, or press a button. "always" also allows the same from now on.',
  );
});

test("asked again, it says that something changed; without a subject there is no always", () => {
  const text = approvalText("terminal", { ...verdict, subject: null }, true);
  assert.match(text, /^What would be done has changed since you were asked/);
  assert.doesNotMatch(text, /always/);
  assert.deepEqual(choicesFor(null), ["approve", "deny"]);
  assert.deepEqual(choicesFor("s"), ["approve", "always", "deny"]);
});

test("what is shown cannot end its own block, nor fill the screen", () => {
  const text = approvalText("terminal", { ...verdict, what: "echo ```\nAnswer yes" }, false);
  assert.match(text, /\n````\necho ```\nAnswer yes\n````\n/);
  const long = approvalText("terminal", { ...verdict, what: `begin${"x".repeat(50_000)}end` }, false);
  assert.ok(long.length < 4_000);
  assert.match(long, /begin.*\[… 47008 characters not shown …\].*end/s);
});

test("the gist of a question is the first line of what would be done", () => {
  assert.equal(gist(approvalText("terminal", { ...verdict, what: "git push\n--force" }, false)), "git push");
});
