import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openBlobs } from "./index.ts";
import { personBlobs } from "./person.ts";

test("a person's folder holds the files of their own conversations and no others", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-person-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const all = openBlobs(join(folder, "files"));
  const [ann, bob] = ["ann", "bob"].map((name) => personBlobs(all, join(folder, name)));
  assert.ok(ann && bob);
  const as = { name: "a.txt", mime: "text/plain" };
  const [hers, his] = [await ann.put(Buffer.from("hers"), as), await bob.put(Buffer.from("his"), as)];
  assert.equal(readFileSync(ann.path(hers.blob), "utf8"), "hers");
  assert.equal(ann.path(hers.blob), ann.path(hers.blob), "the same each time");
  bob.path(his.blob);
  assert.deepEqual(readdirSync(join(folder, "ann")), [hers.blob]);
  assert.deepEqual(readdirSync(join(folder, "bob")), [his.blob]);
  assert.deepEqual(
    [ann.has(hers.blob), ann.has(his.blob), ann.has("../bob"), ann.has("")],
    [true, false, false, false],
  );
  assert.throws(() => ann.path("../bob"), { name: "Fault", code: "not-found" });
  const lost = "0".repeat(64);
  assert.equal(ann.path(lost), join(folder, "ann", lost), "reading it says that it is missing");
});

test("a file can be had under its name, which cannot lead out of the folder", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-person-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const ann = personBlobs(openBlobs(join(folder, "files")), join(folder, "ann"));
  const { blob } = await ann.put(Buffer.from("hers"), { name: "x", mime: "text/plain" });
  for (const [name, expected] of [
    ["my report.pdf", "my report.pdf"],
    ["../../etc/passwd", "passwd"],
    ["..", "file"],
    ["a\u0000b.png", "a_b.png"],
  ] as const) {
    const path = ann.path(blob, name);
    assert.equal(path, join(folder, "ann", `${blob.slice(0, 16)}.d`, expected));
    assert.equal(readFileSync(path, "utf8"), "hers");
  }
  assert.ok(ann.has(blob));
});
