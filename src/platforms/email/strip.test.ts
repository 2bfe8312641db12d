import assert from "node:assert/strict";
import { test } from "node:test";
import { htmlToText, stripQuoted } from "./strip.ts";

test("what was said before is taken away, what is said now stays", () => {
  const rows: readonly (readonly [what: string, mail: string, own: string])[] = [
    ["nothing old", "hello\nyou", "hello\nyou"],
    ["quoted below", "yes\n\nOn Mon, 9 Nov 2026, Ann <a@x.org> wrote:\n> shall we?\n> now?\n", "yes"],
    [
      "attribution over two lines",
      "yes\n\nOn Mon, 9 Nov 2026 at 10:00, Ann Example\n<a@x.org> wrote:\n> shall we?",
      "yes",
    ],
    ["German", "ja\r\n\r\nAm 09.11.26 um 10:00 schrieb Ann:\r\n> sollen wir?", "ja"],
    ["French", "oui\n\nLe lun. 9 nov. 2026 à 10:00, Ann a écrit :\n> on y va ?", "oui"],
    ["divider", "yes\n\n-----Original Message-----\nFrom: Ann\nshall we?", "yes"],
    ["Outlook", "yes\n\nFrom: Ann <a@x.org>\nSent: Monday\nTo: B\n\nshall we?", "yes"],
    ["signature", "yes\n-- \nAnn\nBoss", "yes"],
    ["bare quotes at the end", "yes\n> shall we?", "yes"],
    ["answers between quotes", "> one?\nyes\n> two?\nno", "> one?\nyes\n> two?\nno"],
    ["only quotes", "> one?", "> one?"],
    ["a sentence that only looks like it", "On Monday Ann wrote:\nI will come.", "On Monday Ann wrote:\nI will come."],
    ["a list from: to", "from: here\nto the end", "from: here\nto the end"],
    ["empty", "", ""],
  ];
  for (const [what, mail, own] of rows) assert.equal(stripQuoted(mail), own, what);
});

test("words of HTML", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["<p>a</p><p>b &amp; c</p>", "a\n\nb & c"],
    ["a<br>b<br/>c", "a\nb\nc"],
    ["<ul><li>x</li><li>y</li></ul>", "- x\n- y"],
    ['see <a href="https://e.org/x">this</a>', "see this (https://e.org/x)"],
    ["<script>alert(1)</script>ok", "ok"],
    ["&#65;&#x42;&unknown;&#99999999;", "AB&unknown;&#99999999;"],
    ["new<blockquote>old<br>older</blockquote>", "new\n\n> old\n> older"],
  ];
  for (const [html, text] of rows) assert.equal(htmlToText(html), text, html);
});

test("hostile mails are gone through once", () => {
  const hostile = [
    "on ",
    "> ",
    "<",
    "<style>",
    "\n",
    "From: a\n",
    '<a href="https:x">',
    "<blockquote>",
    "&#",
    "On x\nwrote:\n",
  ];
  for (const piece of hostile) {
    // Quadratic work on this much would take minutes, and the run would not end.
    const text = piece.repeat(1_000_000 / piece.length);
    stripQuoted(text);
    htmlToText(text);
  }
});
