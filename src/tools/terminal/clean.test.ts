// What commands say, as it is shown.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cleaned, decoded, isBinary, lastLine } from "./clean.ts";

const esc = "\u001b";

test("text is shown as it would stand on a screen at last", () => {
  const cases: readonly (readonly [said: string, shown: string])[] = [
    ["plain\ttext\n", "plain\ttext\n"],
    [`${esc}[1;31mred${esc}[0m`, "red"],
    [`${esc}]0;title\u0007after`, "after"],
    [`${esc}]8;;http://x${esc}\\link${esc}]8;;${esc}\\`, "link"],
    [`${esc}(B${esc}[?25l${esc}[2Kx`, "x"],
    [`${esc}Pq…${esc}\\x`, "x"],
    ["one\r\ntwo\r\n", "one\ntwo\n"],
    [" 10%\r 20%\r100%", "100%"],
    ["long line\rab", "abng line"],
    ["abc\b\bx", "ax"],
    ["bell\u0007 null\u0000 del\u007f c1\u0085", "bell null del c1"],
    ["done\r", "done"],
    ["grüße 👋\n", "grüße 👋\n"],
    [esc, ""],
  ];
  for (const [said, shown] of cases) assert.equal(cleaned(said).replaceAll(esc, ""), shown, JSON.stringify(said));
});

test("bytes are told from text", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  assert.equal(isBinary(bytes("")), false);
  assert.equal(isBinary(bytes("grüße 👋".repeat(50))), false);
  assert.equal(isBinary(bytes("a\0b")), true);
  assert.equal(isBinary(new Uint8Array(64).fill(0xff)), true);
  // Latin-1 with a few umlauts is still text, and so is a cut in the middle of a character.
  assert.equal(isBinary(new Uint8Array([...bytes("a long line of old text ".repeat(10)), 0xfc, 0xe4])), false);
  assert.equal(isBinary(bytes("👋").subarray(1)), false);
});

test("half a character at a cut is left out", () => {
  const wave = new TextEncoder().encode("a👋b");
  assert.equal(decoded(wave.subarray(2), { front: true, back: false }), "b");
  assert.equal(decoded(wave.subarray(0, 3), { front: false, back: true }), "a");
  assert.equal(decoded(wave, { front: true, back: true }), "a👋b");
});

test("the last line that says something is what is shown meanwhile", () => {
  assert.equal(lastLine("one\ntwo\n\n  \n", 10), "two");
  assert.equal(lastLine(" 10%\r 20%\r", 10), "20%");
  assert.equal(lastLine(`${esc}[32mok${esc}[0m`, 10), "ok");
  assert.equal(lastLine("\n\n", 10), null);
  assert.equal(lastLine("a".repeat(20), 10), `${"a".repeat(9)}…`);
});
