// A text that grows, as a client gets it: only ever added to, and whole at the end, wherever it broke off.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Given, grow, markOf, nothingGiven, readMark } from "./growing.ts";

/** Everything a client has after these drafts and this final text. */
function streamed(drafts: readonly string[], final: string, from: Given = nothingGiven): string {
  let had = from;
  let text = "";
  for (const [i, draft] of [...drafts, final].entries()) {
    const { delta, now } = grow(had, draft, i === drafts.length);
    text += delta;
    had = now;
  }
  return text;
}

describe("drafts and the final text", () => {
  const cases: readonly (readonly [what: string, drafts: readonly string[], final: string, streamed: string])[] = [
    ["nothing before the end", [], "All.", "All."],
    ["each longer than the one before", ["A", "A b", "A b c"], "A b c.", "A b c."],
    ["the same again", ["A", "A", "A"], "A", "A"],
    ["shorter for a while, after a start", ["A b c", "", "A", "A b"], "A b c d", "A b c d"],
    ["written anew", ["Let me look.", "The answer"], "The answer is 5.", "Let me look.\n\nThe answer is 5."],
    ["written anew at the end only", ["Let me look."], "5.", "Let me look.\n\n5."],
    [
      "lines about calls are no answer",
      ["Let me.", "Let me.\n\n… ls: /tmp", "Let me.\n\n✓ ls: /tmp"],
      "Let me.\n\nDone.",
      "Let me.\n\nDone.",
    ],
    [
      "lines about calls behind growing words",
      ["T\n\n✓ ls\n… cat: x\n  half", "The\n\n✓ ls\n✓ cat: x"],
      "The end",
      "The end",
    ],
    ["only lines about calls", ["… ls", "✓ ls\n✗ cat"], "Done", "Done"],
    ["remarks about the model", ["(The model does not answer; trying again at 12:00)"], "Yes", "Yes"],
    [
      "an answer that looks like a line about a call",
      ["✓ ok", "✓ ok, I think\nso"],
      "✓ ok, I think\nso.",
      "✓ ok, I think\nso.",
    ],
    ["half a sign", ["a\ud83d"], "a👋", "a👋"],
    ["an empty answer", ["", ""], "", ""],
    ["taken back altogether", ["Words"], "", "Words\n\n"],
  ];
  for (const [what, drafts, final, expected] of cases) {
    test(what, () => assert.equal(streamed(drafts, final), expected));
  }
});

test("half a sign is never given", () => {
  const { delta } = grow(nothingGiven, "a\ud83d", false);
  assert.equal(delta, "a");
});

describe("going on after a break, with nothing but the mark", () => {
  const final = "One, two, three.";
  test("from anywhere, nothing is missing and nothing comes twice", () => {
    for (let n = 0; n <= final.length; n++) {
      const { now, delta } = grow(nothingGiven, final.slice(0, n), true);
      const had = readMark(markOf(now)) ?? assert.fail("no mark");
      assert.equal(delta + streamed(["One", "One, two"], final, had), final);
    }
  });
  test("what became another text is given whole, as its own paragraph", () => {
    for (const other of ["Something else that is longer", "Onf"]) {
      const { now } = grow(nothingGiven, other, false);
      const had = readMark(markOf(now)) ?? assert.fail("no mark");
      assert.equal(streamed(["One"], final, had), `\n\n${final}`);
    }
  });
  test("marks", () => {
    assert.deepEqual(readMark("0"), nothingGiven);
    for (const bad of ["", "x", "12", "-1-aaaaaaaaaaaa", "5-short", "5-aaaaaaaaaaaaa", "9999999999-aaaaaaaaaaaa"])
      assert.equal(readMark(bad), null);
  });
});
