import assert from "node:assert/strict";
import { test } from "node:test";
import { htmlToText } from "./html.ts";

test("words of HTML", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["<p>a</p><p>b &amp; c</p>", "a\n\nb & c"],
    ["a<br>b<br/>c<BR />d", "a\nb\nc\nd"],
    ["<ul><li>x</li><li>y</li></ul>", "- x\n- y"],
    ['see <a href="https://e.org/x">this</a>', "see this (https://e.org/x)"],
    ['see <a class="b" href="https://e.org/x" id="c"><b>https://e.org/x</b></a>!', "see https://e.org/x!"],
    ['<a href="mailto:a@b.c">Ann</a> <a name="x">here</a>', "Ann here"],
    ['<a href="https://e.org">never closed', "never closed"],
    ["<script>alert(1)</script>ok", "ok"],
    ["a<STYLE>p { x: y }</Style >b", "ab"],
    ["a<style>never closed", "a"],
    ["a<!-- <p>b</p> -->c<!-- d", "ac"],
    ["&#65;&#x42;&unknown;&#99999999;&lt;b&gt;", "AB&unknown;&#99999999;<b>"],
    ["new<blockquote>old<br>older</blockquote>", "new\n\n> old\n> older"],
    ["<blockquote>1<blockquote>2</blockquote>3</blockquote>4", "> 123\n\n4"],
    ["a <i>b</i> c < d & <e", "a b c < d & <e"],
    ["a  \t\n\n\n\n b", "a\n\n b"],
    ["<pre>x</pre><article>y</article>", "x\ny"],
    ["", ""],
  ];
  for (const [html, text] of rows) assert.equal(htmlToText(html), text, html);
});

test("hostile pages are gone through once", () => {
  const signs = [" ", "\t", "\n", " \n", "<", ">", "&", "&#", "&a", '"', "\\", "<!--", "</", "<b "];
  const links = ['<a href="', '<a href="https:', '<a href="https:x">', '<a href="https:x">y</a>', "<a ", "</a>"];
  const parts = ['href="https:a" ', "<a href= ", "<a href", "<li>", "<style>", "</style "];
  const quotes = ["<blockquote>", "</blockquote>", "<blockquote>x</blockquote>"];
  for (const piece of [...signs, ...links, ...parts, ...quotes]) {
    // Quadratic work on this much would take minutes each, and the run would not end.
    const html = piece.repeat(400_000 / piece.length);
    for (const head of ["", "<a ", "a", "<style>"]) htmlToText(`${head}${html}b`);
  }
});
