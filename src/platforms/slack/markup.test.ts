import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  beginningOf,
  isTooLong,
  mentioned,
  partsOf,
  partsMax,
  sectionMax,
  sectionsOf,
  textMax,
  toMrkdwn,
  toPlain,
} from "./markup.ts";

describe("markdown as mrkdwn", () => {
  const cases: readonly (readonly [markdown: string, mrkdwn: string])[] = [
    ["plain", "plain"],
    ["a < b & c > d", "a &lt; b &amp; c &gt; d"],
    ["**bold** and *it* and ~~gone~~", "*bold* and _it_ and ~gone~"],
    ["`x < y`", "`x &lt; y`"],
    ["```ts\nlet a = 1 && 2;\n```", "```\nlet a = 1 &amp;&amp; 2;\n```"],
    ["[words](https://a.org/b?c=1&d=2)", "<https://a.org/b?c=1&amp;d=2|words>"],
    ["<https://a.org>", "<https://a.org>"],
    ["# A **bold** heading", "*A bold heading*"],
    ["- one\n- two", "• one\n• two"],
    ["1. one\n2. two", "1. one\n2. two"],
    ["> said", ">said"],
    ["| a | b |\n|---|---|\n| 1 | 2 |", "```\na  b\n─  ─\n1  2\n```"],
    ["<!channel> hello", "&lt;!channel&gt; hello"],
    ["<@U1> hello", "&lt;@U1&gt; hello"],
  ];
  for (const [markdown, expected] of cases) {
    test(JSON.stringify(markdown), () => {
      const written = toMrkdwn(markdown);
      // How tables are drawn is not ours; that they are code is.
      if (markdown.startsWith("|")) assert.match(written, /^```\n[\s\S]*1[\s\S]*2[\s\S]*\n```$/);
      else assert.equal(written, expected);
    });
  }
});

describe("what was typed", () => {
  const names = new Map([["U2", "bob"]]);
  const cases: readonly (readonly [mrkdwn: string, typed: string])[] = [
    ["<@U0BOT> hello", "hello"],
    ["<@U0BOT>: hello", "hello"],
    ["hello <@U0BOT>", "hello"],
    ["hey <@U0BOT>, hello", "hey, hello"],
    ["<@U0BOT|everturn> hello", "hello"],
    ["<@U2> and <@U3> and <@U4|dan>", "@bob and @U3 and @dan"],
    ["in <#C1|general> or <#C2> or <#C3|>", "in #general or #C2 or #C3"],
    ["<!here> <!subteam^S1|@team> <!date^1^{date}|today>", "@here @team today"],
    ["<https://a.org/?b=1&amp;c=2>", "https://a.org/?b=1&c=2"],
    ["<http://a.org|a.org>", "a.org"],
    ["<https://a.org/|https://a.org>", "https://a.org"],
    ["<https://a.org/b|this>", "this (https://a.org/b)"],
    ["<mailto:a@b.org|a@b.org>", "a@b.org"],
    ["&lt;@U0BOT&gt; is &amp;lt;", "<@U0BOT> is &lt;"],
    ["  two\n lines ", "  two\n lines "],
  ];
  for (const [mrkdwn, typed] of cases) {
    test(JSON.stringify(mrkdwn), () => assert.equal(toPlain(mrkdwn, "U0BOT", names), typed));
  }

  test("people that are mentioned, each once", () => {
    assert.deepEqual(mentioned("<@U1> <@W2> <@U1> &lt;@U3&gt; <#C1>"), ["U1", "W2"]);
  });
});

describe("long texts", () => {
  test("parts fit once they are written", () => {
    const parts = partsOf("a < b & c ".repeat(1_000));
    assert.ok(parts.length > 1 && parts.length <= partsMax);
    for (const part of parts) assert.ok(toMrkdwn(part).length <= textMax);
  });
  test("very many parts are one, which needs a file", () => {
    const text = "word ".repeat(20_000);
    assert.deepEqual(partsOf(text), [text]);
    assert.ok(isTooLong(text));
    assert.ok(!isTooLong("word"));
    assert.ok(toMrkdwn(beginningOf(text)).length <= sectionMax);
  });
  test("sections fit into blocks", () => {
    for (const one of sectionsOf("&".repeat(3_000))) assert.ok(one.length <= sectionMax && one !== "");
  });
});
