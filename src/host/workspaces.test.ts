import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { listWorkspaces, makeWorkspace, markWorkspace, sizeOfFolder } from "./workspaces.ts";

function aRoot(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-workspaces-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "workspaces");
}

test("each person has one folder, for this user alone, and is listed with it", async (t) => {
  const root = aRoot(t);
  assert.deepEqual(await listWorkspaces(root), []);
  const made = async (person: string) => (await makeWorkspace(root, person)).folder;
  const [ann, bob] = [await made("telegram/bot/1"), await made("telegram/bot/2")];
  assert.notEqual(ann, bob);
  assert.equal(await made("telegram/bot/1"), ann);
  if (process.platform !== "win32") assert.equal(statSync(ann).mode & 0o777, 0o700);
  const listed = await listWorkspaces(root);
  assert.deepEqual(
    listed.map(({ person, folder }) => [person, folder]),
    [
      ["telegram/bot/1", ann],
      ["telegram/bot/2", bob],
    ],
  );
});

test("a damaged note is written again", async (t) => {
  const root = aRoot(t);
  const { folder } = await makeWorkspace(root, "irc/x/ann");
  writeFileSync(`${folder}.json`, '{"pers');
  assert.deepEqual(await listWorkspaces(root), []);
  await makeWorkspace(root, "irc/x/ann");
  assert.equal((await listWorkspaces(root))[0]?.person, "irc/x/ann");
});

test("the size counts files and follows no links", async (t) => {
  const root = aRoot(t);
  const { folder } = await makeWorkspace(root, "irc/x/ann");
  mkdirSync(join(folder, "a"));
  writeFileSync(join(folder, "a", "b"), "12345");
  writeFileSync(join(root, "large"), "x".repeat(1_000));
  symlinkSync(root, join(folder, "up"));
  assert.deepEqual(await sizeOfFolder(folder), { bytes: 5, isWhole: true });
  assert.equal((await sizeOfFolder(folder, 1)).isWhole, false);
  assert.deepEqual(await sizeOfFolder(join(folder, "none")), { bytes: 0, isWhole: true });
});

test("a mark stays until it is taken back, also when the configured folder changes", async (t) => {
  const root = aRoot(t);
  const { id, isMarked } = await makeWorkspace(root, "owner", join(root, "..", "one"));
  assert.equal(isMarked, false);
  await markWorkspace(root, id, true);
  for (const name of ["one", "two"])
    assert.equal((await makeWorkspace(root, "owner", join(root, "..", name))).isMarked, true, name);
  assert.equal((await markWorkspace(root, id, false))?.isMarked, false);
  assert.equal((await makeWorkspace(root, "owner", join(root, "..", "two"))).isMarked, false);
  assert.equal(await markWorkspace(root, "none", true), null);
});
