// Markdown as Telegram's HTML: what it looks like, that Telegram reads it, and that no part is too large as it reads it.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readHtml } from "../../../test/fakes/telegram-chats.ts";
import { table } from "../../testing/table.ts";
import { beginning, parts, sizeOf, textMax, toHtml, visible } from "./markup.ts";

table(
  "markdown is written in Telegram's HTML",
  [
    { name: "plain", markdown: "a < b & c", html: "a &lt; b &amp; c" },
    { name: "bold and italic", markdown: "**a** *b* ~~c~~", html: "<b>a</b> <i>b</i> <s>c</s>" },
    { name: "heading", markdown: "# Title\n\ntext", html: "<b>Title</b>\n\ntext" },
    { name: "code", markdown: "`a<b`", html: "<code>a&lt;b</code>" },
    {
      name: "block",
      markdown: "```ts\nlet a = 1 < 2;\n```",
      html: '<pre><code class="language-ts">let a = 1 &lt; 2;</code></pre>',
    },
    { name: "block without a language", markdown: "```\na\n```", html: "<pre>a</pre>" },
    {
      name: "link",
      markdown: '[a & b](https://example.org/?a=1&b="2")',
      html: '<a href="https://example.org/?a=1&amp;b=&quot;2&quot;">a &amp; b</a>',
    },
    { name: "quote", markdown: "> a\n> b", html: "<blockquote>a\nb</blockquote>" },
    { name: "quote in a quote", markdown: "> a\n>\n> > b", html: "<blockquote>a\n\n&gt; b</blockquote>" },
    { name: "tags of others", markdown: "<u>x</u>", html: "&lt;u&gt;x&lt;/u&gt;" },
    { name: "list", markdown: "- a\n- b", html: "• a\n• b" },
  ],
  ({ markdown, html }) => {
    assert.equal(toHtml(markdown), html);
    assert.equal(readHtml(html), visible(html));
  },
);

test("a table is set in letters of one width", () => {
  const html = toHtml("| a | b |\n|---|---|\n| 1 | 22 |");
  assert.match(html, /^<pre>[\s\S]*1[\s\S]*22[\s\S]*<\/pre>$/);
});

const pieces = fc.constantFrom(
  "**",
  "*",
  "`",
  "```\n",
  "> ",
  "- ",
  "\n\n",
  "[x](https://example.org/)",
  "<b>",
  "&amp;",
  "👋",
  "| a | b |\n|--|--|\n",
);
const markdowns = fc
  .array(fc.oneof(pieces, fc.string({ maxLength: 30 }), fc.constant("words and words ".repeat(60))), { maxLength: 60 })
  .map((all) => all.join(""));

test("whatever is written, Telegram reads it, as large as we say", () => {
  fc.assert(
    fc.property(markdowns, (markdown) => {
      const html = toHtml(markdown);
      assert.equal(readHtml(html).length, sizeOf(markdown));
    }),
    { numRuns: 300 },
  );
});

test("no part is too large, unless the whole becomes a file", () => {
  fc.assert(
    fc.property(markdowns, (markdown) => {
      const all = parts(markdown);
      assert.ok(all.length === 1 || all.every((part) => readHtml(toHtml(part)).length <= textMax));
    }),
    { numRuns: 60 },
  );
  assert.equal(parts("word ".repeat(5_000)).length > 1, true);
  for (const words of [8_000, 50_000]) assert.deepEqual(parts("word ".repeat(words)), ["word ".repeat(words)]);
});

test("the beginning fits its room", () => {
  assert.equal(beginning("short", 100), "short");
  assert.ok(sizeOf(beginning("**word** ".repeat(5_000), 1_000)) <= 1_000);
  assert.ok(sizeOf(beginning("```\n".concat("x\n".repeat(5_000)), 1_000)) <= 1_000);
});
