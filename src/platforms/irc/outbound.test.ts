// From items to lines, and what becomes of a send.

import assert from "node:assert/strict";
import { test } from "node:test";
import { anItem } from "../../testing/samples.ts";
import { table } from "../../testing/table.ts";
import { plainAgain, resultOf } from "./faults.ts";
import { partMax, partsOf, sizeOf } from "./markup.ts";
import { linesOf, piecesLeft, receiptOf, takenLines, targetOf } from "./outbound.ts";

const to = (chat: string) => ({ platform: "irc", account: "a", chat });
const file = { name: "a.pdf", mime: "application/pdf", blob: "b", bytes: 12 };

table(
  "lines",
  [
    { name: "words", item: anItem("i", { to: to("bob"), text: "a **b**\n\nc" }), gives: ["a \x02b\x02", "c"] },
    {
      name: "in a channel whoever asked is called",
      item: anItem("i", { to: to("#x"), text: "yes", hints: { nick: "bob" } }),
      gives: ["bob: yes"],
    },
    {
      name: "but only once",
      item: anItem("i", { to: to("#x"), text: "more", part: 1, hints: { nick: "bob" } }),
      gives: ["more"],
    },
    {
      name: "choices are numbered",
      item: anItem("i", { to: to("bob"), text: "Which?", question: { id: "q", choices: ["Tea", "Water"] } }),
      gives: ["Which?", "1. Tea", "2. Water"],
    },
    {
      name: "files are told",
      item: anItem("i", { to: to("bob"), text: "here", files: [file] }),
      gives: ["here", "(The file a.pdf, 12 bytes, cannot be sent on IRC.)"],
    },
  ],
  ({ item, gives }) => assert.deepEqual(linesOf(item), gives),
);

table(
  "whom it is said to",
  [
    { name: "a person as they write themselves", chat: "ann{x}", nick: "Ann[x]", gives: "Ann[x]" },
    { name: "a person of whom only the place is known", chat: "ann{x}", nick: undefined, gives: "ann{x}" },
    { name: "not whoever asked for it somewhere else", chat: "bob", nick: "ann", gives: "bob" },
    { name: "a channel", chat: "#talk", nick: "ann", gives: "#talk" },
  ],
  ({ chat, nick, gives }) => {
    const item = anItem("i", { to: to(chat), ...(nick === undefined ? {} : { hints: { nick } }) });
    assert.equal(targetOf(item), gives);
  },
);

table(
  "what is left to say",
  [
    { name: "nothing was said", receipts: [], gives: ["0-4", "5-9", "10-11"] },
    { name: "the first piece was", receipts: ["0-4/12"], gives: ["5-9", "10-11"] },
    { name: "single lines were", receipts: ["0-0/12", "1-1/12", "3-3/12"], gives: ["2-2", "4-8", "9-11"] },
    { name: "receipts of other lines", receipts: ["0-4/13", "abc"], gives: ["0-4", "5-9", "10-11"] },
    { name: "all was", receipts: ["0-9/12", "10-11/12"], gives: [] },
  ],
  ({ receipts, gives }) => {
    const left = piecesLeft(12, takenLines(receipts, 12), 5);
    assert.deepEqual(
      left.map((range) => receiptOf(range, 12)),
      gives.map((range) => `${range}/12`),
    );
  },
);

table(
  "what becomes of a send",
  [
    { name: "nothing was refused", said: 3, codes: [], gives: "accepted" },
    { name: "nobody is there now", said: 1, codes: ["401"], gives: "retry" },
    { name: "not let to speak", said: 2, codes: ["404", "404"], gives: "retry" },
    { name: "no text", said: 1, codes: ["412"], gives: "refused" },
    { name: "one of several: what was said is not said again", said: 3, codes: ["404"], gives: "accepted" },
    { name: "all, but not all of it will pass", said: 2, codes: ["404", "412"], gives: "refused" },
  ],
  ({ said, codes, gives }) => {
    const refused = codes.map((code) => ({ code, why: "no" }));
    assert.equal(resultOf(refused, said, "r1", "bob").type, gives);
  },
);

table(
  "what is said again without marks",
  [
    { name: "nothing", lines: ["a", "\x02b\x02"], codes: [], gives: [] },
    { name: "the line with marks", lines: ["a", "x \x02b\x02\x1dc\x1d", "d"], codes: ["404"], gives: ["x bc"] },
    { name: "by its own numeric", lines: ["\x1eb\x1e"], codes: ["408"], gives: ["b"] },
    { name: "not when others were refused", lines: ["a", "\x02b\x02"], codes: ["404", "404"], gives: [] },
    { name: "not when there are no marks", lines: ["a"], codes: ["404"], gives: [] },
    { name: "not when nobody is there", lines: ["\x02b\x02"], codes: ["401"], gives: [] },
  ],
  ({ lines, codes, gives }) => {
    const refused = codes.map((code) => ({ code, why: "no" }));
    assert.deepEqual(plainAgain(refused, lines), gives);
  },
);

test("a part is some lines, not a flood", () => {
  const parts = partsOf("a short line\n".repeat(200));
  for (const part of parts) assert.ok(sizeOf(part) <= partMax && part.split("\n").length <= 17);
});
