// Where a store may lie and with which SQLite. Files that are refused are met in test/process with the whole program.

import assert from "node:assert/strict";
import { test } from "node:test";
import { memory } from "./file/connect.ts";
import { type FileSystemVerdict, isOldSqlite, judgeFileSystem, openConnection } from "./open.ts";

const places: readonly { name: string; magic: number; gives: FileSystemVerdict }[] = [
  { name: "ext4", magic: 0xef53, gives: { type: "fine" } },
  { name: "tmpfs", magic: 0x01021994, gives: { type: "fine" } },
  { name: "NFS", magic: 0x6969, gives: { type: "network", name: "NFS" } },
  { name: "SMB", magic: 0x517b, gives: { type: "network", name: "SMB" } },
  { name: "CIFS", magic: 0xff534d42, gives: { type: "network", name: "CIFS" } },
  { name: "SMB2", magic: 0xfe534d42, gives: { type: "network", name: "SMB2" } },
  { name: "FUSE, virtiofs", magic: 0x65735546, gives: { type: "passed-on", name: "FUSE" } },
  { name: "9p", magic: 0x01021997, gives: { type: "passed-on", name: "9p" } },
];

for (const { name, magic, gives } of places) {
  test(`${name} is ${gives.type}`, () => assert.deepEqual(judgeFileSystem(magic), gives));
}

const versions: readonly [version: string, old: boolean][] = [
  ["3.51.9", true],
  ["2.99.99", true],
  ["3.52.0", false],
  ["3.53.4", false],
  ["3.53", false],
  ["4.0.0", false],
];

for (const [version, old] of versions) {
  test(`SQLite ${version} is ${old ? "too old" : "new enough"}`, () => assert.equal(isOldSqlite(version), old));
}

test("a writing connection flushes every commit to the disk", () => {
  const db = openConnection(memory, "write");
  assert.deepEqual({ ...db.prepare("PRAGMA synchronous").get() }, { synchronous: 2 });
  db.close();
});
