import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readPage } from "./page.ts";

const base = new URL("https://example.org/a/b");
const read = (html: string): string => readPage(html, base).text;

describe("a page as text", () => {
  const cases: readonly (readonly [name: string, html: string, text: string])[] = [
    ["words", "<p>Hello <b>you</b>,\n  all.</p><p>Bye</p>", "Hello you, all.\n\nBye"],
    ["headings", "<h1>One</h1>text<h3 class='x'>Three</h3>", "# One\n\ntext\n\n### Three"],
    ["lists", "<ul><li>a</li><li>b <i>c</i></li></ul>after", "- a\n- b c\n\nafter"],
    ["lines", "a<br>b<br/>c<hr>d", "a\nb\nc\n\n---\n\nd"],
    ["links", '<a href="/x?a=1&amp;b=2">go</a>', "[go](https://example.org/x?a=1&b=2)"],
    ["links without quotes", "<a href=c>go</a>", "[go](https://example.org/a/c)"],
    ["a link around a heading", '<a href="c"><h2>News</h2></a>', "[News](https://example.org/a/c)"],
    [
      "links that lead nowhere",
      '<a href="javascript:alert(1)">x</a> <a href="#top">y</a> <a>z</a> <a href="http://[">w</a>',
      "x y z w",
    ],
    ["a link without words", 'a<a href="/x"> </a>b', "a b"],
    ["a link that is its own words", '<a href="https://x.org/">https://x.org/</a>', "https://x.org/"],
    ["a link that was never closed", '<a href="/x">go', "[go](https://example.org/x)"],
    ["images", '<img src=x alt="A &quot;cat&quot;"><img src=y>', '[image: A "cat"]'],
    ["tables", "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2"],
    ["code", "<pre>a\n  b\n    c</pre>x  y", "a\n  b\n    c\n\nx y"],
    [
      "signs",
      "&lt;b&gt; &amp;amp; &#65;&#x42; &nbsp;x &unknown; &euro;&hellip; a&b &#0;&#xD800;&#99999999",
      "<b> &amp; AB x &unknown; €… a&b ���",
    ],
    ["comments", "a<!-- <p>no --> b<!doctype x>c<?php no ?>d", "a bcd"],
    ["a comment without content", "a<!---->b", "ab"],
    [
      "scripts",
      "a<script>if (a < b) '<p>'; </script>b<style>p{}</style>c<noscript>n</noscript>d<SCRIPT>x</SCRIPT >e",
      "abcde",
    ],
    ["a script that was never closed", "a<script>b", "a"],
    ["drawings", "a<svg><g><text>no</text></g></svg>b<template><p>no</p></template>c", "abc"],
    ["drawings inside of drawings", "a<svg><svg></svg>no</svg>b", "ab"],
    ["a head", "<html><head><title>T</title><meta charset=x><link rel=y>no</head><body>yes</body></html>", "yes"],
    ["a head that was never closed", "<head><meta charset=x><title>T</title><body>yes", "yes"],
    ["forms", "<form><label>Name</label> <textarea>a <b></textarea></form>", "Name a <b>"],
    ["a tag that was never closed", 'a<p class="x', "a"],
    ["signs in values", "<p title=\"a > b\">c</p><p title='d > e'>f</p>", "c\n\nf"],
    ["a lonely quote", "<p it's>c</p>d", "c\n\nd"],
    ["what is no tag", "1 < 2 and 3 > 2 <3", "1 < 2 and 3 > 2 <3"],
    ["closing what was never open", "</div></svg></a>a</pre>b", "a\n\nb"],
    ["nothing", "", ""],
  ];
  for (const [name, html, text] of cases) test(name, () => assert.equal(read(html), text));

  const titles: readonly (readonly [html: string, title: string])[] = [
    ["<title> A\n&amp; B </title>", "A & B"],
    ["<head><title>A</title></head><svg><title>no</title></svg>", "A"],
    ["<p>x", ""],
  ];
  for (const [html, title] of titles) test(`title: ${html}`, () => assert.equal(readPage(html, base).title, title));

  for (const piece of [
    "<",
    "<a ",
    '<a href="',
    "<a href=x>",
    "<!--",
    "<p>",
    "<script>",
    "&",
    "<svg>",
    "<a b='",
    "</",
    "<a href=x>y</a>",
  ]) {
    test(`many of ${piece} are done with soon`, { timeout: 60_000 }, () => {
      const began = performance.now();
      readPage(piece.repeat(Math.ceil(2_000_000 / piece.length)), base);
      assert.ok(performance.now() - began < 20_000);
    });
  }
});
