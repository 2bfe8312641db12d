// From lines to messages: who said it, where, whether it was meant for us, and which words.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant } from "../../core/ids.ts";
import { type Inbound, textOf } from "../../core/message.ts";
import { table } from "../../testing/table.ts";
import { toInbound } from "./inbound.ts";
import { type Mapping, parseLine } from "./lines.ts";
import samples from "./samples/lines.json" with { type: "json" };

const self = {
  account: "ever@irc.example",
  nick: "ever",
  wished: "ever",
  knowsAccounts: false,
  mapping: "rfc1459" as Mapping,
};
const own = { id: "id1", now: 5 as Instant };

function take(raw: string, who = self): Inbound | string {
  const line = parseLine(raw);
  return line === null ? "not a line" : toInbound(line, who, own);
}

function read(raw: string, who = self): Inbound | null {
  const taken = take(raw, who);
  return typeof taken === "string" ? null : taken;
}

const said = (to: string, text: string): string => `:alice!~a@host.example PRIVMSG ${to} :${text}`;

table(
  "words, and whether they are meant for us",
  [
    { name: "a query", raw: samples.query, gives: ["good morning", undefined] },
    { name: "called in a channel", raw: samples.channel, gives: ["what is new?", true] },
    { name: "called with a comma, in other letters", raw: said("#talk", "EVER, hi"), gives: ["hi", true] },
    { name: "called with @", raw: said("#talk", "@ever hi"), gives: ["hi", true] },
    { name: "called within", raw: said("#talk", "ask @ever about it"), gives: ["ask @ever about it", true] },
    { name: "not called", raw: said("#talk", "forever: hi"), gives: ["forever: hi", false] },
    { name: "the name alone calls nobody", raw: said("#talk", "ever since then"), gives: ["ever since then", false] },
    { name: "a command", raw: said("#talk", "!stop"), gives: ["/stop", true] },
    { name: "a command for us", raw: said("#talk", "ever: !model big"), gives: ["/model big", true] },
    { name: "no command", raw: said("#talk", "!important"), gives: ["!important", false] },
    { name: "somebody does something", raw: samples.action, gives: ["*waves*", false] },
    { name: "marks of letters", raw: samples.coloured, gives: ["bold red it", undefined] },
  ],
  ({ raw, gives }) => {
    const message = read(raw);
    assert.deepEqual([message && textOf(message.body), message?.group?.called], gives);
  },
);

test("our own words, requests of programs and nothing at all are not handed over, each with its reason", () => {
  const rows: readonly (readonly [raw: string, why: string])[] = [
    [samples.self, "our own line"],
    [samples.version, "a request between programs (CTCP)"],
    [said("ever", "  "), "no text"],
    ["PRIVMSG ever :from nobody", "no sender"],
  ];
  for (const [raw, why] of rows) assert.equal(take(raw), why, raw);
});

test("what the history tells of us under another name is our own, and a person of that name is none of us", () => {
  const renamed = { ...self, nick: "ever_" };
  assert.equal(read(`@batch=h ${samples.self}`, renamed), null);
  assert.equal(read(`@batch=h ${samples.self.replace("Ever", "ever__")}`, self), null);
  assert.equal(read(samples.self, renamed)?.sender, "Ever!~e@host.example");
});

test("where it is from and who wrote it", () => {
  const query = read(samples.query);
  assert.deepEqual(query?.from, { platform: "irc", account: "ever@irc.example", chat: "alice" });
  assert.deepEqual(
    [query?.sender, query?.name, query?.key, query?.sentAt],
    ["alice!~a@host.example", "alice", "own:id1", 5],
  );
  assert.equal(read(samples.channel)?.from.chat, "#talk");
});

test("names that the server does not take for one are two people, and each is answered by their own name", () => {
  const raw = ":ann[x]!~a@host.example PRIVMSG ever :hi";
  for (const [mapping, chat] of [
    ["rfc1459", "ann{x}"],
    ["ascii", "ann[x]"],
  ] as const) {
    const message = read(raw, { ...self, mapping });
    assert.deepEqual([message?.from.chat, message?.hints], [chat, { nick: "ann[x]" }]);
  }
});

test("where the server tells accounts, a nick alone is no name", () => {
  const knowing = { ...self, knowsAccounts: true };
  assert.deepEqual(
    [read(samples.tagged, knowing)?.sender, read(samples.tagged, knowing)?.name],
    ["account:alice-acc", "alice-acc"],
  );
  assert.equal(read(samples.query, knowing)?.name, undefined);
});

test("the key is the server's id, else made of its time: the same when it comes again", () => {
  assert.equal(read(samples.tagged)?.key, "id:abc;1");
  const timed = "@time=2026-11-15T19:00:00.000Z :alice!~a@host.example PRIVMSG ever :hi";
  assert.match(read(timed)?.key ?? "", /^time:/);
  assert.equal(read(timed)?.key, read(timed)?.key);
  assert.notEqual(read(timed)?.key, read(timed.replace(":hi", ":ho"))?.key);
  assert.equal(read(timed)?.sentAt, Date.parse("2026-11-15T19:00:00.000Z"));
});
