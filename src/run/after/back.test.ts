// The note of a restart: told to the homes once, removed only when that is stored, and harmless whatever is in it.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Fault } from "../../core/fault.ts";
import { tellHomes } from "./back.ts";

const homes = [
  { platform: "telegram", account: "bot", chat: "12" },
  { platform: "irc", account: "me", chat: "#ops" },
];
const world = { log: () => undefined };

function noteOf(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-back-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, ".restart_pending.json");
  writeFileSync(file, text);
  return file;
}

test("every home is told, each under a key of its own that names the restart, and the note goes", async (t) => {
  const file = noteOf(t, '{"restart":"b1","by":"cli"}');
  const posted: string[] = [];
  const post = async (to: { platform: string }, text: string, key: string) => {
    assert.ok(existsSync(file), "it is still there while anything may fail");
    posted.push(`${to.platform} ${key} ${text}`);
    return "posted" as const;
  };
  await tellHomes(file, homes, { post }, world);
  assert.equal(posted.length, 2);
  assert.match(posted[0] ?? "", /^telegram \S*b1\S* Restarted/);
  assert.notEqual(posted[0]?.split(" ")[1], posted[1]?.split(" ")[1]);
  assert.equal(existsSync(file), false);
  await tellHomes(file, homes, { post }, world);
  assert.equal(posted.length, 2);
});

test("what cannot be stored leaves the note for the next start", async (t) => {
  const file = noteOf(t, '{"restart":"b1"}');
  const post = () => Promise.reject(new Fault("store-full", "no room"));
  await tellHomes(file, homes, { post }, world);
  assert.ok(existsSync(file));
});

for (const text of ["", "{", "[]", '{"restart":5}', '{"restart":"a b/../c"}'])
  test(`a note that says nothing is removed: ${text || "empty"}`, async (t) => {
    const file = noteOf(t, text);
    await tellHomes(file, homes, { post: () => assert.fail("nothing is told") }, world);
    assert.equal(existsSync(file), false);
  });
