import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { emptyFolders, emptyKeepMs, personFolders, settingsFolder, tidyFolders, tmpKeepMs } from "./folders.ts";

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-folders-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("each person has folders of their own, and the same ones again", async (t) => {
  const all = aFolder(t);
  const [one, again, other] = [
    await personFolders(all, "a"),
    await personFolders(all, "a"),
    await personFolders(all, "b"),
  ];
  assert.deepEqual(one, again);
  assert.notEqual(one.home, other.home);
  assert.equal(one.removed, null);
});

test("old folders go, a home never, and nothing that a link leads to", async (t) => {
  const all = aFolder(t);
  const precious = join(all, "precious");
  writeFileSync(precious, "x");
  const [person, ended, running] = [await personFolders(all, "a"), await emptyFolders(all), await emptyFolders(all)];
  symlinkSync(precious, join(person.tmp, "link"));
  mkdirSync(join(person.home, ".cache"));
  const now = Date.now();
  const before = (ms: number) => new Date(now - ms - 60_000);
  utimesSync(person.tmp, before(tmpKeepMs), before(tmpKeepMs));
  utimesSync(ended.removed ?? "", before(emptyKeepMs), before(emptyKeepMs));
  await tidyFolders(all, now);
  assert.deepEqual(
    [person.tmp, ended.removed ?? "", running.removed ?? "", join(person.home, ".cache"), precious].map((path) =>
      existsSync(path),
    ),
    [false, false, true, true, true],
  );
});

test("settings are written once and never changed", async (t) => {
  const all = aFolder(t);
  const folders = await Promise.all([1, 2, 3].map(() => settingsFolder(all, { passwd: "a" })));
  assert.equal(new Set(folders).size, 1);
  assert.equal(readFileSync(join(folders[0] ?? "", "passwd"), "utf8"), "a");
  assert.notEqual(await settingsFolder(all, { passwd: "b" }), folders[0]);
});
