// Lines of IRC: what servers send, read; and texts cut so that no server cuts them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { table } from "../../testing/table.ts";
import { fold, parseLine, roomFor, sayable } from "./lines.ts";
import samples from "./samples/lines.json" with { type: "json" };

table(
  "read",
  [
    { name: "query", raw: samples.query, gives: ["alice", "PRIVMSG", ["ever", "good morning"]] },
    { name: "words with a colon", raw: samples.channel, gives: ["alice", "PRIVMSG", ["#Talk", "ever: what is new?"]] },
    {
      name: "welcome",
      raw: `${samples.welcome}\r`,
      gives: ["irc.example", "001", ["ever", samples.welcome.slice(23)]],
    },
    { name: "ping", raw: samples.ping, gives: ["", "PING", ["irc.example"]] },
    { name: "no words", raw: ":a!b@c JOIN #x", gives: ["a", "JOIN", ["#x"]] },
    { name: "nothing after the colon", raw: ":a!b@c PRIVMSG #x :", gives: ["a", "PRIVMSG", ["#x", ""]] },
    { name: "many spaces", raw: ":s  353  e  =  #x  :a b", gives: ["s", "353", ["e", "=", "#x", "a b"]] },
  ],
  ({ raw, gives }) => {
    const line = parseLine(raw);
    assert.deepEqual([line?.nick, line?.command, line?.params], gives);
  },
);

test("tags are read with their escapes", () => {
  const tags = { time: "2026-11-15T19:00:00.000Z", msgid: "abc;1", account: "alice-acc" };
  assert.deepEqual(parseLine(samples.tagged)?.tags, tags);
  assert.deepEqual(parseLine("@a=x\\sy\\\\z;b;c= PING x")?.tags, { a: "x y\\z", b: "", c: "" });
});

test("what is no line is none", () => {
  for (const raw of ["", "   ", "\r\n", ":only", "@tags", ":a 12 x"]) assert.equal(parseLine(raw), null, raw);
});

test("names are compared as networks do", () => {
  const name = "Nick[a]\\~\u212a";
  assert.equal(fold(name, "rfc1459"), "nick{a}|^\u212a");
  assert.equal(fold(name, "strict-rfc1459"), "nick{a}|~\u212a");
  assert.equal(fold(name, "ascii"), "nick[a]\\~\u212a");
});

describe("sayable lines", () => {
  test("are never too long, never torn, and lose nothing but white space", () => {
    const letters = fc.array(fc.constantFrom("a", "b", " ", "é", "👋", "\n", "\r\n", "𝒳", "x".repeat(50)), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(letters, fc.integer({ min: 10, max: 400 }), (all, room) => {
        const text = all.join("");
        const lines = sayable(text, room);
        for (const line of lines) {
          assert.ok(Buffer.byteLength(line) <= room);
          assert.ok(line.isWellFormed() && !/[\r\n]/.test(line) && line.trim() !== "");
        }
        assert.equal(lines.join("").replace(/\s/g, ""), text.replace(/\s/g, ""));
      }),
      { numRuns: 500, seed: 3 },
    );
  });

  test("a whole line fits into what a server passes on, with the longest mask before it", () => {
    const mask = `:${"n".repeat(30)}!${"u".repeat(10)}@${"h".repeat(63)}`;
    const [line = ""] = sayable("x".repeat(2_000), roomFor("#channel"));
    assert.ok(Buffer.byteLength(`${mask} PRIVMSG #channel :${line}\r\n`) <= 512);
    assert.ok(line.length > 350);
  });
});
