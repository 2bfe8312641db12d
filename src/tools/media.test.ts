import assert from "node:assert/strict";
import { test } from "node:test";
import { endingOf, mimeOf, typeIn } from "./media.ts";

test("types by the ending of a name, and endings by type", () => {
  for (const [name, mime] of [
    ["a.PNG", "image/png"],
    ["b.tar.gz", "application/gzip"],
    ["c", "application/octet-stream"],
    ["d.odd", "application/octet-stream"],
  ] as const)
    assert.equal(mimeOf(name), mime);
  for (const [mime, ending] of [
    ["image/png", ".png"],
    ["image/jpg", ".jpg"],
    ["Audio/X-WAV", ".wav"],
    ["text/plain; charset=utf-8", ".txt"],
    ["application/octet-stream", ""],
    ["", ""],
  ] as const)
    assert.equal(endingOf(mime), ending, mime);
});

test("types by content", () => {
  for (const [hex, type] of [
    ["89504e470d0a1a0a0000", "image/png"],
    ["ffd8ffe000104a46", "image/jpeg"],
    ["524946460000000057454250", "image/webp"],
    ["524946460000000057415645", "audio/wav"],
    ["255044462d312e37", "application/pdf"],
    ["00", null],
    ["", null],
  ] as const)
    assert.equal(typeIn(Buffer.from(hex, "hex")), type, hex);
});
