import assert from "node:assert/strict";
import { test } from "node:test";
import { stripQuoted } from "./strip.ts";

const reply = { subject: "Re: x", isReply: true };
const first = { subject: "x", isReply: false };

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
  for (const [what, mail, own] of rows) assert.equal(stripQuoted(mail, reply), own, what);
});

test("what somebody passes on is read whole", () => {
  const gmail =
    "---------- Forwarded message ---------\nFrom: Bob <b@x.org>\nDate: Sat\nSubject: Invoice\nTo: A\n\n99 EUR";
  const outlook = "From: Bob <b@x.org>\nSent: Saturday\nTo: Ann\nSubject: Invoice\n\n99 EUR";
  const apple = "Begin forwarded message:\n\n> From: Bob <b@x.org>\n> Subject: Invoice\n> \n> 99 EUR";
  const thunderbird = "-------- Forwarded Message --------\nSubject: Invoice\nDate: Sat\nFrom: Bob\nTo: Ann\n\n99 EUR";
  const german = "-----Ursprüngliche Nachricht-----\nVon: Bob\nGesendet: Samstag\nAn: Ann\nBetreff: Rechnung\n\n99 EUR";
  const line = `${"_".repeat(32)}\n${outlook}`;
  const below = ["", "-- \nAnn\n\n"].flatMap((signature) =>
    [gmail, outlook, apple, thunderbird, german, line].map((copy) => `Please pay this.\n\n${signature}${copy}`),
  );
  const subjects = [
    "Fwd: Invoice",
    "FW: Invoice",
    "WG: Rechnung",
    "TR : Facture",
    "[Fwd: Invoice]",
    "[EXT] Fwd: Re: x",
  ];
  for (const mail of below) {
    // Many programs name the mail that is passed on as if it were answered.
    for (const subject of subjects)
      for (const isReply of [true, false]) assert.equal(stripQuoted(mail, { subject, isReply }), mail, subject);
    assert.equal(stripQuoted(mail, first), mail, "a new mail, with a subject of its own");
  }
  for (const copy of [gmail, apple, thunderbird]) {
    const mail = `Please pay this.\n\n-- \nAnn\n\n${copy}`;
    assert.equal(stripQuoted(mail, reply), mail, "under the subject of a reply");
    const old = `Done.\n\n-----Original Message-----\n${mail}`;
    assert.equal(stripQuoted(old, { subject: "Re: Fwd: Invoice", isReply: true }), "Done.");
  }
});

test("lines that only look like the head of an earlier mail stay", () => {
  const line = "_".repeat(20);
  const rows: readonly (readonly [what: string, mail: string])[] = [
    ["a journey", "Please book a train:\nFrom: Berlin\nTo: Munich\nTomorrow at nine, two seats."],
    ["a journey by itself", "A train:\n\nFrom: Berlin\nTo: Munich\nTomorrow at nine."],
    ["a journey with its day", "A train:\n\nFrom: Berlin\nTo: Munich\nDate: 3 May\nTwo seats."],
    ["a journey in a sentence", "A train:\nVon: Berlin\nDatum: 3. Mai\nAn: München\nZwei Plätze."],
    ["a line", `Items:\n${line}\n1. apples\n2. pears`],
    ["a line and a journey", `Items:\n${line}\nFrom: Berlin\nTo: Munich\nsoon`],
    ["a form", "Name: ________________________\nFrom: me\nSubject: x"],
  ];
  for (const [what, mail] of rows) for (const one of [reply, first]) assert.equal(stripQuoted(mail, one), mail, what);
});

test("heads of earlier mails, as programs write them", () => {
  const rows = [
    "From: Ann <a@x.org>\nSent: Monday\nTo: B\nSubject: x",
    "From: Ann <a@x.org>\nTo: B\nSent: Monday\nSubject: x",
    "From: Ann <a@x.org>\nTo: B\nCc: C\nDate: Monday\nSubject: x",
    "*From:* Ann\n*Sent:* Monday\n*To:* B",
    "Von: Ann\r\nGesendet: Montag\r\nAn: B\r\nBetreff: x",
    "De : Ann\nEnvoyé : lundi\nÀ : B\nObjet : x",
    "De: Ann\nEnviado el: lunes\nPara: B\nAsunto: x",
    "Da: Ann\nInviato: lunedì\nA: B\nOggetto: x",
    "Van: Ann\nVerzonden: maandag\nAan: B\nOnderwerp: x",
  ];
  for (const head of rows)
    for (const above of ["\n", `\n${"_".repeat(32)}\n`, `${"_".repeat(32)}\n\n`])
      assert.equal(stripQuoted(`yes\n${above}${head}\n\nshall we?`, reply), "yes", head);
});

test("a new mail has nothing old; its signature is none of its words", () => {
  const rows: readonly (readonly [mail: string, own: string])[] = [
    ["yes\n\nOn Mon, 9 Nov 2026, Ann wrote:\n> shall we?", "yes\n\nOn Mon, 9 Nov 2026, Ann wrote:\n> shall we?"],
    ["see:\n> a quote", "see:\n> a quote"],
    ["see below\n-- \nAnn\n\n> a quote", "see below\n-- \nAnn\n\n> a quote"],
    ["see\n-----Original Message-----\nthis", "see\n-----Original Message-----\nthis"],
    ["/status\r\n-- \r\nAnn", "/status"],
    ["-- \nAnn", "-- \nAnn"],
  ];
  for (const [mail, own] of rows) assert.equal(stripQuoted(mail, first), own);
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
    "From: a\nTo: b\nDate: c\n",
    "\nFrom: a\nTo: b\n",
    `${"_".repeat(20)}\n`,
    "-- \n",
    "*a ",
    "From:",
  ];
  for (const piece of hostile) {
    // Quadratic work on this much would take hours, and the run would not end.
    const text = piece.repeat(600_000 / piece.length);
    for (const one of [reply, first]) {
      for (const tail of ["", "x", "\n> q"]) stripQuoted(`am schrieb ${text}${tail}`, one);
      stripQuoted(text, one);
      stripQuoted(`x\n-- \n${text}`, { ...one, subject: `[${text}` });
    }
  }
});
