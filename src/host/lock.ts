// One gateway per home: a lock that the operating system holds and takes back when the process dies, however it dies. So
// there is no stale lock and no number in a file to believe. It is SQLite's own file lock, held by an open transaction
// that is never committed: the file stays empty and cannot be damaged.
// Trap: on POSIX, closing any descriptor of the file in this process drops the lock. Nothing may open it with `fs`.

import { DatabaseSync } from "node:sqlite";
import { Fault } from "../core/fault.ts";

export type Lock =
  | { readonly type: "held"; release(): void }
  /** Another process holds it, or this one does already. */
  | { readonly type: "taken" };

/** Answers at once; throws a Fault when the file cannot be used at all. */
export function acquireLock(path: string): Lock {
  const attempt = tryLock(path);
  const lock = attempt.take();
  if (lock.type === "taken") attempt.giveUp();
  return lock;
}

export type Attempt = {
  /** May be called again and again until it is held: a try costs some microseconds. */
  take(): Lock;
  /** Nobody waits for it any more. */
  giveUp(): void;
};

/** For who waits for another process to let go: the file is opened once, then only asked. */
export function tryLock(path: string): Attempt {
  const database = open(path);
  let isReady = false;
  const take = (): Lock => {
    try {
      if (!isReady) database.exec("PRAGMA locking_mode = EXCLUSIVE");
      // Reads the file, which a holder refuses.
      if (!isReady) database.exec("PRAGMA journal_mode = MEMORY");
      isReady = true;
      database.exec("BEGIN EXCLUSIVE");
    } catch (error) {
      if (isBusy(error)) return { type: "taken" };
      database.close();
      throw unusable(path, error);
    }
    return hold(database);
  };
  return { take, giveUp: () => database.close() };
}

function hold(database: DatabaseSync): Lock {
  // The database is closed when nothing refers to it any more; the process itself must, or the lock would go with it.
  const keep = () => release();
  let isHeld = true;
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    process.off("exit", keep);
    database.close();
  };
  process.once("exit", keep);
  return { type: "held", release };
}

function open(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw unusable(path, error);
  }
}

/** SQLITE_BUSY, with any detail in the upper bits. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === 5;
}

function unusable(path: string, error: unknown): Fault {
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) % 256 : null;
  const notADatabase = 26;
  if (code === notADatabase)
    return new Fault("home-unusable", `${path} is not the lock of a gateway; move it away and start again.`, error);
  const why = error instanceof Error ? error.message : String(error);
  const todo = "check that the folder exists, has room and belongs to this user";
  return new Fault("home-unusable", `The lock ${path} cannot be used (${why}); ${todo}.`, error);
}
