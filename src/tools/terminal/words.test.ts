// How a command ended and what it said, in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobEnd, Output } from "../../ports/jobs.ts";
import { endWords, outputWords, resultWords, seconds } from "./words.ts";

const end: JobEnd = { code: 0, signal: null, how: "ended", why: null, tookMs: 1_234, bytes: 0, lost: null };

test("every end has its words", () => {
  const cases: readonly (readonly [change: Partial<JobEnd>, words: string])[] = [
    [{}, "exit code 0 after 1.2 s"],
    [{ code: 2 }, "exit code 2 after 1.2 s"],
    [{ code: 127 }, "exit code 127 (there is no such command) after 1.2 s"],
    [{ code: 137 }, "exit code 137 (as after SIGKILL; the machine may be short of memory) after 1.2 s"],
    [{ code: null, signal: "SIGSEGV" }, "killed by SIGSEGV after 1.2 s"],
    [
      { code: null, signal: "SIGTERM", how: "limit", tookMs: 120_000 },
      "killed by SIGTERM because its time limit was over, after 2 min",
    ],
    [{ code: 7, how: "limit" }, "killed because its time limit was over, after 1.2 s"],
    [
      { code: null, signal: "SIGKILL", how: "killed", why: "the gateway was stopped" },
      "killed by SIGKILL after 1.2 s (the gateway was stopped)",
    ],
    [{ code: null, how: "failed", why: "spawn x ENOENT" }, "it could not be started (spawn x ENOENT)"],
    [{ lost: "ENOSPC" }, "exit code 0 after 1.2 s; part of what it said could not be kept (ENOSPC)"],
  ];
  for (const [change, words] of cases) assert.equal(endWords({ ...end, ...change }), words);
});

test("times are as long as they need to be", () => {
  assert.deepEqual([0, 49, 1_250, 9_949, 10_000, 61_400, 119_000, 3_600_000].map(seconds), [
    "0.0 s",
    "0.0 s",
    "1.3 s",
    "9.9 s",
    "10 s",
    "61 s",
    "119 s",
    "60 min",
  ]);
});

function part(text: string, from: number, total: number): Output {
  return { from, bytes: new TextEncoder().encode(text), total };
}

test("what is short is shown whole, what is long from both ends", () => {
  assert.equal(outputWords("j", part("", 0, 0), part("", 0, 0)), "");
  assert.equal(outputWords("j", part("abc", 0, 3), part("abc", 0, 3)), "abc");
  assert.equal(
    outputWords("j", part("abcdef", 0, 9), part("efghi", 4, 9)),
    "abcdefghi",
    "an overlap is not said twice",
  );
  assert.equal(outputWords("j", part("abc", 0, 6), part("def", 3, 6)), "abcdef");
  const cut = outputWords("j1", part("abc", 0, 100), part("xyz", 97, 100));
  assert.match(cut, /^abc\n\[… 94 of 100 bytes are left out here; .*"id": "j1", "from": 3.*…\]\nxyz$/);
  const halved = outputWords("j1", part("abc\u001b[2", 0, 100), part("xyz", 97, 100));
  assert.match(halved, /^abc\n\[… 94 of 100 bytes .*"from": 3.*…\]\nxyz$/, "who reads on finds the whole escape");
  assert.match(
    outputWords("j1", part("a\0b", 0, 3), part("a\0b", 0, 3)),
    /3 bytes that are not text, beginning with 61 00 62/,
  );
});

test("the status comes first", () => {
  assert.equal(resultWords("exit code 0", "said\n\n"), "[exit code 0]\nsaid");
  assert.equal(resultWords("exit code 0", " \n"), "[exit code 0; it said nothing]");
});
