// Opens the file for one connection and refuses what would break the promise: network file systems, an SQLite with
// known WAL faults, files that are not ours, damaged or newer ones. Nothing refused here is ever written to.

import { statSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../core/fault.ts";
import { memory, patienceMs, pragma, prepareForWriting, toFault } from "./file/connect.ts";
import { applicationId, migrations } from "./schema.ts";

/** Older ones can corrupt a WAL that is reset while a reader is at its end (sqlite.org/wal.html, "WAL-reset bug"). */
const oldestSqlite = [3, 52, 0] as const;

/** By the magic number that statfs tells: where locks and flushes cannot be trusted, and where they depend on what is behind. */
const networkFileSystems: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0x517b: "SMB",
  0xff534d42: "CIFS",
  0xfe534d42: "SMB2",
};
const passedOnFileSystems: Readonly<Record<number, string>> = { 0x65735546: "FUSE", 0x01021997: "9p" };

export type FileSystemVerdict =
  | { readonly type: "fine" }
  | { readonly type: "network"; readonly name: string }
  | { readonly type: "passed-on"; readonly name: string };

export function judgeFileSystem(magic: number): FileSystemVerdict {
  const network = networkFileSystems[magic];
  if (network !== undefined) return { type: "network", name: network };
  const passedOn = passedOnFileSystems[magic];
  return passedOn === undefined ? { type: "fine" } : { type: "passed-on", name: passedOn };
}

/** What its owner should know about the place of a store; null when there is nothing. */
export function placeWarning(file: string): string | null {
  const verdict = judgeFileSystem(statfsSync(dirname(file)).type);
  if (verdict.type !== "passed-on") return null;
  return `${file} is on a ${verdict.name} file system: whether a power cut can lose messages depends on what is behind it`;
}

export type Access = "write" | "read";

export function openConnection(file: string, access: Access): DatabaseSync {
  if (file !== memory && access === "write") {
    refuseNetworkFileSystem(file);
    lookFirst(file);
  }
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(file, { readOnly: access === "read", timeout: patienceMs });
    refuseOldSqlite(db);
    refuseForeign(db, file);
    refuseNewer(db, file);
    if (access === "write") {
      prepareForWriting(db, file);
      migrate(db);
    }
    return db;
  } catch (error) {
    db?.close();
    throw error instanceof Fault ? error : toFault(error, file);
  }
}

/**
 * Through a connection that cannot write: closing one that can moves a log into the file, also into one that is not ours.
 * What such a connection cannot do (roll back what a dying writer left) is left to the next one.
 */
function lookFirst(file: string): void {
  if (sizeOf(file) === 0) return;
  try {
    openConnection(file, "read").close();
  } catch (error) {
    if (error instanceof Fault && error.code !== "store-failed") throw error;
  }
}

function migrate(db: DatabaseSync): void {
  const found = Number(pragma(db, "user_version"));
  for (const { version, sql } of migrations) {
    if (version <= found) continue;
    db.exec("BEGIN IMMEDIATE");
    try {
      db.exec(`${sql}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`);
      db.exec("COMMIT");
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }
}

function refuseNewer(db: DatabaseSync, file: string): void {
  const found = Number(pragma(db, "user_version"));
  const newest = migrations.at(-1)?.version ?? 0;
  if (found <= newest) return;
  throw new Fault(
    "store-newer",
    `${file} was written by a newer Everturn (schema ${found}, this version knows ${newest}). Install the newer version again, or restore a backup made before the upgrade.`,
  );
}

function refuseOldSqlite(db: DatabaseSync): void {
  const version = String(db.prepare("SELECT sqlite_version() AS v").get()?.["v"]);
  if (!isOldSqlite(version)) return;
  throw new Fault(
    "store-unsuitable",
    `This Node brings SQLite ${version}; ${oldestSqlite.join(".")} or newer is needed. Run Everturn with the Node it was installed with.`,
  );
}

export function isOldSqlite(version: string): boolean {
  const parts = version.split(".").map(Number);
  const differing = oldestSqlite.findIndex((oldest, i) => (parts[i] ?? 0) !== oldest);
  return differing !== -1 && (parts[differing] ?? 0) < (oldestSqlite[differing] ?? 0);
}

function refuseForeign(db: DatabaseSync, file: string): void {
  const pages = Number(pragma(db, "page_count"));
  if (pages === 0) {
    // SQLite takes a file of one byte for an empty one.
    if (file === memory || sizeOf(file) === 0) return;
    throw new Fault(
      "store-foreign",
      `${file} is damaged or not a database. It was not touched. Restore a backup, or move it away to start empty.`,
    );
  }
  if (Number(pragma(db, "application_id")) !== applicationId) {
    // A first start that was killed between making the file and filling it.
    if (db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined) return;
    throw new Fault(
      "store-foreign",
      `${file} is a database, but not one of Everturn's. It was not touched. Move it away, or set EVERTURN_HOME to another folder.`,
    );
  }
  if (file === memory || sizeOf(`${file}-wal`) > 0) return;
  const expected = pages * Number(pragma(db, "page_size"));
  if (sizeOf(file) < expected) {
    throw new Fault(
      "store-foreign",
      `${file} is cut short: ${sizeOf(file)} of ${expected} bytes are there. It was not touched. Restore a backup, or move it away to start empty.`,
    );
  }
}

function refuseNetworkFileSystem(file: string): void {
  const verdict = judgeFileSystem(statfsSync(dirname(file)).type);
  if (verdict.type !== "network") return;
  throw new Fault(
    "store-unsuitable",
    `${file} is on a network file system (${verdict.name}), where file locks and flushes cannot be trusted. Set EVERTURN_HOME to a folder on a local disk.`,
  );
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
