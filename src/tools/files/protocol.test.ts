import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type FileFrame, encodeFrame, frameReader } from "./protocol.ts";
import { parseReply } from "./replies.ts";

const frames: readonly (readonly [head: unknown, body: string])[] = [
  [{ type: "text", id: 1 }, "grüße"],
  [[], ""],
  ["x", "y".repeat(1_000)],
  [null, ""],
];
const bytes = Buffer.concat(frames.map(([head, body]) => encodeFrame(head, Buffer.from(body))));

function read(pieces: readonly Buffer[], max = 10_000): readonly (readonly [unknown, string])[] | null {
  const next = frameReader(max);
  const all: FileFrame[] = [];
  for (const piece of pieces) {
    const found = next(piece);
    if (found === null) return null;
    all.push(...found);
  }
  return all.map(({ head, body }) => [head, body.toString("utf8")] as const);
}

describe("frames", () => {
  for (const size of [1, 2, 3, 7, 8, 9, 64, 1_000, bytes.length]) {
    test(`in pieces of ${size} bytes`, () => {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      assert.deepEqual(read(pieces), frames);
    });
  }

  const bad: readonly (readonly [name: string, bytes: Buffer])[] = [
    ["larger than it may be", encodeFrame({}, Buffer.alloc(10_001))],
    ["announced as larger, before it comes", Buffer.from("ffffffff00000000", "hex")],
    ["sizes that add up to too much", Buffer.from("0000271000000001", "hex")],
    ["a head that is not JSON", Buffer.from("00000003000000007b7b7b", "hex")],
    ["an empty head", Buffer.from("0000000000000000", "hex")],
    ["text instead of frames", Buffer.from("node: not found\n")],
  ];
  for (const [name, wrong] of bad) test(`not ${name}`, () => assert.equal(read([wrong]), null));
});

describe("replies", () => {
  const digest = "a".repeat(64);
  const good: readonly object[] = [
    { type: "text" },
    { type: "chunk" },
    { type: "sent" },
    { type: "planned", before: null, after: digest, says: "Created f." },
    { type: "planned", before: digest, after: digest, says: "" },
    { type: "changed" },
    { type: "digest", digest: null },
    { type: "seen", isThere: true, own: null },
    { type: "failed", why: "no" },
  ];
  for (const reply of good) {
    test(JSON.stringify(reply).slice(0, 60), () => assert.deepEqual(parseReply({ id: 3, ...reply }), { id: 3, reply }));
  }

  const bad: readonly unknown[] = [
    null,
    [],
    "text",
    {},
    { id: 1 },
    { id: "1", type: "text" },
    { id: 1.5, type: "text" },
    { id: 1, type: "run" },
    { id: 1, type: "text", path: "/etc/passwd" },
    { id: 1, type: "digest", digest: "../../etc" },
    { id: 1, type: "digest", digest: digest.toUpperCase() },
    { id: 1, type: "planned", before: null, after: null, says: "" },
    { id: 1, type: "planned", before: null, after: digest, says: "x".repeat(20_001) },
    { id: 1, type: "failed", why: { toString: "x" } },
    { id: 1, type: "seen", isThere: 1, own: null },
    { id: 1, type: "seen", isThere: true, own: "/etc" },
  ];
  for (const head of bad) {
    test(`not ${JSON.stringify(head).slice(0, 60)}`, () => assert.equal(parseReply(head), null));
  }
});
