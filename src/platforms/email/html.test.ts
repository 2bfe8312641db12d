import assert from "node:assert/strict";
import { test } from "node:test";
import { htmlToText } from "./html.ts";
import { type Sheet, addRules, rulesMax } from "./visible.ts";

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
    '<font color="#FFFFFF">X</font>',
    '<font color=" White ">X</font>',
    '<td bgcolor="#000000"><font color="BLACK">X</font></td>',
    `<p style="${"a:b;".repeat(200)}display:none">X</p>`,
    `<style>${".z{a:b}".repeat(2_000)}.z{display:none}</style><p class=z>X</p>`,
    `<style>${".y{color:red}".repeat(200)}</style><style>.y{display:none}</style><p class=y>X</p>`,
    "<style>.w{display:none !important} .w{display:block}</style><p class=w>X</p>",
    "<style>.v{/* } */display:none}</style><p class=v>X</p>",
    '<div style="height:.0em;overflow:hidden">X</div>',
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
    '<td bgcolor="#0000AA"><font color="#ffffff">X</font></td>',
    '<td bgcolor=" BLACK "><font color="WHITE">X</font></td>',
    '<p style="color:constructor;background:__proto__ toString">X</p>',
    '<font color="valueOf">X</font>',
    `<div style="background:url(https://e.org/${"a".repeat(300)}) #fff"><b style="color:#fff">X</b></div>`,
    '<div style="background:rgb(0, 0, 0) none"><b style="color:#fff">X</b></div>',
    '<div style="height:10px;overflow:hidden">X</div>',
    "<noscript>X</noscript>",
    "<details><summary>X</summary></details>",
  ];
  for (const html of shown) assert.match(htmlToText(`<p>a</p>${html}<p>b</p>`), /^a\n+X\n+b$/, html);
});

test("a head without its closing tag hides nothing of the body", () => {
  const pages: readonly string[] = [
    "<html><head><title>x</title><p>Hello",
    "<head><meta charset=utf-8><style>p{color:red}</style>Hello",
    "<head><title>x</title><body>Hello",
    '<head style="display:none"><script>x</script><div>Hello</div>',
    "<style>head{display:none}</style><head><title>x</title><p>Hello</p>",
    "<html><head>\n<title>x</title>\n</head>\n<body>\n<p>Hello</p></body></html>",
  ];
  for (const html of pages) assert.equal(htmlToText(html), "Hello", html);
});

test("a page that cannot be read as HTML is read without its tags", () => {
  const failing = (): string => {
    throw new TypeError("unexpected");
  };
  const html = "<style>p{a:b}</style><p hidden>Hello</p><SCRIPT>x < 1</SCRIPT><b>Ann</b><style>never closed";
  assert.equal(htmlToText(html, failing).replaceAll(/\s+/g, " "), "Hello Ann");
  for (const piece of ["<", ">", "<a", "<style>", "</style>", "<script", " "])
    htmlToText(piece.repeat(1_000_000 / piece.length), failing);
});

test("the rules of a mail have a limit in all, and so have the declarations of each", () => {
  const sheet: Sheet = new Map();
  for (let i = 0; i < 3 * rulesMax; i++) addRules(sheet, `.a${i},.b${i},.c${i}{color:red}`);
  assert.equal(sheet.size, rulesMax);
  const one: Sheet = new Map();
  for (let i = 0; i < 100; i++) addRules(one, `${".a,".repeat(50)}.a{b${i}:c;color:red;color:#00${i}!important}`);
  assert.deepEqual(
    [...(one.get(".a") ?? [])],
    [
      ["color", "red"],
      ["color!", "#0099"],
    ],
  );
});

const longest = 1_000_000;

test("hostile styles of a whole mail are gone through once", () => {
  const filled = (piece: (n: number) => string): string => {
    const pieces: string[] = [];
    for (let n = 0, size = 0; size < longest; n++) {
      pieces.push(piece(n));
      size += piece(n).length;
    }
    return pieces.join("");
  };
  const all = "color:a;background:b c d e f g h i;display:c;visibility:d;opacity:e;overflow:f;font-size:g;height:h";
  const classes = [..."abcdefghijklmnopqrst"];
  const pages: readonly string[] = [
    filled((n) => `<style>.a${n}{}</style>`),
    filled((n) => `<style>.a${n}{color:red}</style>`),
    filled(() => `<style>${`${".a,".repeat(50)}.a{color:c}`.repeat(600)}</style>`),
    filled(() => `<style>${`${".a,".repeat(50)}.a{b:c}`.repeat(600)}</style>`),
    filled(() => `<style>${"/*".repeat(49_000)}{</style>`),
    filled(() => `<style>${"@media{}".repeat(12_000)}</style>`),
    filled(() => `<style>${"@a;".repeat(33_000)}{}</style>`),
    ...[" ", "0", "(", "a ", "a(", "!", "!important", ";", "color:red;"].flatMap((sign) => {
      const signs = sign.repeat(longest / sign.length);
      const values = ["a:x", "height:", "background:x", "color:x", "font-size:", "color:rgb("];
      return [
        ...values.map((start) => `<p style="${start}${signs}y">`),
        `<font color="${signs}y">x</font><td bgcolor="x${signs}y">x`,
        `<p class="${signs}y" id="${signs}">`,
      ];
    }),
    `<style>.a{background:x${" ".repeat(190)}y;height:${"0".repeat(190)}!}</style>${filled(() => "<b class=a></b>")}`,
    `<style>${classes.map((name) => `.${name},b.${name}{${all}}`).join("")}</style>${filled(() => `<b class="${classes.join(" ")}"></b>`)}`,
    `<style>br{${all}}</style>${filled(() => "<br>")}`,
    `${"<b>".repeat(900)}${filled(() => "</x>")}`,
  ];
  for (const html of pages) {
    const start = performance.now();
    htmlToText(html);
    // Linear work takes a second at most, also on a slow machine; quadratic work takes minutes.
    assert.ok(performance.now() - start < 30_000, html.slice(0, 80));
  }
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
