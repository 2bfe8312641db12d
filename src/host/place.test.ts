// Homes that can never be one, and what is said about them.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { table } from "../testing/table.ts";
import { checkGround, judgeGround } from "./place.ts";

table(
  "the ground of a home",
  [
    { name: "a folder on a disk", ground: { path: "/a/b", isFolder: true, magic: 0xef53 }, says: null },
    { name: "not made yet, in a folder", ground: { path: "/a", isFolder: true, magic: 0x58465342 }, says: null },
    {
      name: "a file",
      ground: { path: "/a/b", isFolder: false, magic: 0xef53 },
      says: /\/a\/b is a file, not a folder/,
    },
    { name: "below a file", ground: { path: "/a", isFolder: false, magic: 0xef53 }, says: /because \/a is a file/ },
    { name: "below proc", ground: { path: "/a", isFolder: true, magic: 0x9fa0 }, says: /a proc file system/ },
    {
      name: "somebody else's",
      ground: { path: "/a/b", isFolder: true, magic: 0xef53, closed: "others" as const },
      says: /\/a\/b belongs to another user.*as its owner/,
    },
    { name: "below sys", ground: { path: "/a", isFolder: true, magic: 0x62656572 }, says: /a sysfs file system/ },
  ],
  ({ ground, says }) => {
    const fault = judgeGround("/a/b", ground);
    if (says === null) return assert.equal(fault, null);
    assert.equal(fault?.code, "home-unusable");
    assert.match(fault.message, says);
    assert.match(fault.message, /[Ss]et EVERTURN_HOME/);
  },
);

test("one that its owner has closed is told how to open it", () => {
  const fault = judgeGround("/a/b", { path: "/a/b", isFolder: true, magic: 0xef53, closed: "own" });
  assert.match(fault?.message ?? "", /closed even to its owner\. Open it: `chmod 700 \/a\/b`/);
});

test("the nearest thing that exists decides", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-place-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "file"), "");
  checkGround(folder);
  checkGround(join(folder, "not", "there", "yet"));
  assert.throws(() => checkGround(join(folder, "file")), { code: "home-unusable", message: /is a file, not a folder/ });
  assert.throws(() => checkGround(join(folder, "file", "x", "y")), { message: /because .*file is a file/ });
  if (process.platform !== "linux") return;
  for (const home of ["/proc", "/proc/nobody", "/proc/self/x", "/sys/x"])
    assert.throws(() => checkGround(home), { code: "home-unusable", message: /which the kernel makes up/ }, home);
});
