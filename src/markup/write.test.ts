// Markdown in other dialects: examples that a person can read, then that no words are lost, whatever is written, and that
// hostile texts take bounded time.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { table } from "../testing/table.ts";
import { dialect } from "./dialect.ts";
import { plain } from "./plain.ts";
import { write } from "./write.ts";

const escape = (words: string): string => words.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** Shows every call as a tag. */
const tags = dialect({
  text: escape,
  bold: (inner) => `<b>${inner}</b>`,
  italic: (inner) => `<i>${inner}</i>`,
  strike: (inner) => `<s>${inner}</s>`,
  code: (words) => `<code>${escape(words)}</code>`,
  block: (words, language) => `<pre ${language}>${escape(words)}</pre>`,
  link: (inner, href, isBare) => `<a ${href}${isBare ? " bare" : ""}>${inner}</a>`,
});

table(
  "in tags",
  [
    { name: "words", text: "hello & <you", gives: "hello &#38; &#60;you" },
    { name: "emphasis", text: "**b** *i* ~~s~~ `c<d`", gives: "<b>b</b> <i>i</i> <s>s</s> <code>c&#60;d</code>" },
    { name: "nested emphasis", text: "***both*** **a *b* c**", gives: "<i><b>both</b></i> <b>a <i>b</i> c</b>" },
    { name: "bold inside bold is bold", text: "**a __b__ c**", gives: "<b>a b c</b>" },
    {
      name: "emphasis inside words",
      text: "snake_case_name un*believ*able",
      gives: "snake_case_name un<i>believ</i>able",
    },
    { name: "emphasis that is not closed yet", text: "so **far", gives: "so **far" },
    { name: "a heading", text: "# One\ntext", gives: "<b>One</b>\ntext" },
    { name: "line ends stay", text: "a\nb\n\n\n\nc", gives: "a\nb\n\nc" },
    { name: "code", text: "```ts\nlet a = 1 < 2;\n```", gives: "<pre ts>let a = 1 &#60; 2;</pre>" },
    { name: "code that is not closed yet", text: "see\n```py\nx = 1", gives: "see\n<pre py>x = 1</pre>" },
    { name: "words behind a fence", text: "```run this now\nx\n```", gives: "<pre >run this now\nx</pre>" },
    { name: "bullets", text: "* a\n* b\n  - c", gives: "• a\n• b\n  • c" },
    { name: "numbers", text: "3. a\n4. b", gives: "3. a\n4. b" },
    { name: "tasks", text: "- [x] a\n- [ ] b", gives: "☑ a\n☐ b" },
    { name: "a loose list", text: "- a\n\n- b\n\n  more", gives: "• a\n• b\nmore" },
    { name: "a quote", text: "> a\n> b", gives: "&#62; a\n&#62; b" },
    { name: "a rule", text: "a\n\n___\n\nb", gives: "a\n\n———\n\nb" },
    { name: "a link", text: "[it](https://a.org/b_(c)?d=1&amp;e)", gives: "<a https://a.org/b_(c)?d=1&e>it</a>" },
    {
      name: "an address",
      text: "<https://a.org> b@c.de",
      gives: "<a https://a.org bare>https://a.org</a> <a mailto:b@c.de bare>b@c.de</a>",
    },
    { name: "a link to nowhere safe", text: "[x](javascript:a) [y](/z)", gives: "x (javascript:a) y (/z)" },
    {
      name: "a link without words",
      text: "[](https://a.org) []()",
      gives: "<a https://a.org bare>https://a.org</a> []()",
    },
    { name: "an image", text: "![cat](https://a.org/c.png)", gives: "<a https://a.org/c.png>cat</a>" },
    {
      name: "an image in a link",
      text: "[![cat](https://a.org/c.png)](https://b.org)",
      gives: "<a https://b.org>cat</a>",
    },
    { name: "tags", text: "a <b>b</b> <br> c", gives: "a &#60;b&#62;b&#60;/b&#62; \n c" },
    { name: "a block of tags", text: "<div>\nhi\n</div>\n\nend", gives: "&#60;div&#62;\nhi\n&#60;/div&#62;\n\nend" },
    { name: "a line that looks like a definition", text: "[Alice]: hello", gives: "[Alice]: hello" },
    { name: "escapes", text: "\\*a\\* &amp; &copy; &#65;", gives: "*a* &#38; &#38;copy; A" },
    {
      name: "a table",
      text: "| name | n |\n|---|--:|\n| **a** | 1 |\n| bcd | 22 |",
      gives: "<pre >name |  n\n-----+---\na    |  1\nbcd  | 22</pre>",
    },
    {
      name: "a table with a cell too many",
      text: "| a |\n|---|\n| 1 | lost |",
      gives: "<pre >| a |\n|---|\n| 1 | lost |</pre>",
    },
    { name: "nothing", text: "", gives: "" },
  ],
  ({ text, gives }) => assert.equal(write(text, tags), gives),
);

table(
  "in plain letters",
  [
    { name: "marks are gone", text: "# A\n**b** _c_ `d`", gives: "A\nb c d" },
    { name: "addresses are told", text: "[a](https://b.org) https://c.org", gives: "a (https://b.org) https://c.org" },
    { name: "lists", text: "- a\n  1. b\n- [x] c", gives: "- a\n  1. b\n☑ c" },
  ],
  ({ text, gives }) => assert.equal(write(text, plain), gives),
);

/** Also the language of code may be a word. */
const telling = { ...plain, block: (words: string, language: string) => `${language}\n${words}` };

const piece = fc.constantFrom(
  ..."* ** *** _ __ ___ ` `` ``` ~~~ ~~ ~ # ## > - + 1. 2) | || --- === [ ] ( ) ]( ![ < > <b> </b> <!-- --> \\ & &amp; : [a]: http://x.org www.y.org [ ] [x] |---|".split(
    " ",
  ),
  "\n",
  "\n",
  "\n\n",
  "    ",
  "\t",
  " ",
  " ",
);
const word = fc.integer({ min: 1000, max: 9999 }).map((n) => `w${n}w`);
const sloppy = fc.array(fc.oneof(piece, word), { maxLength: 60 }).map((all) => all.join(""));

describe("whatever is written", () => {
  test("no word is lost", () => {
    fc.assert(
      fc.property(sloppy, (text) => {
        for (const one of [tags, telling]) {
          const said = write(text, one);
          for (const [found] of text.matchAll(/w\d{4}w/g)) {
            assert.ok(said.includes(found), `${found} is missing in ${JSON.stringify(said)}`);
          }
        }
      }),
      { numRuns: 3_000, seed: 1 },
    );
  });

  test("the same text is written the same way, and any letters do", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        assert.equal(write(text, tags), write(text, tags));
      }),
      { numRuns: 1_000, seed: 1 },
    );
  });
});

describe("hostile texts take bounded time", () => {
  const size = 100_000;
  const units = "[ * *a _a **a a**b ` `a > 1. ]( [a]( ![ < <a ~~a | & \\ http:// a@ # *a\n >\n".split(" ");
  const texts = [...units.map((unit) => unit.repeat(size / unit.length)), "> ".repeat(size / 2), "- ".repeat(size / 2)];
  texts.push(Array.from({ length: 400 }, (_, n) => `${" ".repeat(n)}- a`).join("\n"));
  texts.push(Array.from({ length: 440 }, (_, n) => "`".repeat(n)).join("a"), `${"_a".repeat(1_500)}\n\n`.repeat(30));
  for (const text of texts) {
    test(JSON.stringify(text.slice(0, 12)), () => {
      const begun = process.cpuUsage().user;
      const said = write(text, plain);
      // Unguarded, the worst of them take more than ten seconds.
      assert.ok(process.cpuUsage().user - begun < 4_000_000, `${(process.cpuUsage().user - begun) / 1_000} ms`);
      assert.equal(written(said, "a"), written(text, "a"));
    });
  }
});

function written(text: string, letter: string): number {
  return text.split(letter).length - 1;
}
