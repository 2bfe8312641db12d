import assert from "node:assert/strict";
import { test } from "node:test";
import { anItem } from "../../testing/samples.ts";
import { sendResultOf } from "./faults.ts";
import { messageIdOf, toMail } from "./outbound.ts";

const us = { address: "helper@example.net", name: "Everturn" };
const to = { platform: "email", account: us.address, chat: "ann@example.org", thread: "<first@example.org>" };
const hints = {
  subject: "The weather",
  message_id: "<second@example.org>",
  references: "<first@example.org> <second@example.org>",
};

test("an answer stands in its thread, in two forms, and is known as written by a program", () => {
  const mail = toMail(anItem("i1", { to, text: "It **rains**.", hints }), us, []);
  assert.equal(mail.to, "ann@example.org");
  assert.equal(mail.subject, "Re: The weather");
  assert.equal(mail.inReplyTo, "<second@example.org>");
  assert.deepEqual(mail.references, ["<first@example.org>", "<second@example.org>"]);
  assert.equal(mail.text, "It **rains**.");
  assert.ok((mail.html as string).includes("It <strong>rains</strong>."));
  assert.equal((mail.headers as Record<string, string>)["Auto-Submitted"], "auto-replied");
});

test("the id of a mail comes from its item and nothing else", () => {
  const one = toMail(anItem("i1", { to }), us, []).messageId;
  assert.equal(toMail(anItem("i1", { to, text: "other" }), us, []).messageId, one);
  assert.notEqual(toMail(anItem("i2", { to }), us, []).messageId, one);
  assert.match(messageIdOf(anItem("i 1 <>@", {}), us.address), /^<[0-9a-f]{32}@example\.net>$/);
});

test("subjects", () => {
  const rows: readonly (readonly [object, string])[] = [
    [{ hints: { ...hints, subject: "RE: x" } }, "RE: x"],
    [{ hints: { message_id: "<m>" }, text: "**Good** news\nmore" }, "Re: Good news"],
    [{ text: "# Good morning\n\nIt is eight." }, "Good morning"],
    [{ text: "" }, "A message for you"],
    [{ text: "x".repeat(100) }, `${"x".repeat(69)}…`],
  ];
  for (const [more, subject] of rows) assert.equal(toMail(anItem("i1", { to, ...more }), us, []).subject, subject);
});

test("what becomes of a send, by what the server said", () => {
  const error = (more: object) => Object.assign(new Error("words"), more);
  const rows: readonly (readonly [string, unknown, string])[] = [
    ["no such user", error({ code: "EENVELOPE", responseCode: 550, command: "RCPT TO" }), "refused"],
    ["greylisted", error({ code: "EENVELOPE", responseCode: 451, command: "RCPT TO" }), "retry"],
    ["refused after its words", error({ code: "EMESSAGE", responseCode: 554, command: "DATA" }), "refused"],
    ["asked to wait after its words", error({ code: "EMESSAGE", responseCode: 452, command: "DATA" }), "retry"],
    ["wrong password", error({ code: "EAUTH", responseCode: 535, command: "AUTH PLAIN" }), "retry"],
    ["nobody there", error({ code: "ESOCKET", command: "CONN" }), "retry"],
    ["unknown host", error({ code: "EDNS", command: "CONN" }), "retry"],
    ["broken off before its words", error({ code: "ECONNECTION", command: "MAIL FROM" }), "retry"],
    ["broken off inside its words", error({ code: "ECONNRESET", command: "DATA" }), "unknown"],
    ["silent after its words", error({ code: "ETIMEDOUT", command: "DATA" }), "unknown"],
    ["something else", new Error("x"), "unknown"],
  ];
  for (const [what, given, type] of rows) assert.equal(sendResultOf(given).type, type, what);
});
