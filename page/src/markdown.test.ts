import assert from "node:assert/strict";
import { test } from "node:test";
import { type ComponentChild, h } from "preact";
import { markdown, safeHref } from "./markdown.ts";

/** What would stand on the page, written down: elements as tags, text with its angle brackets replaced. */
function drawn(node: ComponentChild | readonly ComponentChild[]): string {
  if (node === null || node === undefined || typeof node === "boolean") return "";
  if (Array.isArray(node)) return node.map((one: ComponentChild) => drawn(one)).join("");
  if (typeof node !== "object") return String(node).replaceAll("<", "‹").replaceAll(">", "›");
  const { type, props } = node as { type: unknown; props: { [name: string]: unknown } };
  const shown = Object.entries(props)
    .filter(
      ([name, value]) => !["children", "dir", "tabIndex", "role", "aria-label"].includes(name) && value !== undefined,
    )
    .map(([name, value]) => ` ${name}=${String(value)}`);
  return `<${String(type)}${shown.join("")}>${drawn(props["children"] as ComponentChild)}</${String(type)}>`;
}

const draw = (text: string) => drawn(markdown(text, (code, language) => h("pre", { title: language }, code)));
const anchor = "target=_blank rel=noopener noreferrer";

test("markdown becomes elements", () => {
  for (const [text, expected] of [
    ["plain", "<p>plain</p>"],
    ["two\nlines", "<p>two<br></br>lines</p>"],
    ["# One", "<h3 class=h1>One</h3>"],
    ["###### Six", "<h6 class=h6>Six</h6>"],
    ["**b** *i* ~~d~~ `c`", "<p><strong>b</strong> <em>i</em> <del>d</del> <code>c</code></p>"],
    ["```js\n1 < 2\n```", "<pre title=js>1 ‹ 2</pre>"],
    ["```\nunfinished", "<pre title=>unfinished</pre>"],
    ["> quote", "<blockquote><p>quote</p></blockquote>"],
    ["- a\n- b", "<ul><li>a</li><li>b</li></ul>"],
    ["3. a\n4. b", "<ol start=3><li>a</li><li>b</li></ol>"],
    ["- [x] done", "<ul><li class=task><input type=checkbox checked=true disabled=true></input>done</li></ul>"],
    ["---", "<hr></hr>"],
    [
      "|a|b|\n|-|-:|\n|1|2|",
      "<div class=table><table><thead><tr><th>a</th><th class=right>b</th></tr></thead><tbody><tr><td>1</td><td class=right>2</td></tr></tbody></table></div>",
    ],
    ["a &amp; b &#65; &#x42; &nope; \\*", "<p>a & b A B &nope; *</p>"],
    ["[x](https://a.b/c)", `<p><a href=https://a.b/c title=https://a.b/c ${anchor}>x</a></p>`],
    ["<https://a.b/>", `<p><a href=https://a.b/ title=https://a.b/ ${anchor}>https://a.b/</a></p>`],
    ["![cat](https://a.b/c.png)", `<p><a href=https://a.b/c.png title=https://a.b/c.png ${anchor}>Image: cat</a></p>`],
  ] as const) {
    assert.equal(draw(text), expected, text);
  }
});

test("nothing that looks like HTML becomes an element", () => {
  for (const text of [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "text <b onclick=alert(1)>bold</b> text",
    "<!-- comment --> <style>*{display:none}</style>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "- <iframe src=//evil></iframe>",
    "> <svg onload=alert(1)>",
    "|<script>x</script>|\n|-|\n|<img src=x onerror=y>|",
    "`<script>` and **<script>**",
  ]) {
    const html = draw(text);
    assert.doesNotMatch(html, /<(?:script|img|b|style|iframe|svg)\b/i, text);
    assert.match(html, /‹/, text);
  }
});

test("links lead only where they may", () => {
  for (const [href, expected] of [
    ["https://a.b/", "https://a.b/"],
    ["http://a.b", "http://a.b/"],
    ["mailto:a@b.c", "mailto:a@b.c"],
    ["javascript:alert(1)", null],
    ["JaVaScRiPt:alert(1)", null],
    [" javascript:alert(1)", null],
    ["java\nscript:alert(1)", null],
    ["data:text/html,<script>alert(1)</script>", null],
    ["vbscript:x", null],
    ["file:///etc/passwd", null],
    ["blob:https://a.b/1", null],
    ["/api/turns", null],
    ["//evil.example", null],
    ["#/c/other", null],
    ["", null],
  ] as const) {
    assert.equal(safeHref(href), expected, href);
  }
  for (const text of [
    "[x](javascript:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml,<svg onload=alert(1)>)",
    "<javascript:alert(1)>",
  ]) {
    assert.doesNotMatch(draw(text), /<a\b|href/, text);
  }
});

test("texts made to break a reader are shown as they are", () => {
  for (const text of [
    ">".repeat(15_000),
    "> - ".repeat(4_000),
    "- a ".repeat(4_000),
    "[".repeat(15_000),
    "**a*".repeat(4_000),
  ])
    assert.ok(draw(text).length >= text.length / 4, text.slice(0, 8));
});
