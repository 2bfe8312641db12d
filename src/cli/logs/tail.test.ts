// The end of a log and what is added to it, on real files that are turned over, cut and taken away.

import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openLogFile } from "../../log/file.ts";
import { followLines, lastLines } from "./tail.ts";

function newLog(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-tail-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "gateway.log");
}

/** Follows a file in steps: each call gives what was added since the last one. */
function steps(t: TestContext, file: string, from: Parameters<typeof followLines>[1]) {
  const over = new AbortController();
  const rested = { next: Promise.withResolvers<void>(), go: Promise.withResolvers<void>() };
  const rest = async () => {
    rested.next.resolve();
    await rested.go.promise;
    rested.go = Promise.withResolvers<void>();
  };
  const seen: string[] = [];
  const done = (async () => {
    for await (const line of followLines(file, from, over.signal, rest)) seen.push(line);
  })();
  t.after(async () => {
    over.abort();
    rested.go.resolve();
    await done;
  });
  return async () => {
    await rested.next.promise;
    rested.next = Promise.withResolvers<void>();
    rested.go.resolve();
    await rested.next.promise;
    return seen.splice(0);
  };
}

test("the newest lines come from as many files as are needed", async (t) => {
  const file = newLog(t);
  assert.deepEqual(await lastLines(file, 5), { lines: [], at: null, exists: false });
  writeFileSync(`${file}.2`, "a\nb\n");
  writeFileSync(`${file}.1`, "c\nd\n");
  writeFileSync(file, "e\nf\nhal");
  assert.deepEqual((await lastLines(file, 1)).lines, ["f"]);
  assert.deepEqual((await lastLines(file, 3)).lines, ["d", "e", "f"]);
  assert.deepEqual((await lastLines(file, 100)).lines, ["a", "b", "c", "d", "e", "f"]);
  assert.equal((await lastLines(file, 1)).at?.offset, 4, "half a line is left for later");
});

test("what is added is followed, whole lines only, across turn-overs and a file that was cut", async (t) => {
  const file = newLog(t);
  writeFileSync(file, "a\nb\nc1");
  const { at } = await lastLines(file, 1);
  const next = steps(t, file, at);
  assert.deepEqual(await next(), []);
  appendFileSync(file, "c2\nd\n");
  assert.deepEqual(await next(), ["c1c2", "d"]);
  appendFileSync(file, "e\n");
  renameSync(file, `${file}.1`);
  writeFileSync(file, "f\n");
  assert.deepEqual(await next(), ["e", "f"]);
  // Twice between two looks.
  renameSync(`${file}.1`, `${file}.2`);
  appendFileSync(file, "g\n");
  renameSync(file, `${file}.1`);
  rmSync(`${file}.2`);
  renameSync(`${file}.1`, `${file}.2`);
  writeFileSync(`${file}.1`, "h\n");
  writeFileSync(file, "i\nå\n");
  assert.deepEqual(await next(), ["g", "h", "i", "å"]);
  truncateSync(file, 0);
  appendFileSync(file, "j\n");
  assert.deepEqual(await next(), ["j"]);
});

test("a file that comes later, or is replaced by another one, is followed from its beginning", async (t) => {
  const file = newLog(t);
  const next = steps(t, file, null);
  assert.deepEqual(await next(), []);
  writeFileSync(file, "a\n");
  assert.deepEqual(await next(), ["a"]);
  rmSync(file);
  assert.deepEqual(await next(), []);
  writeFileSync(`${file}.new`, "b\n");
  renameSync(`${file}.new`, file);
  assert.deepEqual(await next(), ["b"]);
});

test("nothing is missed or doubled while the real log turns over again and again", async (t) => {
  const file = newLog(t);
  const log = openLogFile({ file, maxBytes: 400, files: 3 });
  const next = steps(t, file, null);
  const seen: string[] = [];
  const wanted = Array.from({ length: 200 }, (_, n) => `line number ${n}`);
  for (const [n, line] of wanted.entries()) {
    log.write(`${line}\n`);
    if (n % 5 !== 0) continue;
    await log.flush();
    seen.push(...(await next()));
  }
  await log.flush();
  seen.push(...(await next()));
  assert.deepEqual(seen, wanted);
});
