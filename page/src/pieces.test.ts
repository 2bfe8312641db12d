import assert from "node:assert/strict";
import { test } from "node:test";
import { piecesOf, previewOf, splitPreview } from "./pieces.ts";
import { timelineRows } from "./rows.ts";
import { emptyFeed } from "./state.ts";

test("pieces are the whole text, bounded, cut between paragraphs and outside of fences", () => {
  const paragraph = `${"word ".repeat(60)}\n\n`;
  const fence = `\`\`\`\n${"line\n\n".repeat(500)}\`\`\`\n\n`;
  for (const text of [
    "",
    "short",
    paragraph.repeat(200),
    (paragraph + fence).repeat(20),
    "x".repeat(1_000_000),
    "😀".repeat(50_000),
    "line\n".repeat(50_000),
    `\`\`\`\n${"y\n".repeat(40_000)}`,
  ]) {
    const pieces = piecesOf(text);
    assert.equal(pieces.join(""), text);
    for (const piece of pieces) {
      assert.ok(piece.length <= 16_000);
      assert.equal(piece.isWellFormed(), true);
    }
  }
  for (const piece of piecesOf((paragraph + fence).repeat(20)))
    assert.equal((piece.match(/^```/gm) ?? []).length % 2, 0, "no fence is cut in two");
});

test("a preview is a beginning, whole in its characters, and ends with a line where one is near", () => {
  assert.equal(previewOf("x".repeat(100), 40), "x".repeat(10));
  assert.equal(previewOf("12345678\n0123456789", 40), "12345678");
  assert.equal(previewOf("1\n345678901234567", 40), "1\n34567890");
  assert.equal(previewOf(`123456789😀${"x".repeat(90)}`, 40), "123456789");
});

test("the timeline has its days, its restarts, and what is on its way at the end", () => {
  const message = (n: number, at: number) => ({ n, key: `k${n}`, role: "user" as const, text: "t", at });
  const feed = { ...emptyFeed, messages: [message(1, 10), message(2, 11), message(3, 25)], restarts: [2] };
  const waiting = (id: string, chat: string) => ({
    message: { id, chat, text: "t", at: 30 },
    state: "waiting" as const,
  });
  const rows = timelineRows(feed, [waiting("a", "here"), waiting("b", "there")], "here", (at) =>
    String(Math.floor(at / 10)),
  );
  assert.deepEqual(
    rows.map((row) => row.key),
    ["day 1", "m 1", "m 2", "restart 2", "day 2", "m 3", "u a"],
  );
});

test("a preview is split into its words and the calls that run", () => {
  const tool = (name: string, input = "", told = "", mark = "") => ({ mark, name, input, told });
  for (const [text, words, tools] of [
    ["", "", []],
    ["just words", "just words", []],
    ["… terminal: npm test", "", [tool("terminal", "npm test")]],
    ["one\n\ntwo\n\n… read_file: a\n… recall", "one\n\ntwo", [tool("read_file", "a"), tool("recall")]],
    ["… terminal: npm test\n  12 passing", "", [tool("terminal", "npm test", "12 passing")]],
    ["a\n\n✓ look\n✗ gone: b\n… x", "a", [tool("look", "", "", "✓"), tool("gone", "b", "", "✗"), tool("x")]],
    ["… and 12 more before\n? x: 1", "", [tool("", "and 12 more before", "", "…"), tool("x", "1", "", "?")]],
    ["words\n… terminal: x", "words\n… terminal: x", []],
    ["words\n\n… and so on, as they say", "words\n\n… and so on, as they say", []],
    ["a\n\n… x: 1\nmore words", "a\n\n… x: 1\nmore words", []],
  ] as const)
    assert.deepEqual(splitPreview(text), { words, tools }, text);
});
