import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Edit, applyEdit } from "./match.ts";

const edit = (oldText: string, newText: string, replaceAll = false): Edit => ({ oldText, newText, replaceAll });

describe("an edit", () => {
  const done: readonly (readonly [name: string, text: string, edit: Edit, after: string, lines: readonly number[]])[] =
    [
      ["in one place", "a\nb\nc\n", edit("b", "B"), "a\nB\nc\n", [2]],
      ["over lines", "a\nb\nc\n", edit("a\nb", "x"), "x\nc\n", [1]],
      ["to nothing", "a\nb\n", edit("a\n", ""), "b\n", [1]],
      ["everywhere", "a b a\na", edit("a", "aa", true), "aa b aa\naa", [1, 1, 2]],
      ["that overlaps itself", "aaa", edit("aa", "b", true), "ba", [1]],
      ["with signs that mean something elsewhere", "a.*$& b", edit(".*$&", "$1$&"), "a$1$& b", [1]],
      ["in a file of Windows", "a\r\nb\r\nc\r\n", edit("a\nb", "x\ny"), "x\r\ny\r\nc\r\n", [1]],
      ["with endings that differ", "a\r\nb\nc\n", edit("b\nc", "x"), "a\r\nx\n", [2]],
      ["that makes endings of Unix", "a\r\nb\r\n", edit("a\r\nb\r\n", "a\nb\n"), "a\nb\n", [1]],
      ["beside a mark at the beginning", "\ufeffa\n", edit("a", "b"), "\ufeffb\n", [1]],
    ];
  for (const [name, text, one, after, lines] of done) {
    test(name, () => assert.deepEqual(applyEdit(text, one), { type: "edited", text: after, lines }));
  }

  const not: readonly (readonly [name: string, text: string, edit: Edit, why: RegExp])[] = [
    ["that changes nothing", "a", edit("a", "a"), /the same/],
    ["in more places than one", "a\nb\na\n", edit("a", "x"), /occurs 2 times, in lines 1, 3; give more .*replaceAll/],
    ["in very many places", "a\n".repeat(20), edit("a", "x"), /occurs 20 times, in lines 1, 2, .*10, …;/],
    ["of what is not there", "a\nb\n", edit("zzz", "x"), /not in the file, nor anything like it; read/],
    ["of numbered lines", "a\nb\n", edit("1\ta\n2\tb", "x"), /begins with a line number/],
    ["that was made already", "a\nnew text\n", edit("old text", "new text"), /but the new text is, in line 2/],
    [
      "with other white space",
      "if (a) {\n\tb();\n}\n",
      edit("if (a) {\n  b();\n}", "x"),
      /From line 1 on .*white space.*\n\tb\(\);/s,
    ],
    [
      "that is right only at first",
      "x\nf(1)\ng(2)\nh(3)",
      edit("f(1)\ng(9)", "y"),
      /Line 2 begins like it and line 3 differs.*\ng\(2\)/s,
    ],
    ["of a part of a line", "const a = foo(1);", edit("foo(1)\nbar", "x"), /Line 1 holds its first line/],
  ];
  for (const [name, text, one, why] of not) {
    test(`not one ${name}`, () => {
      const result = applyEdit(text, one);
      assert.ok(result.type === "not-edited");
      assert.match(result.why, why);
    });
  }

  test("looking for what comes near does not take long in a large file", () => {
    const text = "same line\n".repeat(200_000);
    const result = applyEdit(text, edit(`${"same line\n".repeat(500)}other`, "x"));
    assert.equal(result.type, "not-edited");
  });
});
