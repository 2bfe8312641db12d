import assert from "node:assert/strict";
import { test } from "node:test";
import { anItem } from "../../testing/samples.ts";
import { isBook, partsOf, toHtml } from "./markup.ts";
import { fileContent, placeholder, textContent } from "./outbound.ts";

const to = { platform: "matrix", account: "@b:x", chat: "!r:x" };
const item = (text: string, more = {}) => anItem("i1", { to, text, ...more });

test("words are sent as they are and as HTML, and call nobody", () => {
  assert.deepEqual(textContent(item("**yes** & <no>")), {
    msgtype: "m.text",
    body: "**yes** & <no>",
    format: "org.matrix.custom.html",
    formatted_body: "<p><strong>yes</strong> &amp; &lt;no&gt;</p>",
    "m.mentions": {},
  });
});

test("where it belongs", () => {
  const rows: readonly (readonly [string, object, unknown])[] = [
    ["a room", {}, undefined],
    ["a room, answering", { hints: { reply_to: "$q" } }, undefined],
    [
      "a thread",
      { to: { ...to, thread: "$root" } },
      { rel_type: "m.thread", event_id: "$root", is_falling_back: true, "m.in_reply_to": { event_id: "$root" } },
    ],
    [
      "a thread, answering",
      { to: { ...to, thread: "$root" }, hints: { reply_to: "$q" } },
      { rel_type: "m.thread", event_id: "$root", is_falling_back: true, "m.in_reply_to": { event_id: "$q" } },
    ],
    ["finishing a draft", { edits: "$draft" }, { rel_type: "m.replace", event_id: "$draft" }],
  ];
  for (const [what, more, relates] of rows)
    assert.deepEqual(textContent(item("x", more))["m.relates_to"], relates, what);
  assert.equal(placeholder({ ...to, thread: "$root" }, {})["body"], "…");
});

test("an answer that finishes its draft holds the whole words in their new form", () => {
  const content = textContent(item("done", { edits: "$draft" }));
  assert.equal(content["body"], "* done");
  assert.equal((content["m.new_content"] as { body: string }).body, "done");
});

test("questions list their choices, approvals want words", () => {
  const asked = textContent(item("Tea?", { question: { id: "q", choices: ["Yes", "No"] } }));
  assert.equal(asked["body"], "Tea?\n\n1. Yes\n2. No");
  const leave = textContent(item("May I?", { question: { id: "q", choices: ["approve", "deny"], kind: "approval" } }));
  assert.equal(leave["body"], "May I?\n\nAnswer with **approve** or **deny**.");
});

test("files by their kind", () => {
  const rows = [
    ["image/png", "m.image"],
    ["audio/ogg", "m.audio"],
    ["video/mp4", "m.video"],
    ["text/plain", "m.file"],
  ];
  for (const [mime = "", msgtype] of rows) {
    const content = fileContent({ mxc: "mxc://x/y", name: "f", mime, bytes: 3 }, to, undefined);
    assert.deepEqual([content["msgtype"], content["url"], content["filename"]], [msgtype, "mxc://x/y", "f"]);
  }
});

test("every part fits an event in both forms, and a book is one part", () => {
  const long = `${'**bold** <&> "quoted" 👋 '.repeat(200)}\n\n`.repeat(5);
  for (const part of partsOf(long)) {
    const size = Buffer.byteLength(JSON.stringify(textContent(item(part))));
    assert.ok(size < 60_000, String(size));
  }
  const book = "word ".repeat(100_000);
  assert.ok(isBook(book));
  assert.deepEqual(partsOf(book), [book]);
});

test("markdown becomes what clients draw", () => {
  assert.equal(
    toHtml("# A\n\n- one\n- [x] two\n\n> q"),
    "<h1>A</h1>\n\n<ul><li>one</li><li>☑ two</li></ul>\n\n<blockquote><p>q</p></blockquote>",
  );
  assert.equal(toHtml("```ts\na < b\n```"), '<pre><code class="language-ts">a &lt; b\n</code></pre>');
  assert.equal(toHtml("[x](https://e.org/?a=1&b=2)"), '<p><a href="https://e.org/?a=1&amp;b=2">x</a></p>');
});
