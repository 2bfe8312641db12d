import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../../core/limits.ts";
import { anItem } from "../../testing/samples.ts";
import { lookupMs, smtpSilenceMs } from "./api.ts";
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

test("the lookup of an uncertain mail and a silent SMTP server end before the engine's limit for a send", () => {
  assert.ok(lookupMs + smtpSilenceMs < limits.sendMs);
});
