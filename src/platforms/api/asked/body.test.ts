// The bytes of a request as text: what is UTF-8 arrives as it was meant, anything else is refused and never guessed at.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readBody } from "./body.ts";

const text = '{"messages":[{"role":"user","content":"Grüße, 世界 👋"}]}';

function requestOf(chunks: readonly Uint8Array[]): Request {
  const body = ReadableStream.from(chunks) as ReadableStream<Uint8Array>;
  return new Request("http://127.0.0.1/v1/chat/completions", { method: "POST", body, duplex: "half" });
}

test("UTF-8 is read as it was meant, wherever it was cut on its way", async () => {
  const bytes = Buffer.from(text);
  const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
  assert.equal(await readBody(requestOf([bytes])), text);
  assert.equal(await readBody(requestOf(single)), text);
  assert.equal(await readBody(requestOf([Buffer.from(`\uFEFF${text}`)])), text, "a mark in front is no text");
  assert.equal(await readBody(requestOf([])), "");
});

test("what is not UTF-8 is refused, and the caller is told what it must be", async () => {
  const cases: readonly (readonly [what: string, bytes: Buffer])[] = [
    ["Latin-1", Buffer.from('{"content":"Gr\xfc\xdfe"}', "latin1")],
    ["UTF-16", Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["cut within a letter", Buffer.from("世").subarray(0, 2)],
    ["half of a pair", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ];
  for (const [what, bytes] of cases) {
    const refused = await readBody(requestOf([bytes]));
    if (typeof refused === "string") assert.fail(`${what} was read as ${refused}`);
    assert.deepEqual([refused.status, refused.code], [400, "invalid_encoding"], what);
    assert.match(refused.message, /must be JSON in UTF-8/);
  }
});
