// Addresses as text: no two share one, and what was written is read back. Bodies as the words a transcript shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Dice, everySeed } from "../testing/dice.ts";
import { table } from "../testing/table.ts";
import { type Address, type Body, formatAddress, parseAddress, textOf } from "./message.ts";

const hostile = [
  "/",
  "//",
  "a/b",
  "%",
  "%2F",
  "%2f",
  "%25",
  "%zz",
  "..",
  "+",
  " ",
  "a b",
  "?",
  "#",
  "&=",
  "\\",
  "\n",
  "\t",
  "\u0000",
  "\u007f",
  "\u202e",
  "שלום",
  "مرحبا",
  "👩‍👩‍👧‍👦",
  "é",
  "e\u0301",
  "constructor",
  "__proto__",
  "undefined",
  "null",
  "-",
  "x".repeat(5_000),
];

function hostilePart(roll: Dice): string {
  return Array.from({ length: 1 + roll.throw(3) }, () => roll.pick(hostile)).join("");
}

function hostileAddress(roll: Dice): Address {
  const address = { platform: hostilePart(roll), account: hostilePart(roll), chat: hostilePart(roll) };
  return roll.once(2) ? address : { ...address, thread: hostilePart(roll) };
}

test("an address is read back from its text, whatever its parts are", () => {
  everySeed(500, (roll) => {
    const address = hostileAddress(roll);
    assert.deepEqual(parseAddress(formatAddress(address)), address);
  });
});

test("no two addresses share a text", () => {
  const seen = new Map<string, string>();
  const note = (address: Address): void => {
    const { platform, account, chat, thread } = address;
    const identity = JSON.stringify([platform, account, chat, thread ?? null]);
    const text = formatAddress(address);
    assert.equal(seen.get(text) ?? identity, identity, `shared: ${text}`);
    seen.set(text, identity);
  };
  everySeed(2_000, (roll) => note(hostileAddress(roll)));
  // All ways to put the same few characters into the parts, empty ones included.
  const bits = ["", "/", "a", "a/", "/a", "%", "%2F", "undefined"];
  for (const platform of bits)
    for (const account of bits)
      for (const chat of bits) {
        note({ platform, account, chat });
        for (const thread of bits) note({ platform, account, chat, thread });
      }
  assert.ok(seen.size > 4_000);
});

test("half an emoji in an address is neither an error nor mistaken for another half", () => {
  const texts = ["\ud83d", "\udc4b", "\ufffd", "a\ud83d", "\ud83da", "\udc4b\ud83d", "👋"].map((chat) =>
    formatAddress({ platform: "test", account: "home", chat }),
  );
  assert.equal(new Set(texts).size, texts.length);
});

table(
  "addresses as people type them",
  [
    { name: "three parts", text: "web/home/c1", gives: { platform: "web", account: "home", chat: "c1" } },
    { name: "a thread", text: "web/home/c1/7", gives: { platform: "web", account: "home", chat: "c1", thread: "7" } },
    { name: "escaped", text: "web/home/a%2Fb", gives: { platform: "web", account: "home", chat: "a/b" } },
    {
      name: "not escaped but harmless",
      text: "irc/home/#room",
      gives: { platform: "irc", account: "home", chat: "#room" },
    },
    { name: "nothing", text: "", gives: null },
    { name: "one part", text: "web", gives: null },
    { name: "two parts", text: "web/home", gives: null },
    { name: "five parts", text: "web/home/c1/7/8", gives: null },
    { name: "an empty part", text: "web//c1", gives: null },
    { name: "an empty thread", text: "web/home/c1/", gives: null },
    { name: "a broken escape", text: "web/home/%", gives: null },
    { name: "a broken escape in the thread", text: "web/home/c1/%zz", gives: null },
    { name: "half a character", text: "web/home/%E2%82", gives: null },
  ],
  ({ text, gives }) => {
    assert.deepEqual(parseAddress(text), gives);
  },
);

table(
  "the words of a body",
  [
    { name: "text", body: { kind: "text", text: "hi\nthere", files: [] }, gives: "hi\nthere" },
    { name: "an answer", body: { kind: "answer", question: "q1", choice: "Tea" }, gives: "Tea" },
    { name: "a command", body: { kind: "command", name: "new", rest: "" }, gives: "/new" },
    { name: "a command with words", body: { kind: "command", name: "new", rest: "a b" }, gives: "/new a b" },
    { name: "a timer", body: { kind: "timer", timer: "x", text: "tea is ready" }, gives: "tea is ready" },
  ] satisfies { name: string; body: Body; gives: string }[],
  ({ body, gives }) => {
    assert.equal(textOf(body), gives);
  },
);
