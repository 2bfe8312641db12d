// Replacing a file as a whole: nobody but the owner reads it, nothing is left of a failure, and Windows gets its time.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { moveInto, replaceFile, replaceFileNow } from "./draft.ts";

test("the new text is there as a whole, for the owner only; what cannot be written leaves no draft", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "everturn-draft-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, "a.json");
  await replaceFile(file, "one");
  replaceFileNow(file, "two");
  assert.equal(readFileSync(file, "utf8"), "two");
  if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
  const wrong = { code: "home-unusable", message: /could not be written .*check that the folder/ };
  await assert.rejects(replaceFile(home, "x"), wrong);
  assert.throws(() => replaceFileNow(home, "x"), wrong);
  assert.deepEqual(readdirSync(home), ["a.json"]);
});

test("a file that somebody has open is replaced a moment later on Windows; elsewhere a refusal is final", async () => {
  const refusing = (code: string, times: number) => {
    const seen: string[] = [];
    const move = async () => {
      seen.push("move");
      if (seen.filter((one) => one === "move").length <= times) throw Object.assign(new Error(code), { code });
    };
    return { seen, parts: { move, wait: async (ms: number) => void seen.push(`wait ${ms}`) } };
  };
  for (const code of ["EPERM", "EACCES", "EBUSY"]) {
    const { seen, parts } = refusing(code, 2);
    await moveInto("draft", "file", "win32", parts);
    assert.deepEqual(seen, ["move", "wait 10", "move", "wait 10", "move"]);
    await assert.rejects(moveInto("draft", "file", "linux", refusing(code, 1).parts), { code });
  }
  const never = refusing("EPERM", Number.POSITIVE_INFINITY);
  await assert.rejects(moveInto("draft", "file", "win32", never.parts), { code: "EPERM" });
  assert.equal(never.seen.filter((one) => one === "move").length, 20);
  await assert.rejects(moveInto("draft", "file", "win32", refusing("ENOSPC", 1).parts), { code: "ENOSPC" });
});
