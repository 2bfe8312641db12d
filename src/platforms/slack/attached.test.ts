import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Attachment, saidIn } from "./attached.ts";
import type { Block } from "./outbound.ts";

const said = (text: string, more: { blocks?: readonly Block[]; attachments?: readonly Attachment[] }) =>
  saidIn({ ts: "1.0", text, ...more });

describe("what hangs on a message", () => {
  const inBlocks = { type: "rich_text", elements: [{ type: "rich_text_section", elements: [text("in blocks")] }] };
  const cases: readonly (readonly [what: string, given: Attachment, attached: readonly string[]])[] = [
    ["forwarded", { is_share: true, author_name: "bob", text: "hi" }, ["[forwarded from bob]\nhi"]],
    ["forwarded by nobody", { is_share: true, text: "hi" }, ["[forwarded]\nhi"]],
    ["a name of many lines", { is_share: true, author_name: "a]\n\nb", text: "hi" }, ["[forwarded from a b]\nhi"]],
    [
      "words in the blocks of what is forwarded",
      { is_share: true, text: "", message_blocks: [{ message: { blocks: [inBlocks] } }], fallback: "no" },
      ["[forwarded]\nin blocks"],
    ],
    [
      "nothing but a summary",
      { is_share: true, text: "", fallback: "[May 1st] bob: x" },
      ["[forwarded]\n[May 1st] bob: x"],
    ],
    [
      "files that are forwarded",
      { is_share: true, fallback: "[May 1st] bob: ", files: [{ id: "F1" }] },
      ["[forwarded]"],
    ],
    ["a link to a message", { is_msg_unfurl: true, text: "hi" }, []],
    ["a link", { from_url: "https://example.com", text: "hi" }, []],
    ["a link that an app unfolds", { is_app_unfurl: true, app_unfurl_url: "https://example.com", text: "hi" }, []],
    ["of an app", { author_name: "ci", title: "red", text: "again", fallback: "no" }, ["ci\nred\nagain"]],
    ["of an app, in blocks", { blocks: [inBlocks], fallback: "[no preview available]" }, ["in blocks"]],
    ["of an app, with a summary alone", { fallback: "red again" }, ["red again"]],
    ["of an app, with nothing that can be read", { fallback: "[no preview available]" }, []],
  ];
  for (const [what, given, attached] of cases)
    test(what, () =>
      assert.deepEqual(said("", { attachments: [given] }), { text: "", attached, files: given.files ?? [] }),
    );

  test("whatever an app has written instead, it is no reason to fail", () => {
    const odd = { text: 1, author_name: 2, pretext: {}, fallback: [], fields: [{ title: 3 }], blocks: [null, 4, {}] };
    assert.deepEqual(said("", { attachments: [odd as unknown as Attachment] }).attached, []);
  });
});

function text(words: string): Block {
  return { type: "text", text: words };
}

describe("blocks", () => {
  const rich = (type: string, ...elements: readonly Block[]): Block => ({
    type: "rich_text",
    elements: [{ type, elements }],
  });
  const item = (words: string): Block => ({ type: "rich_text_section", elements: [text(words)] });
  const cases: readonly (readonly [what: string, given: Block, words: string])[] = [
    ["typed marks stay what was typed", rich("rich_text_section", text("<@U1> & ")), "&lt;@U1&gt; &amp; "],
    [
      "people, places and links",
      rich(
        "rich_text_section",
        { type: "user", user_id: "U1" },
        { type: "channel", channel_id: "C1" },
        { type: "broadcast", range: "here" },
        { type: "emoji", name: "wave" },
        { type: "link", url: "https://example.com/a|b", text: "a" },
        { type: "link", url: "https://example.com" },
        { type: "date", timestamp: 1, fallback: "in May" },
      ),
      "<@U1><#C1><!here>:wave:<https://example.com/a%7Cb|a><https://example.com>in May",
    ],
    ["a list", rich("rich_text_list", item("one"), item("two")), "- one\n- two"],
    ["code", rich("rich_text_preformatted", text("a\n"), text("b")), "a\nb"],
    ["Markdown", { type: "markdown", text: "**a**" }, "**a**"],
    ["a picture", { type: "image", image_url: "https://example.com", alt_text: "a cat" }, "a cat"],
    [
      "a table",
      { type: "table", rows: [[{ type: "raw_text", text: "a" }, rich("rich_text_section", text("b"))]] },
      "a | b",
    ],
    ["one of tomorrow", { type: "novelty", thing: 1 }, ""],
  ];
  for (const [what, given, words] of cases) test(what, () => assert.equal(said("", { blocks: [given] }).text, words));

  test("say what the text says, and are left alone where there is one", () =>
    assert.equal(said("the text", { blocks: [rich("rich_text_section", text("the blocks"))] }).text, "the text"));

  test("of any depth end", () => {
    let deep: Block = text("down here");
    for (let n = 0; n < 50_000; n++) deep = { type: "rich_text", elements: [deep] };
    assert.equal(said("", { blocks: [deep] }).text, "");
  });
});
