// The folders that are /tmp in a sandbox.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { keepMs, openScratch, tidyScratch } from "./scratch.ts";

test("one for each conversation, closed to others, and removed when it was long not used", async (t) => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "everturn-scratch-")));
  t.after(() => rmSync(home, { recursive: true }));
  const now = 1_800_000_000_000;
  const scratch = openScratch(home, () => now);
  const [one, same, other] = [
    await scratch.folderFor("web/main/c1"),
    await scratch.folderFor("web/main/c1"),
    await scratch.folderFor("web/main/../c2"),
  ];
  assert.equal(one, same);
  assert.notEqual(one, other);
  for (const folder of [one, other]) {
    assert.equal(join(folder, ".."), join(home, "tmp"));
    if (process.platform !== "win32") assert.equal(statSync(folder).mode & 0o777, 0o700);
  }
  writeFileSync(join(one, "kept"), "x");
  writeFileSync(join(other, "old"), "x");
  const old = (now - keepMs) / 1_000 - 1;
  for (const folder of [one, other]) utimesSync(folder, old, old);
  // Whoever uses it keeps it, even where nothing in it changes.
  await scratch.folderFor("web/main/c1");
  await tidyScratch(join(home, "tmp"), now);
  assert.deepEqual([existsSync(join(one, "kept")), existsSync(other)], [true, false]);
});
