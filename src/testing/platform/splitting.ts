// How a long answer is cut, over random texts from seeds: nothing is lost, fences are balanced, no part is too large as the
// platform draws it, and every part can be sent.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Dice, everySeed } from "../dice.ts";
import { type OpenPlatform, itemTo, listening } from "./steps.ts";

export function splittingTests(open: OpenPlatform): void {
  test("in parts they lose nothing, and no letter is torn", async (t) => {
    const { platform, close } = await open();
    t.after(close);
    for (const text of samples) check(text, platform.parts);
    everySeed(60, (roll) => check(answer(roll), platform.parts));
  });

  test("no part is larger than the platform takes", async (t) => {
    const { platform, limit, close } = await open();
    t.after(close);
    if (limit === undefined) return t.diagnostic("this driver knows no limit");
    everySeed(60, (roll) => {
      const text = answer(roll);
      const parts = platform.parts(text);
      // What would be very many parts is sent as a file.
      const isFile = parts.length === 1 && limit.measure(text) > 4 * limit.max;
      for (const part of isFile ? [] : parts)
        assert.ok(limit.measure(part) <= limit.max, `${limit.measure(part)}: ${part.slice(0, 100)}`);
      if (limit.measure(text) <= limit.max) assert.deepEqual(parts, [text]);
    });
  });

  test("every part can be sent", async (t) => {
    const { platform, home, hints, stored, seen } = await listening(t, open);
    let text = words(4_000);
    for (let count = 2_000; platform.parts(text).length === 1 && count > 100; count -= 200) text = words(count);
    for (const [n, part] of platform.parts(text).entries()) {
      const item = itemTo(home, `i${n}`, part, hints);
      await stored(item);
      assert.equal((await platform.send(item, new AbortController().signal)).type, "accepted");
    }
    same(bare((await seen()).join("\n")), bare(text));
  });

  test("the longest answer can be sent", async (t) => {
    const { platform, home, hints, stored, seen } = await listening(t, open);
    const [first = ""] = platform.parts(words(20_000));
    const item = itemTo(home, "i1", first, hints);
    await stored(item);
    assert.equal((await platform.send(item, new AbortController().signal)).type, "accepted");
    assert.ok((await seen()).join("\n").includes("word0 word1"), "its beginning is to be seen");
  });
}

function check(text: string, cut: (text: string) => readonly string[]): void {
  const parts = cut(text);
  assert.ok(parts.length > 0);
  same(bare(parts.join("\n")), bare(text));
  assert.ok(parts.every((part) => part.isWellFormed()));
  if (text.trim() !== "") assert.ok(parts.every((part) => part !== ""));
  for (const part of parts) assert.ok(isBalanced(part), `a fence is open: ${part.slice(0, 300)}`);
  assert.deepEqual(cut(text), parts, "the same text has the same parts");
}

function words(count: number): string {
  return Array.from({ length: count }, (_, n) => `word${n}`).join(" ");
}

const bare = (text: string): string => text.replace(/^ {0,3}(?:`{3,}|~{3,})[^`\n]*$/gm, "").replace(/\s+/g, "");

/** Long texts are not shown whole when they differ. */
function same(a: string, b: string): void {
  if (a === b) return;
  let at = 0;
  while (a[at] === b[at]) at++;
  assert.equal(a.slice(Math.max(0, at - 40), at + 40), b.slice(Math.max(0, at - 40), at + 40), `differs at ${at}`);
}

function isBalanced(text: string): boolean {
  let open: string | null = null;
  for (const [, mark = "", info = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (open === null) open = mark.startsWith("`") && info.includes("`") ? null : mark;
    else if (mark.startsWith(open) && info.trim() === "") open = null;
  }
  return open === null;
}

const samples = [
  "short",
  "👋",
  words(4_000),
  `${"x".repeat(20_000)}👋`,
  "👩‍👩‍👧‍👦".repeat(3_000),
  `\`\`\`ts\n${"let a = 1;\n".repeat(1_000)}\`\`\`\nend`,
  `| a | b |\n|---|---|\n${"| one | two |\n".repeat(1_000)}`,
  "<&>".repeat(4_000),
];

const bits = [
  "a",
  "word",
  "**bold words**",
  "_it_",
  "`x < y`",
  "[a link](https://a.org/b?c=d&e)",
  "👋",
  "<b>&amp;",
  "#",
];
const starts = ["", "", "", "- ", "1. ", "> ", "## ", "  - [ ] "];

function line(roll: Dice): string {
  const said = Array.from({ length: roll.throw(60) }, () => roll.pick(bits)).join(" ");
  return roll.once(15) ? "x".repeat(roll.throw(5_000)) : `${roll.pick(starts)}${said}`;
}

function code(roll: Dice): string {
  const mark = roll.pick(["```", "~~~", "````"]);
  const lines = Array.from({ length: roll.throw(120) }, () => `  call(${roll.pick(bits)}) && <done>;`);
  return [`${mark}${roll.pick(["", "ts", "sh"])}`, ...lines, mark].join("\n");
}

/** What a talkative model answers: from nothing to some ten thousand letters. */
function answer(roll: Dice): string {
  const pieces = Array.from({ length: 1 + roll.throw(roll.pick([2, 10, 60])) }, () =>
    roll.once(4) ? code(roll) : line(roll),
  );
  return pieces.join(roll.pick(["\n", "\n\n"]));
}
