import assert from "node:assert/strict";
import { spawn } from "node:child_process";
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
    [`${"漢".repeat(90)}.pdf`, `${"漢".repeat(65)}.pdf`],
  ] as const) {
    const path = ann.path(blob, name);
    assert.equal(path, join(folder, "ann", `${blob.slice(0, 16)}.d`, expected));
    assert.equal(readFileSync(path, "utf8"), "hers");
  }
  assert.ok(ann.has(blob));
});

test("where a name cannot be created, the file is had under its digest", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-person-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const ann = personBlobs(openBlobs(join(folder, "files")), join(folder, "ann"));
  const { blob } = await ann.put(Buffer.from("hers"), { name: "x", mime: "text/plain" });
  const target = ann.path(blob);
  writeFileSync(`${target.slice(0, -48)}.d`, "a file where the folder of the name would be");
  assert.equal(ann.path(blob, "report.pdf"), target);
  assert.equal(readFileSync(target, "utf8"), "hers");
});

test("a folder that cannot be created is a fault", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-person-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "ann"), "no folder");
  const ann = personBlobs(openBlobs(join(folder, "files")), join(folder, "ann"));
  const { blob } = await ann.put(Buffer.from("hers"), { name: "x", mime: "text/plain" });
  assert.throws(() => ann.path(blob, "a.txt"), { name: "Fault", code: "store-failed" });
});

test("a copy that fails is a fault, also where its draft cannot be removed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-person-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const ann = personBlobs(openBlobs(join(folder, "files")), join(folder, "ann"));
  const { blob } = await ann.put(Buffer.from("hers"), { name: "x", mime: "text/plain" });
  const far = personBlobs({ ...ann, path: () => join(folder, "x".repeat(300)) }, join(folder, "bob"));
  mkdirSync(join(folder, "bob", `${blob}.tmp`), { recursive: true });
  assert.throws(() => far.path(blob), { name: "Fault", code: "store-failed" });
});

/** A second file system, where a file of the first cannot be linked. Where there is none, the file is linked, so it is whole. */
const elsewhere = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

test("where files cannot be linked, a copy has its name only when it is whole", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-person-"));
  const far = mkdtempSync(join(elsewhere, "everturn-person-"));
  t.after(() => [folder, far].map((one) => rmSync(one, { recursive: true, force: true })));
  const bytes = 48_000_000;
  const { blob } = await openBlobs(folder).put(Buffer.alloc(bytes, "x"), { name: "a", mime: "text/plain" });
  const code = `
    import { openBlobs } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
    import { personBlobs } from ${JSON.stringify(import.meta.resolve("./person.ts"))};
    personBlobs(openBlobs(${JSON.stringify(folder)}), ${JSON.stringify(far)}).path("${blob}");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  let exit: number | null | undefined;
  child.once("exit", (status) => (exit = status));
  const sizes = new Set<number | undefined>();
  while (exit === undefined) {
    for (let i = 0; i < 1_000; i++) sizes.add(statSync(join(far, blob), { throwIfNoEntry: false })?.size);
    await new Promise((done) => setImmediate(done));
  }
  assert.equal(exit, 0);
  sizes.add(statSync(join(far, blob)).size);
  assert.deepEqual(
    [...sizes].filter((size) => size !== undefined),
    [bytes],
    "no part of it was ever seen",
  );
  assert.deepEqual(readdirSync(far), [blob]);
});
