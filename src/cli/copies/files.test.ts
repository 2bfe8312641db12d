// Files out of a home and into another: whole, checked, and nothing in their way replaced.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openBlobs } from "../../stores/blobs/index.ts";
import { copiedText, copyIn, copyOut, lackingIn, lackingText } from "./files.ts";

async function home(t: TestContext, ...texts: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "everturn-copies-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const files = join(folder, "files");
  const blobs = openBlobs(files);
  const digests: string[] = [];
  for (const text of texts) {
    digests.push((await blobs.put(new TextEncoder().encode(text), { name: "a", mime: "text/plain" })).blob);
  }
  return { folder, files, blobs, digests };
}

const textOf = async (blobs: ReturnType<typeof openBlobs>, blob: string) =>
  new TextDecoder().decode(await blobs.read(blob));

test("files go out with a list that other programs can check, and come in as they were", async (t) => {
  const { folder, files, digests } = await home(t, "one", "two");
  writeFileSync(join(files, "half.tmp"), "not whole yet");
  const backup = join(folder, "copy.db.files");
  const out = await copyOut(files, backup);
  assert.deepEqual(out, { folder: backup, files: 2, bytes: 6, damaged: [], missing: [] });
  if (process.platform === "linux")
    assert.match(
      execFileSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: backup, encoding: "utf8" }),
      /^(?:\S+: OK\n){2}$/,
    );
  assert.deepEqual(readdirSync(folder).toSorted(), ["copy.db.files", "files"], "no draft is left");

  const other = await home(t, "two", "three");
  const into = await copyIn(backup, other.files);
  assert.partialDeepStrictEqual(into, { files: 2, bytes: 3, damaged: [], missing: [] });
  for (const [i, text] of ["one", "two"].entries()) assert.equal(await textOf(other.blobs, digests[i] ?? ""), text);
  assert.equal(await textOf(other.blobs, other.digests[1] ?? ""), "three");
  if (process.platform !== "win32") assert.equal(statSync(other.blobs.path(digests[0] ?? "")).mode & 0o777, 0o600);
});

test("what is damaged or missing is named and left out; the rest comes along", async (t) => {
  const { folder, files, blobs, digests } = await home(t, "one", "two", "three");
  const [one = "", two = "", three = ""] = digests;
  writeFileSync(blobs.path(one), "onX");
  const backup = join(folder, "copy.db.files");
  const out = await copyOut(files, backup);
  assert.partialDeepStrictEqual(out, { files: 2, damaged: [one] });
  assert.ok(copiedText(out).some((line) => line.includes(`Warning: file ${one} is damaged`)));

  rmSync(join(backup, two.slice(0, 2), two));
  const other = await home(t);
  mkdirSync(join(other.files, three.slice(0, 2)), { recursive: true });
  writeFileSync(other.blobs.path(three), "broken here");
  const into = await copyIn(backup, other.files);
  assert.partialDeepStrictEqual(into, { files: 1, damaged: [], missing: [two] });
  assert.ok(copiedText(into).some((line) => line.includes(`Warning: file ${two} is missing`)));
  assert.equal(readFileSync(other.blobs.path(three), "utf8"), "three", "what was broken is whole again");
});

test("without files nothing is made and nothing is said", async (t) => {
  const { folder, files } = await home(t);
  const none = { folder: null, files: 0, bytes: 0, damaged: [], missing: [] };
  assert.deepEqual(await copyOut(files, join(folder, "copy.files")), none);
  assert.deepEqual(await copyIn(join(folder, "copy.files"), files), none);
  assert.deepEqual(copiedText(none), []);
  assert.equal(existsSync(join(folder, "copy.files")), false);
});

test("what a store names and nobody brought is counted, and the first of it is named", async (t) => {
  const { files, digests } = await home(t, "one");
  const none = { folder: null, files: 0, bytes: 0, damaged: ["d"], missing: ["m"] };
  const named = (blob: string) => ({ blob, name: `${blob}\u001B.txt` });
  const here = [digests[0] ?? "", "d", "m"].map(named);
  assert.deepEqual(await lackingIn(files, here, none), { count: 0, names: [] });
  assert.deepEqual(lackingText({ count: 0, names: [] }, "f"), []);
  const many = Array.from({ length: 12 }, (_, i) => named(`x${i}`));
  const lacking = await lackingIn(files, [...here, ...many], none);
  assert.equal(lacking.count, 12);
  assert.equal(lacking.names.length, 10);
  const [text = ""] = lackingText(lacking, "copy.db.files");
  assert.match(text, /^Warning: 12 files .* are not here: x0\.txt, x1\.txt, .*x9\.txt and 2 more\. .*copy\.db\.files/);
  assert.deepEqual(await lackingIn(`${files}-none`, many.slice(0, 1), none), { count: 1, names: ["x0\u001B.txt"] });
});
