// What the writing connection does besides commits: lives of the process, the search index, the end. Each order is one
// short transaction of its own.

import type { DatabaseSync } from "node:sqlite";
import type { Boot } from "../../core/recovery.ts";

export type Order =
  | { readonly type: "open-boot"; readonly boot: Boot }
  | { readonly type: "beat"; readonly boot: string; readonly at: number }
  /** Adds the next messages to the search index; answers how many. */
  | { readonly type: "index"; readonly limit: number }
  | { readonly type: "checkpoint" };

export function obey(db: DatabaseSync, order: Order): number {
  switch (order.type) {
    case "open-boot":
      return inTransaction(db, () => openBoot(db, order.boot));
    case "beat":
      return Number(
        db.prepare("UPDATE boots SET beat_at = ? WHERE id = ? AND live = 1").run(order.at, order.boot).changes,
      );
    case "index":
      return inTransaction(db, () => indexMessages(db, order.limit));
    case "checkpoint":
      db.exec("PRAGMA wal_checkpoint(PASSIVE)");
      return 0;
  }
}

/** One live boot at a time: the caller holds the operating system's lock, so the others are dead. */
function openBoot(db: DatabaseSync, boot: Boot): number {
  const { id, startedAt, beatAt, pid, host, machine, version, config } = boot;
  db.exec("UPDATE boots SET live = 0 WHERE live = 1");
  const insert = db.prepare("INSERT INTO boots(id, live, started_at, beat_at, facts) VALUES (?, 1, ?, ?, ?)");
  return Number(insert.run(id, startedAt, beatAt, JSON.stringify({ pid, host, machine, version, config })).changes);
}

function indexMessages(db: DatabaseSync, limit: number): number {
  const from = Number(db.prepare("SELECT value FROM facts WHERE name = 'searched'").get()?.["value"]);
  const to = db
    .prepare("SELECT max(n) AS n, count(*) AS count FROM (SELECT n FROM messages WHERE n > ? ORDER BY n LIMIT ?)")
    .get(from, limit);
  const count = Number(to?.["count"]);
  if (count === 0) return 0;
  const last = Number(to?.["n"]);
  db.prepare("INSERT INTO search(rowid, text) SELECT n, text FROM messages WHERE n > ? AND n <= ?").run(from, last);
  db.prepare("UPDATE facts SET value = ? WHERE name = 'searched'").run(String(last));
  return count;
}

function inTransaction(db: DatabaseSync, work: () => number): number {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
