// Lines of IRC: what servers send, read; and texts cut so that no server cuts them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { table } from "../../testing/table.ts";
import { cutLines, fold, parseLine, roomFor, sayable } from "./lines.ts";
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
    {
      name: "ends of lines inside",
      raw: ":a!b@c PRIVMSG x :1\u20282\u20293\r4\u00855\r",
      gives: ["a", "PRIVMSG", ["x", "1\u20282\u20293\r4\u00855"]],
    },
    {
      name: "spaces that are none here",
      raw: "@n=a\u00a0b :c\u3000d!e@f PRIVMSG x :y",
      gives: ["c\u3000d", "PRIVMSG", ["x", "y"]],
    },
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

table(
  "letters as the line has them",
  [
    { name: "plain", bytes: Buffer.from("good morning"), gives: "good morning" },
    { name: "UTF-8", bytes: Buffer.from("Grüße 👋 \ufffd"), gives: "Grüße 👋 \ufffd" },
    { name: "Latin-1", bytes: Buffer.from("Gr\xfc\xdfe aus K\xf6ln", "latin1"), gives: "Grüße aus Köln" },
    { name: "Latin-1, one letter at the end", bytes: Buffer.from("caf\xe9", "latin1"), gives: "café" },
    { name: "Windows", bytes: Buffer.from("\x93 5 \x80 \x94", "latin1"), gives: "“ 5 € ”" },
    { name: "UTF-8 that was cut inside a letter", bytes: Buffer.from("早上好").subarray(0, 8), gives: "早上\ufffd" },
  ],
  ({ bytes, gives }) => {
    assert.deepEqual([...cutLines().take(Buffer.concat([bytes, Buffer.from("\r\n")]))], [gives]);
  },
);

describe("lines out of what arrives", () => {
  const said = ["Grüße 👋", "", "caf\xe9", "a\rb", "two ends\r", "\u2028"];
  const bytes = Buffer.concat(
    said.map((line) => Buffer.from(`${line}\r\n`, line.includes("\xe9") ? "latin1" : "utf8")),
  );

  test("are the same wherever it is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 }), (cuts) => {
        const lines = cutLines();
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const all = at.slice(1).flatMap((end, n) => [...lines.take(bytes.subarray(at[n], end))]);
        assert.deepEqual([all, lines.held()], [said, 0]);
      }),
      { numRuns: 500, seed: 5 },
    );
  });

  test("what has no end yet is counted in bytes", () => {
    const lines = cutLines();
    for (const [chunk, held] of [
      ["one\nü", 2],
      ["ü", 4],
      ["\nx", 1],
      ["\n", 0],
    ] as const) {
      lines.take(Buffer.from(chunk));
      assert.equal(lines.held(), held);
    }
  });
});

test("a line of nothing but ends is read as fast as any other", () => {
  const begun = process.cpuUsage();
  assert.equal(parseLine(`${"\r".repeat(1_000_000)}x`), null);
  assert.ok(process.cpuUsage(begun).user < 10_000_000, "it took more than ten seconds");
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
