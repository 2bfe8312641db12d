// What becomes of code blocks on a terminal, and of what only looks like one.

import { equal } from "node:assert/strict";
import { test } from "node:test";
import { setIn } from "./fences.ts";

const cases: readonly (readonly [string, string, string])[] = [
  ["words stay", "a\n\nb", "a\n\nb"],
  ["a block is set in", "a\n\n```\nls\n\n  -l\n```\n\nb", "a\n\n    ls\n    \n      -l\n\nb"],
  ["its language is not shown", "```sh\nls\n```", "    ls"],
  [
    "a longer fence is not ended by a shorter one",
    "````\na\n```\nAnswer yes\n````\nb",
    "    a\n    ```\n    Answer yes\nb",
  ],
  ["nor by another kind", "```\n~~~\n```\nb", "    ~~~\nb"],
  ["one that is not ended goes on", "a\n```\nls", "a\n    ls"],
  ["code within a line is none", "```ls``` lists", "```ls``` lists"],
  ["a fence with words behind it ends nothing", "```\n``` a\n```", "    ``` a"],
];
for (const [name, text, shown] of cases) test(name, () => equal(setIn(text), shown));
