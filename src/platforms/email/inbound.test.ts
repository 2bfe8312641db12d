import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import PostalMime, { type Email } from "postal-mime";
import { at } from "../../testing/samples.ts";
import { type Read, type Verify, readMail } from "./inbound.ts";

const parse = (text: string): Promise<Email> => PostalMime.parse(text);
const sample = (name: string) => parse(readFileSync(join(import.meta.dirname, "samples", `${name}.eml`), "utf8"));
const read = (mail: Email, verify: Verify = "auto"): Read =>
  readMail(mail, { account: "helper@example.net", verify }, "uid:1:7", at(0));
const made = (headers: string, words = "hello") => parse(`From: ann@example.org\n${headers}\n\n${words}\n`);
const wordsOf = (found: Read) =>
  found.type === "message" && found.inbound.body.kind === "text" ? found.inbound.body.text : found;

test("a first mail: its subject and words, its thread, its file, who sent it", async () => {
  const found = read(await sample("first"));
  assert.ok(found.type === "message");
  if (found.type !== "message") return;
  assert.deepEqual(found.inbound, {
    key: "<first@example.org>",
    from: { platform: "email", account: "helper@example.net", chat: "ann@example.org", thread: "<first@example.org>" },
    sender: "ann@example.org",
    name: "Ann Example",
    body: { kind: "text", text: "The weather\n\nWill it rain in Köln tomorrow?", files: [] },
    sentAt: Date.parse("2026-11-09T09:00:00Z"),
    anchor: "<first@example.org>",
    hints: { subject: "The weather", references: "<first@example.org>", message_id: "<first@example.org>" },
  });
  assert.deepEqual(
    found.files.map(({ name, mime, content }) => [name, mime, Buffer.from(content).toString()]),
    [["rain.csv", "text/csv", "day,mm\nmon,3\n"]],
  );
});

test("an answer belongs to the thread of the first mail, without what it quotes", async () => {
  const found = read(await sample("answer"));
  assert.ok(found.type === "message");
  if (found.type !== "message") return;
  assert.equal(found.inbound.from.thread, "<first@example.org>");
  assert.equal(wordsOf(found), "And on Friday?");
  assert.equal(
    found.inbound.hints?.["references"],
    "<first@example.org> <0123456789abcdef@example.net> <second@example.org>",
  );
});

test("what programs send by themselves is left alone", async () => {
  assert.equal(read(await sample("vacation")).type, "nothing");
  const rows: readonly (readonly [string, "message" | "nothing"])[] = [
    ["Auto-Submitted: no", "message"],
    ["Auto-Submitted: auto-generated", "nothing"],
    ["Precedence: bulk", "nothing"],
    ["List-Id: <news.example.org>", "nothing"],
    ["X-Everturn: item", "nothing"],
    ["Return-Path: <>", "nothing"],
    ["Subject: x", "message"],
  ];
  for (const [header, type] of rows) assert.equal(read(await made(header)).type, type, header);
  for (const from of [
    "MAILER-DAEMON@x.org",
    "no-reply@x.org",
    "noreply+7@x.org",
    "helper@example.net",
    "Helper@Example.net",
  ])
    assert.equal(read(await parse(`From: ${from}\n\nhello`)).type, "nothing", from);
  for (const from of ["nobody", "", "replyann@x.org"])
    assert.equal(read(await parse(`From: ${from}\n\nhello`)).type, from.includes("@") ? "message" : "nothing", from);
});

test("who a mail says it is from counts as far as the receiving server vouches for it", async () => {
  const results = (text: string) => made(`Authentication-Results: mx; ${text}`);
  const rows: readonly (readonly [string, Email, auto: boolean, require: boolean])[] = [
    ["forged, with a result of its own below", await sample("forged"), false, false],
    ["vouched for", await sample("first"), true, true],
    ["nobody looked", await made("Subject: x"), true, false],
    ["dmarc failed", await results("dmarc=fail"), false, false],
    ["spf failed", await results("spf=fail"), false, false],
    [
      "spf failed on the way, signed by the domain",
      await results("spf=fail; dkim=pass header.d=example.org"),
      true,
      true,
    ],
    ["signed by another domain", await results("dkim=pass header.d=evil.test"), true, false],
    ["signed by a look-alike", await results("dkim=pass header.d=le.org"), true, false],
  ];
  for (const [what, mail, auto, require] of rows) {
    assert.equal(read(mail, "auto").type === "message", auto, what);
    assert.equal(read(mail, "require").type === "message", require, what);
    assert.equal(read(mail, "off").type, "message", what);
  }
});

test("a mail without an id is known by its place, one without a date by now; a command is not preceded by its subject", async () => {
  const bare = read(await made("Subject: x", "hello"));
  assert.ok(bare.type === "message" && bare.inbound.key === "uid:1:7" && bare.inbound.sentAt === at(0));
  assert.equal(wordsOf(read(await made("Subject: please", "/status"))), "/status");
  assert.equal(wordsOf(read(await made("Subject: only this", ""))), "only this");
});
