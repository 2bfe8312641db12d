// Which programs a line would start, and with what words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { simpleCommands } from "./simple.ts";

test("a line is read as its commands", () => {
  const cases: readonly (readonly [line: string, words: readonly (readonly string[])[], fed?: readonly number[]])[] = [
    ["A=1 B=2 x 'y z' \"w;v\" | y && (z; q) > out # c", [["x", "y z", "w;v"], ["y"], ["z"], ["q"]], [1]],
    ["a < in", [["a"]], [0]],
    ["a <<E\nb\nE\nc", [["a"], ["c"]], [0]],
    ["if a; then b; fi", [["a"], ["b"]]],
    [
      "echo $(a b)",
      [
        ["a", "b"],
        ["echo", "\0"],
      ],
    ],
    ["x | { a; b; }", [["x"], ["a"], ["b"]], [1, 2]],
    ["f() { a; }", [["a"]]],
    ["for i in $(a); do b; done", [["a"], ["b"]]],
    ["[[ -f x ]] && a", [["a"]]],
    ["A=1", []],
    ["", []],
    ["echo 'unclosed", []],
  ];
  for (const [line, words, fed = []] of cases) {
    const expected = words.map((one, at) => ({ words: one, fed: fed.includes(at) }));
    assert.deepEqual(simpleCommands(line), expected, line);
  }
});
