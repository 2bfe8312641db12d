import assert from "node:assert/strict";
import { test } from "node:test";
import { chatOfHash, chatRows, hashOf, titleOf } from "./chats.ts";

test("the list is newest first and knows conversations that only wait here", () => {
  const listed = [
    { chat: "old", title: "Old", activeAt: 10, lastN: 5 },
    { chat: "new", title: "New", activeAt: 30, lastN: 9 },
  ];
  const spoken = [
    { chat: "local", text: "first words\nand more", at: 20 },
    { chat: "local", text: "second words", at: 21 },
    { chat: "old", text: "more", at: 40 },
  ];
  const rows = chatRows(listed, spoken, () => 7, "local");
  assert.deepEqual(
    rows.map(({ chat, title, unread, local }) => [chat, title, unread, local]),
    [
      ["new", "New", true, false],
      ["local", "first words", false, true],
      ["old", "Old", false, false],
    ],
  );
  assert.equal(chatRows(listed, [], () => 0, "new").find((row) => row.chat === "new")?.unread, false);
});

test("a title is the first line that says something", () => {
  for (const [text, title] of [
    ["", "New conversation"],
    ["  \n\n", "New conversation"],
    ["hello", "hello"],
    ["\n\n# A heading\nwords", "A heading"],
    ["> - `quoted`", "quoted"],
    ["Hello, **bold** and `code`", "Hello, bold and code"],
    ["see [the _manual_](http://x) *now*, ~~not~~ later", "see the manual now, not later"],
    ["keep snake_case_names, 2 * 3 * 4 and __init__", "keep snake_case_names, 2 * 3 * 4 and __init__"],
    ['do: [{"tool":"terminal","input":{"command":"ls"}}]', "do: tool: terminal, input: command: ls"],
    ["[1] and {x} stay", "[1] and {x} stay"],
    ["**", "New conversation"],
    ["x".repeat(200), `${"x".repeat(80)}…`],
    ["word ".repeat(40), `${"word ".repeat(15)}word…`],
    ["מה שלומך", "מה שלומך"],
  ] as const) {
    assert.equal(titleOf(text), title);
  }
});

test("the address names a conversation, or none", () => {
  for (const [hash, chat] of [
    ["", null],
    ["#", null],
    ["#/c/", null],
    ["#/c/abc-DEF_1", "abc-DEF_1"],
    ["#/c/a/b", null],
    ["#/c/..", null],
    [`#/c/${"x".repeat(65)}`, null],
    ["#/c/<script>", null],
  ] as const) {
    assert.equal(chatOfHash(hash), chat, hash);
  }
  assert.equal(chatOfHash(hashOf("some-id")), "some-id");
});
