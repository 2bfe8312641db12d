// What commands say, as it is shown.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cleaned, decoded, isBinary, lastLine, unfinished } from "./clean.ts";

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
    // What was erased is not there any more.
    [`9 passed, 3 failed\r${esc}[2K12 passed\n`, "12 passed\n"],
    [`9 passed, 3 failed\r${esc}[K12 passed`, "12 passed"],
    [`9 passed, 3 failed\r${esc}[0K12 passed`, "12 passed"],
    [`9 passed, 3 failed\r12 passed${esc}[K`, "12 passed"],
    [`9 passed, 3 failed${esc}[2K\r12 passed`, "12 passed"],
    [`9 passed, 3 failed${esc}[2K${esc}[1G12 passed`, "12 passed"],
    [`9 passed, 3 failed${esc}[1K${esc}[G12 passed`, "12 passed"],
    [`9 passed, 3 failed${esc}[0G${esc}[J12 passed`, "12 passed"],
    [`9 passed, 3 failed${esc}[1G${esc}[0J12 passed`, "12 passed"],
    [`${esc}[32m9 passed${esc}[0m\r${esc}[2K${esc}[32m12${esc}[0m`, "12"],
    [`gone\r${esc}[K\nstays`, "\nstays"],
    [`gone${esc}[2K\r\nstays\r\n`, "\nstays\n"],
    [`gone${esc}[2Kx`, "    x"],
    [`gone${esc}[2K\b\bx`, "  x"],
    [`one two\rone${esc}[1K`, "    two"],
    [`one two\rone${esc}[1K\rONE`, "ONE two"],
    [`kept${esc}[K and more${esc}[K`, "kept and more"],
    [`first\nsecond${esc}[2K\r`, "first\n"],
    // Marks of our own mean nothing where a command says them.
    ["a\u0001b\u0002c\rx", "xbc"],
    // Other movements are left out as before.
    [`a${esc}[5Gb${esc}[2Jc`, "abc"],
    ["🙂\bx", "x"],
    ["one\r\r\r\ntwo", "one\ntwo"],
  ];
  for (const [said, shown] of cases) assert.equal(cleaned(said).replaceAll(esc, ""), shown, JSON.stringify(said));
});

test("much that is erased takes no longer than much that is not", () => {
  const many = 100_000;
  const long = "a".repeat(many);
  const cases: readonly (readonly [said: string, shown: string])[] = [
    [`${long}${`${esc}[2K`.repeat(many)}`, ""],
    [`${long}${`\r${esc}[1K`.repeat(many)}`, ` ${long.slice(1)}`],
    [`${long}${`\rb${esc}[K`.repeat(many)}`, "b"],
    [`${long}${"\rb".repeat(many)}`, `b${long.slice(1)}`],
    [`${long}${"\b".repeat(many)}`, ""],
    ["\r".repeat(10 * many), ""],
    [`${esc}[`.repeat(many), ""],
    [`${esc}[${"0".repeat(many)}`, "0".repeat(many)],
  ];
  for (const [said, shown] of cases) assert.ok(cleaned(said) === shown, JSON.stringify(said.slice(-20)));
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

test("what a cut leaves unfinished is left to the next piece", () => {
  const cases: readonly (readonly [piece: string, unfinished: number])[] = [
    ["", 0],
    ["plain", 0],
    [`a${esc}`, 1],
    [`a${esc}[`, 2],
    [`a${esc}[2`, 3],
    [`a${esc}[1;3`, 5],
    [`a${esc}[2K`, 0],
    [`${esc}[2K 2`, 0],
    ["grüße", 0],
  ];
  for (const [piece, count] of cases) assert.equal(unfinished(Buffer.from(piece)), count, JSON.stringify(piece));
  const wave = Buffer.from("a👋");
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((end) => unfinished(wave.subarray(0, end))),
    [0, 1, 2, 3, 0],
  );
  assert.equal(unfinished(new Uint8Array(9).fill(0x80)), 0);
});

test("an escape that a cut goes through is no text at either side", () => {
  const bytes = Buffer.from(`9 failed\r${esc}[2K12 passed`);
  for (let cut = 1; cut < bytes.length; cut++) {
    const end = cut - unfinished(bytes.subarray(0, cut));
    const first = cleaned(decoded(bytes.subarray(0, cut), { front: false, back: true }));
    const second = cleaned(decoded(bytes.subarray(end), { front: true, back: false }));
    assert.doesNotMatch(first + second, /[[\]K]/, `cut at ${cut}`);
  }
});

test("the last line that says something is what is shown meanwhile", () => {
  assert.equal(lastLine("one\ntwo\n\n  \n", 10), "two");
  assert.equal(lastLine(" 10%\r 20%\r", 10), "20%");
  assert.equal(lastLine(`${esc}[32mok${esc}[0m`, 10), "ok");
  assert.equal(lastLine("\n\n", 10), null);
  assert.equal(lastLine("a".repeat(20), 10), `${"a".repeat(9)}…`);
});
