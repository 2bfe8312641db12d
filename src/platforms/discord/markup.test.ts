import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { asFile, parts, preview, rendered, textMax } from "./markup.ts";

describe("markdown as Discord writes it", () => {
  const cases: readonly (readonly [what: string, ours: string, theirs: string])[] = [
    ["words", "hello you", "hello you"],
    ["marks", "**b** and *i* and ~~s~~ and `c`", "**b** and *i* and ~~s~~ and `c`"],
    ["marks that mean themselves", "2 * 3 * 4", "2 \\* 3 \\* 4"],
    ["names of programs", "snake_case_name", "snake_case_name"],
    ["code is left alone", "`a * b_c`", "`a * b_c`"],
    ["a block", "```ts\nlet a = 1 * 2;\n```", "```ts\nlet a = 1 * 2;\n```"],
    ["headings", "# a\n\n### b\n\n#### c", "# a\n\n### b\n\n**c**"],
    ["lists", "- a\n- b\n  - c", "- a\n- b\n  - c"],
    ["numbers", "1. a\n2. b", "1. a\n2. b"],
    ["links", "[here](https://a.org/b)", "[here](https://a.org/b)"],
    ["bare links", "https://a.org/b_c", "https://a.org/b_c"],
    ["quotes", "> a\n> b", "> a\n> b"],
  ];
  for (const [what, ours, theirs] of cases) test(what, () => assert.equal(rendered(ours), theirs));

  test("tables are drawn in a block", () => {
    const drawn = rendered("| a | b |\n|---|---|\n| 1 | 2 |");
    assert.match(drawn, /^```\n[\s\S]*\n```$/);
    assert.match(drawn, /1[^\n]*2/);
  });
});

test("a part that grows when it is written still fits", () => {
  const text = "* a * b * ".repeat(180);
  const cut = parts(text);
  assert.ok(cut.length > 1);
  for (const part of cut) assert.ok(rendered(part).length <= textMax);
});

test("an answer of many parts stays whole and becomes a file", () => {
  const text = "words and words\n\n".repeat(1_200);
  assert.deepEqual(parts(text), [text]);
  const file = asFile(text);
  assert.equal(file?.file, text);
  assert.ok((file?.words.length ?? 0) <= textMax);
  assert.equal(asFile("short"), null);
});

test("a preview fits and is never empty", () => {
  assert.equal(preview(""), "…");
  assert.equal(preview("half of"), "half of");
  assert.ok(preview("x * y ".repeat(2_000)).length <= textMax);
});
