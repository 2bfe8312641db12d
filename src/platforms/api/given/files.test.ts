import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openBlobs } from "../../../stores/blobs/index.ts";
import { give } from "./files.ts";

test("a file can be fetched under any name", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-given-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const blobs = openBlobs(folder);
  const { blob } = await blobs.put(Buffer.from("x"), { name: "x", mime: "text/plain" });
  for (const [name, expected] of [
    ["it's.txt", "it%27s.txt"],
    [`a${"🙂".repeat(150)}`, `a${"%F0%9F%99%82".repeat(99)}%EF%BF%BD`],
  ] as const) {
    const response = await give(blobs, blob, new URLSearchParams({ name }));
    assert.equal(await response.text(), "x");
    assert.equal(response.headers.get("content-disposition"), `attachment; filename*=UTF-8''${expected}`);
  }
});
