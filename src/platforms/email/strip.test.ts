import assert from "node:assert/strict";
import { test } from "node:test";
import { stripQuoted } from "./strip.ts";

test("what was said before is taken away, what is said now stays", () => {
  const rows: readonly (readonly [what: string, mail: string, own: string])[] = [
    ["nothing old", "hello\nyou", "hello\nyou"],
    ["quoted below", "yes\n\nOn Mon, 9 Nov 2026, Ann <a@x.org> wrote:\n> shall we?\n> now?\n", "yes"],
    [
      "attribution over two lines",
      "yes\n\nOn Mon, 9 Nov 2026 at 10:00, Ann Example\n<a@x.org> wrote:\n> shall we?",
      "yes",
    ],
    ["German", "ja\r\n\r\nAm 09.11.26 um 10:00 schrieb Ann:\r\n> sollen wir?", "ja"],
    ["French", "oui\n\nLe lun. 9 nov. 2026 à 10:00, Ann a écrit :\n> on y va ?", "oui"],
    ["divider", "yes\n\n-----Original Message-----\nFrom: Ann\nshall we?", "yes"],
    ["Outlook", "yes\n\nFrom: Ann <a@x.org>\nSent: Monday\nTo: B\n\nshall we?", "yes"],
    ["signature", "yes\n-- \nAnn\nBoss", "yes"],
    ["bare quotes at the end", "yes\n> shall we?", "yes"],
    ["answers between quotes", "> one?\nyes\n> two?\nno", "> one?\nyes\n> two?\nno"],
    ["only quotes", "> one?", "> one?"],
    ["a sentence that only looks like it", "On Monday Ann wrote:\nI will come.", "On Monday Ann wrote:\nI will come."],
    ["a list from: to", "from: here\nto the end", "from: here\nto the end"],
    ["empty", "", ""],
  ];
  for (const [what, mail, own] of rows) assert.equal(stripQuoted(mail), own, what);
});

test("hostile mails are gone through once", () => {
  const hostile = [
    "on ",
    "> ",
    ">\n",
    " ",
    "\t",
    " \n",
    "\r",
    "-",
    "- ",
    "_",
    "\n",
    "From: a\n",
    "from: \t",
    "On x\nwrote:\n",
  ];
  for (const piece of hostile) {
    // Quadratic work on this much would take hours, and the run would not end.
    const text = piece.repeat(600_000 / piece.length);
    for (const tail of ["", "x", "\n> q"]) stripQuoted(`am schrieb ${text}${tail}`);
    stripQuoted(text);
  }
});
