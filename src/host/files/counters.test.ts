// A file of restart counts left by an earlier gateway: what is believed of it, and that it can be removed.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { table } from "../../testing/table.ts";
import { readCounts } from "./counters.ts";

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "everturn-counts-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("S98 the counts are read, known again by their text, and gone once removed", async (t) => {
  const file = join(folder(t), ".restart_failure_counts");
  writeFileSync(file, '{"web/home/a": 3, "web/home/b": 1}');
  const found = await readCounts(file);
  assert.deepEqual(found?.counts, { "web/home/a": 3, "web/home/b": 1 });
  assert.equal((await readCounts(file))?.hash, found?.hash);
  writeFileSync(file, '{"web/home/a": 3, "web/home/b": 2}');
  assert.notEqual((await readCounts(file))?.hash, found?.hash);
  assert.equal(await found?.remove(), true);
  assert.equal(existsSync(file), false);
  assert.equal(await found?.remove(), true, "it is gone, whoever did it");
  assert.equal(await readCounts(file), null);
});

table(
  "what is believed",
  [
    { name: "nothing in it", text: "{}", gives: {} },
    {
      name: "what is no count is left out",
      text: '{"a":2,"b":"3","c":-1,"d":1.5,"e":null,"f":0,"g":1e99}',
      gives: { a: 2 },
    },
    {
      name: "a name that objects have anyway",
      text: '{"__proto__":3,"constructor":2}',
      gives: null,
      keys: ["__proto__", "constructor"],
    },
    { name: "a list", text: "[3]", gives: null },
    { name: "half a file", text: '{"a":', gives: null },
    { name: "an empty file", text: "", gives: null },
    { name: "a word", text: "null", gives: null },
    { name: "far too much", text: `{"a":3${" ".repeat(1_100_000)}}`, gives: null },
  ] as readonly { name: string; text: string; gives: Record<string, number> | null; keys?: readonly string[] }[],
  async ({ text, gives, keys }) => {
    const made = mkdtempSync(join(tmpdir(), "everturn-counts-"));
    const file = join(made, "counts");
    writeFileSync(file, text);
    const found = await readCounts(file);
    rmSync(made, { recursive: true, force: true });
    if (keys === undefined) assert.deepEqual(found === null ? null : { ...found.counts }, gives);
    else assert.deepEqual(Object.keys(found?.counts ?? {}), keys);
  },
);

test("a folder in its place is no file", async (t) => {
  const place = join(folder(t), "counts");
  mkdirSync(place);
  assert.equal(await readCounts(place), null);
});

test("a pipe in its place is no file, and is not waited for", async (t) => {
  // Windows knows no pipes in folders.
  if (process.platform === "win32") return;
  const place = join(folder(t), "counts");
  execFileSync("mkfifo", [place]);
  assert.equal(await readCounts(place), null);
});

test("S98 a file that cannot be removed says so", async (t) => {
  const file = join(folder(t), "counts");
  writeFileSync(file, '{"a":1}');
  const found = await readCounts(file);
  rmSync(file);
  mkdirSync(file);
  writeFileSync(join(file, "in the way"), "");
  assert.equal(await found?.remove(), false);
});
