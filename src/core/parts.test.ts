// Long answers in parts: properties over random texts from seeds, then examples that a person can read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Dice, everySeed } from "../testing/dice.ts";
import { table } from "../testing/table.ts";
import { toParts } from "./parts.ts";

/** As CommonMark reads fences: a closing one is at least as long as the opening one and has nothing behind it. */
function openFence(text: string): string | null {
  let open: string | null = null;
  for (const line of text.split("\n")) {
    const [, mark = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (mark === "") continue;
    if (open === null) open = mark.startsWith("`") && rest.includes("`") ? null : mark;
    else if (mark.startsWith(open) && rest.trim() === "") open = null;
  }
  return open;
}

const words = [
  "a",
  "to",
  "word",
  "שלום",
  "naïve",
  "👋",
  "👩‍👩‍👧‍👦",
  "**bold**",
  "`x`",
  "1.",
  "longerword",
  "𝒳𝒴",
  "semi;colon",
];

function line(roll: Dice): string {
  return Array.from({ length: roll.throw(12) }, () => roll.pick(words)).join(" ");
}

/** A line without a place to cut, with many surrogate pairs. */
function solid(roll: Dice): string {
  return Array.from({ length: 10 + roll.throw(120) }, () => roll.pick(["x", "👋", "𝒳", "é"])).join("");
}

function prose(roll: Dice): string {
  const lines = Array.from({ length: 1 + roll.throw(20) }, () => (roll.once(5) ? solid(roll) : line(roll)));
  return lines.map((one) => one + roll.pick(["\n", "\n", "\n\n", " ", "\n\n\n", "  \n"])).join("");
}

function code(roll: Dice): string {
  const mark = roll.pick(["```", "```", "```", "~~~", "````", "~~~~~"]);
  const info = roll.pick(["", "ts", "sh", "typescript"]);
  const inner = mark === "````" ? ["```js", "let a = 1;", "```"] : ["if (a) {", "  b();", "}", ""];
  const lines = Array.from({ length: roll.throw(25) }, () => roll.pick([...inner, line(roll)]));
  return `${mark}${info}\n${lines.map((one) => `${one}\n`).join("")}${mark}\n`;
}

function mixed(roll: Dice): string {
  const pieces = Array.from({ length: 1 + roll.throw(5) }, () =>
    roll
      .pick([prose, code, () => "```one line```\n"])(roll)
      .replace(/([^\n])$/, "$1\n"),
  );
  return pieces.join("");
}

const tiny = [1, 2, 3, 5, 8, 9, 12, 20];
const small = [40, 100, 333];

test("no part is longer than the limit, none is empty, and it ends, for any text and any limit", () => {
  everySeed(400, (roll) => {
    const textMax = roll.pick([...tiny, ...small]);
    const text = roll.pick([prose, mixed, solid])(roll);
    const parts = toParts(text, textMax);
    for (const part of parts) assert.ok(part.length <= textMax, `${part.length} > ${textMax}: ${JSON.stringify(part)}`);
    if (textMax >= 20 && text.trim() !== "") for (const part of parts) assert.notEqual(part, "");
  });
});

test("no pair of surrogates is cut, from 20 on", () => {
  everySeed(400, (roll) => {
    const text = roll.pick([prose, mixed, solid])(roll);
    for (const part of toParts(text, roll.pick([20, 21, 23, ...small]))) {
      assert.ok(part.isWellFormed(), JSON.stringify(part));
    }
  });
});

test("a pair of surrogates is not cut where the fence leaves hardly any room", () => {
  for (let info = 0; info <= 16; info++) {
    const text = `\`\`\`${"i".repeat(info)}\n${"👋".repeat(40)}\n\`\`\``;
    for (const part of toParts(text, 20)) assert.ok(part.isWellFormed(), `${info}: ${JSON.stringify(part)}`);
  }
});

test("of text without fences nothing is lost but line ends at the breaks", () => {
  everySeed(400, (roll) => {
    const text = prose(roll);
    let rest = text;
    for (const part of toParts(text, roll.pick([20, ...small]))) {
      const gap = rest.indexOf(part);
      assert.ok(gap >= 0, `not found: ${JSON.stringify(part)}`);
      assert.match(rest.slice(0, gap), /^\n{0,2}$/, "only line ends between two parts");
      rest = rest.slice(gap + part.length);
    }
    assert.match(rest, /^\n{0,2}$/);
  });
});

test("of text with fences nothing is lost but fence lines and line ends", () => {
  const bare = (text: string): string => text.replace(/^ {0,3}(`{3,}|~{3,})[^`\n]*$/gm, "").replaceAll("\n", "");
  everySeed(400, (roll) => {
    const text = mixed(roll);
    assert.equal(bare(toParts(text, roll.pick([100, 333])).join("\n")), bare(text));
  });
});

test("fences are balanced in every part", () => {
  everySeed(400, (roll) => {
    const text = mixed(roll);
    assert.equal(openFence(text), null, "the text itself is balanced");
    for (const part of toParts(text, roll.pick([100, 333]))) {
      assert.equal(openFence(part), null, `open fence in ${JSON.stringify(part)}`);
    }
  });
});

test("what was code stays code and what was prose stays prose", () => {
  everySeed(400, (roll) => {
    const text = mixed(roll);
    const parts = toParts(text, roll.pick([200, 333]));
    assert.equal(parts.map(codeOf).join(""), codeOf(text), JSON.stringify(parts));
  });
});

/** Everything inside fences, without line ends. */
function codeOf(text: string): string {
  const lines = text.split("\n");
  return lines
    .filter(
      (_, n) =>
        openFence(lines.slice(0, n).join("\n")) !== null && openFence(lines.slice(0, n + 1).join("\n")) !== null,
    )
    .join("");
}

test("words that fit are not cut", () => {
  everySeed(200, (roll) => {
    const text = Array.from({ length: 100 }, () => roll.pick(words)).join(roll.pick([" ", "\n"]));
    for (const part of toParts(text, 60)) {
      for (const word of part.split(/\s+/)) assert.ok(word === "" || words.includes(word), `cut: ${word}`);
    }
  });
});

table(
  "parts",
  [
    { name: "short text is one part", text: "hello\n", textMax: 20, gives: ["hello\n"] },
    { name: "exactly the limit is one part", text: "x".repeat(20), textMax: 20, gives: ["x".repeat(20)] },
    { name: "nothing is one empty part", text: "", textMax: 20, gives: [""] },
    {
      name: "a paragraph is the best place",
      text: `${"first ".repeat(8).trim()}.\n\nsecond one\nthird ${"x".repeat(40)}`,
      textMax: 70,
      gives: [`${"first ".repeat(8).trim()}.\n`, `second one\nthird ${"x".repeat(40)}`],
    },
    {
      name: "then a line",
      text: "one two three four\nfive six seven eight nine",
      textMax: 30,
      gives: ["one two three four", "five six seven eight nine"],
    },
    {
      name: "then a word",
      text: "one two three four five six seven",
      textMax: 20,
      gives: ["one two three four ", "five six seven"],
    },
    {
      name: "then anywhere",
      text: "x".repeat(30),
      textMax: 20,
      gives: ["x".repeat(20), "x".repeat(10)],
    },
    {
      name: "code is closed and opened again",
      text: "look:\n```ts\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```\ndone",
      textMax: 40,
      gives: ["look:\n```ts\nlet a = 1;\nlet b = 2;\n```", "```ts\nlet c = 3;\n```\ndone"],
    },
  ],
  ({ text, textMax, gives }) => {
    assert.deepEqual(toParts(text, textMax), gives);
  },
);
