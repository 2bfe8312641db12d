// A connection that writes, and what its errors mean: all that the writer's thread needs to know. Whether the file may be
// written at all was found out before, in `open.ts`.

import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../../core/fault.ts";

export const memory = ":memory:";

/** For how long another connection is waited for. */
export const patienceMs = 5_000;

/** A further connection to a file that has been opened and prepared already. */
export function openFurther(file: string): DatabaseSync {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(file, { timeout: patienceMs });
    prepareForWriting(db, file);
    return db;
  } catch (error) {
    db?.close();
    throw error instanceof Fault ? error : toFault(error, file);
  }
}

export function prepareForWriting(db: DatabaseSync, file: string): void {
  const mode = pragma(db, "journal_mode = WAL");
  if (file !== memory && mode !== "wal") {
    throw new Fault(
      "store-unsuitable",
      `${file} cannot use a write-ahead log here (journal mode ${String(mode)}). Move the home folder to a local disk.`,
    );
  }
  // FULL: a commit is on the disk when it is acknowledged, also after a power cut. NORMAL would only survive a kill.
  db.exec(
    "PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1; PRAGMA wal_autocheckpoint = 4000",
  );
  if (pragma(db, "synchronous") !== 2) {
    throw new Fault(
      "store-unsuitable",
      `${file}: SQLite would not switch to synchronous=FULL, so a power cut could lose messages.`,
    );
  }
}

export function pragma(db: DatabaseSync, text: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}

/** SQLite's primary result code of an error; 0 when it is not one of SQLite's. */
function resultCode(error: unknown): number {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
}

/** A unique index said no: somebody else was there first (SQLITE_CONSTRAINT_UNIQUE and _PRIMARYKEY). */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (error.errcode === 2067 || error.errcode === 1555);
}

export function toFault(error: unknown, file: string): Fault {
  const text = error instanceof Error ? error.message : String(error);
  switch (resultCode(error)) {
    case 13:
      return new Fault(
        "store-full",
        `There is no room left on the disk of ${file}. Make room; Everturn goes on by itself.`,
        error,
      );
    case 11:
    case 26:
      return damaged(file, text, error);
    case 10:
      return isShortRead(error) ? damaged(file, "it is cut short", error) : failing(file, text, error);
    case 19:
      return new Fault("store-refused", `${file} refused a row (${text}). This is a mistake of ours.`, error);
    case 8:
    case 14:
      return new Fault(
        "store-failed",
        `${file} cannot be opened for writing (${text}). Check the owner and the permissions of the folder and the file.`,
        error,
      );
    default:
      return failing(file, text, error);
  }
}

/** Runs a read; what SQLite throws becomes a fault that says what to do. */
export function reading<T>(db: DatabaseSync, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw toFault(error, db.location() ?? memory);
  }
}

/** SQLITE_IOERR_SHORT_READ: a page that should be there lies beyond the end of the file. */
function isShortRead(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === 522;
}

function damaged(file: string, text: string, error: unknown): Fault {
  return new Fault(
    "store-foreign",
    `${file} is damaged or not a database (${text}). It was not touched. Restore a backup, or move it away to start empty.`,
    error,
  );
}

function failing(file: string, text: string, error: unknown): Fault {
  return new Fault(
    "store-failed",
    `${file} could not be written (${text}). Everturn keeps trying; check the disk.`,
    error,
  );
}
