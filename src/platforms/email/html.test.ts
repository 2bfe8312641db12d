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
    ['<a href="https://e.org">never closed', "never closed (https://e.org)"],
    ["<script>alert(1)</script>ok", "ok"],
    ["a<STYLE>p { x: y }</Style >b", "ab"],
    ["a<style>never closed", "a"],
    ["a<!-- <p>b</p> -->c<!-- d", "ac"],
    ["&#65;&#x42;&unknown;&lt;b&gt;", "AB&unknown;<b>"],
    ["&eacute;&euro;&hellip;&rarr;&#8211;&copy&CounterClockwiseContourIntegral;", "é€…→–©∳"],
    ["a&nbsp;b&#99999999;", "a b\ufffd"],
    ["new<blockquote>old<br>older</blockquote>", "new\n\n> old\n> older"],
    ["<blockquote>1<blockquote>2</blockquote>3</blockquote>4", "> 123\n\n4"],
    ["a <i>b</i> c < d & e", "a b c < d & e"],
    ["a <b", "a"],
    ["<a href='https://e.org/x'>this</a>", "this (https://e.org/x)"],
    ["a  \t\n\n\n\n b", "a\n\n b"],
    ["<pre>x</pre><article>y</article>", "x\ny"],
    ["", ""],
  ];
  for (const [html, text] of rows) assert.equal(htmlToText(html), text, html);
});

test("text that its reader does not see is left out", () => {
  const hidden: readonly string[] = [
    '<div style="display:none">X</div>',
    '<div style="DISPLAY : None !important; color: red">X</div>',
    '<span style="color:red;display:none"><b>X</b></span>',
    '<p style="visibility: hidden">X</p>',
    '<tr style="visibility:collapse"><td>X</td></tr>',
    '<span style="font-size:0">X</span>',
    '<span style="font-size:0px"><b style="font-size:2em">X</b></span>',
    '<span style="font-size:0.1pt">X</span>',
    '<span style="opacity:0">X</span>',
    '<div style="max-height:0;overflow:hidden">X</div>',
    '<div style="height:0px; overflow: hidden">X</div>',
    '<span style="mso-hide:all">X</span>',
    '<span style="color:#fff">X</span>',
    '<span style="color: white; background: #FFFFFF">X</span>',
    '<font color="#fefefe">X</font>',
    '<span style="color:rgb(255, 255, 255)">X</span>',
    '<span style="color:transparent">X</span>',
    '<span style="color:rgba(0,0,0,0)">X</span>',
    '<td bgcolor="black"><font color="#000000">X</font></td>',
    '<div style="background-color:#0a0a0a"><p style="color:#000">X</p></div>',
    "<div hidden>X</div>",
    '<div hidden="until-found"><p>X</p></div>',
    "<template><p>X</p></template>",
    "<!-- X -->",
    "<!--[if mso]><p>X</p><![endif]-->",
    "<head><title>X</title></head>",
    "<style>.pre { display: none }</style><p class='a pre'>X</p>",
    "<head><style>/* a */ .a, #b{visibility:hidden}</style></head><i id=b>X</i>",
    "<style>p.z{display:none!important}</style><p class=z style='display:block'>X</p>",
    '<a href="https://e.org" style="display:none">X</a>',
    '<ul style="display:none"><li>X</li></ul>',
  ];
  for (const html of hidden) assert.equal(htmlToText(`<p>a</p>${html}<p>b</p>`), "a\n\nb", html);
});

test("text that its reader sees stays, though it looks like hidden text", () => {
  const shown: readonly string[] = [
    '<td style="font-size:0px"><div style="font-size:13px">X</div></td>',
    '<td style="font-size:0"><span style="font-size:medium">X</span></td>',
    '<div style="visibility:hidden"><b style="visibility:visible">X</b></div>',
    '<td bgcolor="#000000"><font color="white">X</font></td>',
    '<div style="background:navy"><span style="color:#fff">X</span></div>',
    '<div style="background:#fff url(a.png)"><span style="color:#fff">X</span></div>',
    '<div style="background-color:transparent"><b style="color:black">X</b></div>',
    '<div style="overflow:hidden;height:20px">X</div>',
    '<div style="display:none-such-thing;display:block">X</div>',
    '<span style="opacity:0.5">X</span>',
    "<style>@media (max-width:600px){ .wide { display:none } }</style><p class=wide>X</p>",
    "<style>.a .b { display:none } .c { display:none }</style><p class=b>X</p>",
    "<style>.q{display:none}</style><p class=q style='display:block'>X</p>",
    "<noscript>X</noscript>",
    "<details><summary>X</summary></details>",
  ];
  for (const html of shown) assert.match(htmlToText(`<p>a</p>${html}<p>b</p>`), /^a\n+X\n+b$/, html);
});

test("hostile pages are gone through once", () => {
  const signs = [" ", "\t", "\n", " \n", "<", ">", "&", "&#", "&a", '"', "\\", "<!--", "</", "<b "];
  const links = ['<a href="', '<a href="https:', '<a href="https:x">', '<a href="https:x">y</a>', "<a ", "</a>"];
  const parts = ['href="https:a" ', "<a href= ", "<a href", "<li>", "<style>", "</style "];
  const quotes = ["<blockquote>", "</blockquote>", "<blockquote>x</blockquote>", "<b>", "</b>", "<p style='a:b;"];
  const sheets = ["{", "}", ".a{b:c}", "@media{", "/*", "a,"];
  for (const piece of [...signs, ...links, ...parts, ...quotes, ...sheets]) {
    // Quadratic work on this much would take minutes each, and the run would not end.
    const html = piece.repeat(400_000 / piece.length);
    for (const head of ["", "<a ", "a", "<style>", "<b>".repeat(100_000)]) htmlToText(`${head}${html}b`);
  }
});
