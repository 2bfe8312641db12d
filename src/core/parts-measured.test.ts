// Parts of which only drawing them tells the size: the same properties with the measure of a platform, and that long
// texts are not drawn more often than needed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { dialect, write } from "../markup/index.ts";
import { toFewParts, toParts } from "./parts.ts";

const escape = (words: string): string => words.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`);
const tag = (name: string) => (inner: string) => `<${name}>${inner}</${name}>`;
const html = dialect({
  text: escape,
  bold: tag("b"),
  italic: tag("i"),
  strike: tag("s"),
  code: (words) => tag("code")(escape(words)),
  block: (words, language) => `<pre><code class="language-${language}">${escape(words)}</code></pre>`,
  link: (inner, href) => `<a href="${href}">${inner}</a>`,
});
const bytes = new TextEncoder();
const measures = {
  html: (part: string) => write(part, html).length,
  bytes: (part: string) => bytes.encode(part).length,
  "every letter counts five": (part: string) => part.length * 5,
  "links are shown by their words": (part: string) => part.replace(/\]\([^()\s]*\)/g, "").length,
} as const;

const bit = fc.oneof(
  fc.constantFrom("a", "word", "<b>", "&", "**bold words here**", "`some code`", "[a link](https://a.org/b?c=d&e)"),
  fc.constantFrom(
    "👋",
    "👩‍👩‍👧‍👦",
    "𝒳𝒴",
    "שלום",
    "é",
    "x".repeat(90),
    "~~no~~",
    "- item",
    "# head",
    "1. one",
    "> said",
  ),
);
const gap = fc.constantFrom(" ", " ", " ", "\n", "\n", "\n\n", "  \n");
const prose = fc.array(fc.tuple(bit, gap), { maxLength: 60 }).map((all) => all.flat().join(""));
const code = fc
  .tuple(fc.constantFrom("```", "~~~", "````"), fc.constantFrom("", "ts", "sh"), fc.array(bit, { maxLength: 30 }))
  .map(([mark, info, lines]) => `${mark}${info}\n${lines.map((line) => `${line} < 1;\n`).join("")}${mark}\n`);
const answer = fc
  .array(fc.oneof(prose, prose, code), { maxLength: 6 })
  .map((pieces) => pieces.map((piece) => (piece.endsWith("\n") ? piece : `${piece}\n`)).join(""));
const max = fc.constantFrom(150, 200, 400, 1_000);

function openFence(text: string): string | null {
  let open: string | null = null;
  for (const [, mark = "", info = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (open === null) open = mark.startsWith("`") && info.includes("`") ? null : mark;
    else if (mark.startsWith(open) && info.trim() === "") open = null;
  }
  return open;
}

const bare = (text: string): string => text.replace(/^ {0,3}(`{3,}|~{3,})[^`\n]*$/gm, "").replace(/\s+/g, "");

for (const [name, measure] of Object.entries(measures)) {
  describe(`measured: ${name}`, () => {
    const holds = (check: (text: string, most: number, parts: readonly string[]) => void): void =>
      fc.assert(
        fc.property(answer, max, (text, most) => check(text, most, toParts(text, most, measure))),
        { numRuns: 300, seed: 7 },
      );

    test("no part is over the limit, and none is empty", () =>
      holds((text, most, parts) => {
        for (const part of parts) assert.ok(measure(part) <= most, `${measure(part)} > ${most}: ${part}`);
        if (text !== "") for (const part of parts) assert.notEqual(part, "");
      }));

    test("nothing is lost or added but fence lines and white space", () =>
      holds((text, _, parts) => assert.equal(bare(parts.join("\n")), bare(text))));

    test("fences are balanced, and no letter is torn", () =>
      holds((_, __, parts) => {
        for (const part of parts) {
          assert.equal(openFence(part), null, part);
          assert.ok(part.isWellFormed());
          assert.doesNotMatch(part, /^\u200d|\u200d$/);
        }
      }));

    test("what fits is one part, and parts stay what they are", () =>
      holds((text, most, parts) => {
        if (measure(text) <= most) assert.deepEqual(parts, [text]);
        for (const part of parts) assert.deepEqual(toParts(part, most, measure), [part]);
        assert.deepEqual(toParts(text, most, measure), parts);
      }));

    test("parts are not much smaller than they may be", () => {
      const parts = toParts("some words of an answer. ".repeat(2_000), 1_000, measure);
      for (const part of parts.slice(0, -1)) assert.ok(measure(part) > 800, `${measure(part)}: ${part}`);
    });
  });
}

test("bold words, code and links stay whole where they can", () => {
  const span = fc.constantFrom("**bold words here**", "`some code here`", "[a link here](https://a.org)", "word");
  fc.assert(
    fc.property(fc.array(span, { minLength: 30, maxLength: 60 }), (all) => {
      for (const part of [...toParts(all.join(" "), 200), ...toParts(all.join(" "), 400, measures.html)]) {
        assert.equal(part.split("**").length % 2, 1, part);
        assert.equal(part.split("`").length % 2, 1, part);
        assert.equal(part.split("[").length, part.split("](https://a.org)").length, part);
      }
    }),
    { numRuns: 200, seed: 7 },
  );
});

test("what people see as one letter is not torn", () => {
  const letters = fc.array(fc.constantFrom("👩‍👩‍👧‍👦", "e\u0301", "🇩🇪", "x"), { minLength: 50, maxLength: 90 });
  const seen = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const count = (text: string): number => [...seen.segment(text)].length;
  fc.assert(
    fc.property(letters, (all) => {
      const text = all.join("");
      for (const parts of [toParts(text, 60), toParts(text, 60, measures.bytes)]) {
        assert.equal(
          parts.reduce((sum, part) => sum + count(part), 0),
          count(text),
        );
      }
    }),
    { numRuns: 100, seed: 7 },
  );
});

test("what would be many parts is known early", () => {
  let drawn = 0;
  const text = "some words & more. ".repeat(100_000);
  const measure = (part: string): number => {
    drawn += part.length;
    return escape(part).length;
  };
  assert.equal(toFewParts(text, 1_000, 8, measure), null);
  assert.ok(drawn < 40_000, `${drawn}`);
  assert.deepEqual(toFewParts("a b", 1_000, 8, measure), ["a b"]);
  assert.deepEqual(toFewParts(text.slice(0, 5_000), 1_000, 8, measure), toParts(text.slice(0, 5_000), 1_000, measure));
});

test("a letter that is too large stands alone", () => {
  assert.deepEqual(
    toParts("ab👋", 2, (part) => part.length * 10),
    ["a", "b", "👋"],
  );
});

test("a long text is not drawn many times", () => {
  for (const text of ["some **words** of an answer & more. ".repeat(50_000), "&<".repeat(500_000)]) {
    let drawn = 0;
    const parts = toParts(text, 4_000, (part) => {
      drawn += part.length;
      return escape(part).length;
    });
    assert.ok(parts.length > 100);
    assert.ok(drawn < 4 * text.length, `${drawn / text.length} times`);
  }
});
