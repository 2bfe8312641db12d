// Which addresses count as named by the user.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { EarlierTalk } from "../../ports/tool.ts";
import { isNamed, isSameSite } from "./named.ts";

const talk: EarlierTalk = {
  own: ["Please read https://a.example/page, and (b.example/x?y=1). Also www.c.example!"],
  calls: [
    {
      input: { url: "https://a.example/page" },
      output: "# A\n[next](https://d.example/next) see https://e.example/x. [rel](https://a.example/rel)",
      isApproved: false,
    },
    { input: { url: "https://d.example/next" }, output: "[deep](https://evil.example/deep)", isApproved: false },
    { input: { url: "https://f.example/" }, output: "<https://g.example/ok>", isApproved: true },
    { input: { url: "https://a.example/page" }, output: { not: "text https://h.example" }, isApproved: true },
    { input: null, output: "https://i.example/", isApproved: false },
  ],
};

const cases: readonly (readonly [address: string, isNamed: boolean])[] = [
  ["https://a.example/page", true],
  ["https://a.example/page#part", true],
  ["https://A.example/page", true],
  ["https://a.example/page?leak=1", false],
  ["https://a.example/pag", false],
  ["https://a.example/page/more", false],
  ["https://a.example/", false],
  ["http://a.example/page", false],
  ["https://b.example/x?y=1", true],
  ["http://b.example/x?y=1", true],
  ["https://b.example/x", false],
  ["https://www.c.example/", true],
  ["https://c.example/", false],
  ["https://d.example/next", true],
  ["https://e.example/x", true],
  ["https://a.example/rel", true],
  ["https://evil.example/deep", false],
  ["https://g.example/ok", true],
  ["https://h.example/", false],
  ["https://i.example/", false],
  ["ftp://a.example/page", false],
  ["nothing", false],
];

test("an address is named in the user's words, or in a page that they wished for", () => {
  for (const [address, expected] of cases) assert.equal(isNamed(address, talk), expected, address);
  assert.equal(isNamed("https://a.example/", { own: [], calls: [] }), false);
});

test("a redirect may add or leave out www", () => {
  assert.equal(isSameSite("a.example", "www.a.example"), true);
  assert.equal(isSameSite("a.example:80", "a.example:81"), false);
  assert.equal(isSameSite("a.example", "evil.example"), false);
});
