import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { asNobody } from "../../../test/fakes/room.ts";
import { turnId } from "../../testing/samples.ts";
import { openBlobs } from "./index.ts";

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-blobs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "files");
}

const text = Buffer.from("hello");
const digest = createHash("sha256").update(text).digest("hex");
const as = { name: "a.txt", mime: "text/plain" };

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ name }) => name);
}

async function* pieces(...all: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const one of all) {
    if (one instanceof Error) throw one;
    yield Buffer.from(one);
  }
}

describe("blobs", () => {
  test("what was put is read back, by another one too", async (t) => {
    const folder = aFolder(t);
    const ref = await openBlobs(folder).put(text, as);
    assert.deepEqual(ref, { ...as, blob: digest, bytes: 5 });
    assert.deepEqual(Buffer.from(await openBlobs(folder).read(ref.blob)), text);
    assert.deepEqual(readFileSync(openBlobs(folder).path(ref.blob)), text);
  });

  test("the same bytes are kept once, however they come", async (t) => {
    const folder = aFolder(t);
    const blobs = openBlobs(folder);
    const refs = await Promise.all([
      blobs.put(text, as),
      blobs.put(pieces("he", "", "llo"), { name: "b", mime: "x/y" }),
      blobs.put(text, as),
    ]);
    assert.deepEqual(new Set(refs.map(({ blob }) => blob)), new Set([digest]));
    assert.deepEqual(filesIn(folder), [digest]);
    const empty = await blobs.put(new Uint8Array(), as);
    assert.equal(empty.bytes, 0);
    assert.equal((await blobs.read(empty.blob)).length, 0);
  });

  test("for the owner only", async (t) => {
    const folder = aFolder(t);
    const blobs = openBlobs(folder);
    const { blob } = await blobs.put(text, as);
    assert.deepEqual([statSync(folder).mode & 0o777, statSync(blobs.path(blob)).mode & 0o777], [0o700, 0o600]);
  });

  test("not more than may be, and nothing of it stays", async (t) => {
    const folder = aFolder(t);
    const blobs = openBlobs(folder, { bytesMax: 4, turnBytesMax: 100 });
    for (const content of [text, pieces("he", "llo")])
      await assert.rejects(blobs.put(content, as), { name: "Fault", code: "too-large", message: /at most 4 bytes/ });
    assert.deepEqual(filesIn(folder), []);
    assert.equal((await blobs.put(Buffer.from("four"), as)).bytes, 4);
  });

  test("all that the tools of one turn keep has a bound of its own; what people send has not", async (t) => {
    const folder = aFolder(t);
    const blobs = openBlobs(folder, { bytesMax: 4, turnBytesMax: 10 });
    const [one, other] = [turnId("t1"), turnId("t2")];
    const full = { name: "Fault", code: "too-large", message: /files of one turn .* at most 10 bytes together/ };
    for (const words of ["abcd", "efgh"]) await blobs.put(Buffer.from(words), { ...as, turn: one });
    for (const content of [Buffer.from("ijkl"), pieces("i", "jkl")])
      await assert.rejects(blobs.put(content, { ...as, turn: one }), full);
    assert.equal(filesIn(folder).length, 2, "nothing of it stays");
    await blobs.put(Buffer.from("mn"), { ...as, turn: one });
    await blobs.put(Buffer.from("ijkl"), { ...as, turn: other });
    for (const words of ["1234", "5678", "90ab"]) await blobs.put(Buffer.from(words), as);
    await assert.rejects(blobs.put(Buffer.from("o"), { ...as, turn: one }), full);
  });

  test("a sender that fails leaves nothing, and is told its own failure", async (t) => {
    const folder = aFolder(t);
    const gone = new Error("the sender is gone");
    await assert.rejects(openBlobs(folder).put(pieces("he", gone), as), gone);
    assert.deepEqual(filesIn(folder), []);
  });

  for (const name of [
    "",
    ".",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    digest.toUpperCase(),
    `${digest}0`,
    `${digest}\0`,
    "a".repeat(63),
  ]) {
    test(`no name leads elsewhere: ${JSON.stringify(name).slice(0, 30)}`, async (t) => {
      const blobs = openBlobs(aFolder(t));
      await blobs.put(text, as);
      assert.throws(() => blobs.path(name), { name: "Fault", code: "not-found" });
      await assert.rejects(async () => blobs.read(name), { name: "Fault", code: "not-found" });
    });
  }

  test("what is missing and what is damaged is told apart, and mended by the same content", async (t) => {
    const blobs = openBlobs(aFolder(t));
    await assert.rejects(blobs.read(digest), { name: "Fault", code: "not-found", message: /no stored file/ });
    await blobs.put(text, as);
    writeFileSync(blobs.path(digest), "jello");
    await assert.rejects(blobs.read(digest), { name: "Fault", code: "store-failed", message: /is damaged/ });
    await blobs.put(text, as);
    assert.deepEqual(Buffer.from(await blobs.read(digest)), text);
  });

  test("what a death left half written goes a day later, not sooner", async (t) => {
    const folder = aFolder(t);
    await openBlobs(folder).put(text, as);
    for (const name of ["old.tmp", "new.tmp"]) writeFileSync(join(folder, name), "half");
    utimesSync(join(folder, "old.tmp"), 1, 1);
    await openBlobs(folder).put(text, as);
    assert.deepEqual(filesIn(folder).toSorted(), [digest, "new.tmp"].toSorted());
  });

  test("a folder that may not be used is told", async (t) => {
    const folder = aFolder(t);
    chmodSync(join(folder, ".."), 0o555);
    await asNobody(() =>
      assert.rejects(openBlobs(folder).put(text, as), {
        name: "Fault",
        code: "store-failed",
        message: /belongs to this user/,
      }),
    );
  });

  const names: readonly (readonly [given: string, kept: string])[] = [
    ["a b.txt", "a b.txt"],
    ["../../x", "x"],
    ["C:\\x\\y.txt", "y.txt"],
    ["", "file"],
    ["..", "file"],
    ["a\u0000\n\u202eb", "a___b"],
    ['<a href="x">', "_a href=_x__"],
    [`${"x".repeat(300)}.txt`, `${"x".repeat(180)}${"x".repeat(16)}.txt`],
    ["grüße 🙂.txt", "grüße 🙂.txt"],
    [`${"漢".repeat(90)}.pdf`, `${"漢".repeat(65)}.pdf`],
    ["я".repeat(128), "я".repeat(100)],
    [`a${"🙂".repeat(100)}.png`, `a${"🙂".repeat(48)}.png`],
    [`a.${"x".repeat(300)}`, `a.${"x".repeat(198)}`],
    [`${"я".repeat(200)}.tar.gz`, `${"я".repeat(96)}.tar.gz`],
    [`${"x ".repeat(98)}yyyyyyyy.txt`, `${"x ".repeat(98).trimEnd()}.txt`],
    [`.${"я".repeat(200)}`, `.${"я".repeat(99)}`],
  ];
  for (const [given, kept] of names) {
    test(`a name that can be shown and saved: ${JSON.stringify(given).slice(0, 30)}`, async (t) => {
      assert.equal((await openBlobs(aFolder(t)).put(text, { ...as, name: given })).name, kept);
    });
  }

  test("a kind is a kind", async (t) => {
    const blobs = openBlobs(aFolder(t));
    const kept = async (mime: string): Promise<string> => (await blobs.put(text, { name: "a", mime })).mime;
    assert.equal(await kept("Text/Plain; charset=utf-8"), "text/plain");
    for (const wrong of ["", "x", "text/html\r\nx: y", "a/b/c"])
      assert.equal(await kept(wrong), "application/octet-stream");
  });

  test("killed at any moment, there is all of it or nothing", { timeout: 300_000 }, async (t) => {
    const folder = aFolder(t);
    const code = `
      import { openBlobs } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
      const blobs = openBlobs(${JSON.stringify(folder)});
      for (let n = 0; ; n++) {
        const { blob } = await blobs.put(Buffer.alloc(200_000, String(n)), { name: "a", mime: "a/b" });
        process.stdout.write(blob + "\\n");
      }`;
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let told = "";
      child.stdout.setEncoding("utf8").on("data", (piece: string) => {
        told += piece;
        if (told.length > 65 * (round + 1)) child.kill("SIGKILL");
      });
      await once(child, "close");
      const blobs = openBlobs(folder);
      for (const blob of told.split("\n").slice(0, -1)) assert.equal((await blobs.read(blob)).length, 200_000);
      for (const name of filesIn(folder).filter((one) => !one.endsWith(".tmp"))) await blobs.read(name);
    }
  });
});
