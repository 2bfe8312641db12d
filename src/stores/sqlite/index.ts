// The embedded store: one SQLite file, a writing connection behind a desk, a reading connection on the main thread.
// A committed change is on the disk when its promise resolves.

import type { Change } from "../../core/change.ts";
import type { BootId, Instant } from "../../core/ids.ts";
import type { Boot } from "../../core/recovery.ts";
import type { Archive, Store } from "../../ports/store.ts";
import { archiveReads } from "./archive.ts";
import { memory, reading } from "./file/connect.ts";
import { type Named, namedFiles } from "./file/named.ts";
import { type Desk, openInlineDesk, openThreadDesk } from "./desk.ts";
import { openConnection, placeWarning } from "./open.ts";
import { engineReads } from "./queries.ts";
import { migrations } from "./schema.ts";
import { toRow } from "./statements.ts";

export type SqliteOptions = {
  /** A path, or ":memory:" with an inline writer. */
  readonly file: string;
  /** `thread`: the product. `inline`: the simulator, which owns time. */
  readonly writer: "thread" | "inline";
};

export type SqliteStore = Store & Archive;

export async function openSqliteStore({ file, writer }: SqliteOptions): Promise<SqliteStore> {
  const db = openConnection(file, "write");
  return assemble(db, writer === "inline" ? openInlineDesk(db, file) : openThreadDesk(db, file));
}

/** Only looking: for commands that work beside a running gateway, or without one. */
export function openSqliteArchive(file: string): Archive & { close(): void } {
  const db = openConnection(file, "read");
  return { ...archiveReads(db, null), close: () => db.close() };
}

/** Reads a copy from end to end; the answer is null when it is whole, else what is wrong with it. */
export function verifySqliteCopy(file: string): string | null {
  const found = ask(file, "integrity_check(1)");
  return found === "ok" ? null : String(found);
}

/** The files that a copy names; their contents are not in it. */
export function filesNamedIn(file: string): readonly Named[] {
  const db = openConnection(file, "read");
  try {
    return namedFiles(db);
  } finally {
    db.close();
  }
}

/** A quick look at the whole file; null when nothing is wrong with it. */
export function inspectSqlite(file: string): string | null {
  const found = ask(file, "quick_check(1)");
  return found === "ok" ? null : String(found);
}

/** Which tables a file has, and which this version would make. */
export function inspectSchema(file: string): { readonly schema: number; readonly newest: number } {
  return { schema: Number(ask(file, "user_version")), newest: migrations.at(-1)?.version ?? 0 };
}

function ask(file: string, pragma: string): unknown {
  const db = openConnection(file, "read");
  try {
    return reading(db, () => Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
  } finally {
    db.close();
  }
}

function assemble(db: ReturnType<typeof openConnection>, desk: Desk): SqliteStore {
  return {
    ...engineReads(db),
    ...archiveReads(db, desk),
    commit: (changes: readonly Change[], by: BootId) => desk.commit({ by, rows: changes.map(toRow) }),
    openBoot: async (boot: Boot) => ((await desk.order({ type: "open-boot", boot })) === 1 ? "opened" : "refused"),
    beat: async (boot: BootId, at: Instant) =>
      (await desk.order({ type: "beat", boot, at })) === 1 ? "alive" : "fenced",
    async close() {
      await desk.close();
      db.close();
    },
  };
}

export { memory, placeWarning };
