// Runs commits against a connection: all of a batch in one transaction, so that they share one flush to the disk. A
// commit that is refused or fails never takes its neighbours with it. Used by the writer thread and, inline, by tests.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { CommitResult } from "../../core/change.ts";
import { isTaken } from "./file/connect.ts";
import { type Row, expectOf, sqlOf, statementNames } from "./statements.ts";

export type Commit = { readonly by: string; readonly rows: readonly Row[] };
/** An error object when the disk refused. */
export type Outcome = CommitResult | Error;

type Applied = { readonly result: CommitResult; readonly written: boolean };

export type Applier = (batch: readonly Commit[]) => readonly Outcome[];

export function applier(db: DatabaseSync): Applier {
  // Compiled at first use: a start needs only a few of them.
  const statements: ({ readonly run: StatementSync; readonly expect: ReturnType<typeof expectOf> } | undefined)[] = [];

  function statementOf(number: number) {
    const name = statementNames[number];
    if (name === undefined) throw new Error(`no statement ${number}`);
    return (statements[number] ??= { run: db.prepare(sqlOf(name)), expect: expectOf(name) });
  }

  const liveBoot = db.prepare("SELECT 1 FROM boots WHERE id = ? AND live = 1");
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");

  /** `live` remembers the boots found alive in this transaction. */
  function applyOne({ by, rows }: Commit, live: Set<string>): Applied {
    if (!live.has(by) && liveBoot.get(by) === undefined) return { result: "fenced", written: false };
    live.add(by);
    let written = false;
    for (const [number, ...parameters] of rows) {
      const statement = statements[number] ?? statementOf(number);
      if (statement.expect === "check") {
        const result = checkTurn(statement.run, parameters);
        if (result !== "committed") return { result, written };
        continue;
      }
      const { changes } = statement.run.run(...parameters);
      if (changes === 1) written = true;
      else if (statement.expect === "new") return { result: "duplicate", written };
      else if (statement.expect === "one") return { result: "conflict", written };
    }
    return { result: "committed", written };
  }

  /** One commit in a transaction of its own: the slow way, taken when a batch could not go through as a whole. */
  function applyAlone(one: Commit): Outcome {
    try {
      begin.run();
      const { result } = applyOne(one, new Set());
      if (result === "committed") commit.run();
      else db.exec("ROLLBACK");
      return result;
    } catch (error) {
      return afterFailure(error);
    }
  }

  function afterFailure(error: unknown): Outcome {
    if (db.isTransaction) db.exec("ROLLBACK");
    if (isTaken(error)) return "conflict";
    return error instanceof Error ? error : new Error(String(error));
  }

  return (batch) => {
    if (batch.length === 0) return [];
    try {
      begin.run();
      const live = new Set<string>();
      const applied = batch.map((one) => applyOne(one, live));
      // A refused commit that had written something can only be undone together with its neighbours.
      if (applied.every(({ result, written }) => result === "committed" || !written)) {
        commit.run();
        return applied.map(({ result }) => result);
      }
      db.exec("ROLLBACK");
    } catch (error) {
      afterFailure(error);
    }
    return batch.map(applyAlone);
  };
}

function checkTurn(query: StatementSync, [turn, session, version, fence]: readonly Row[1][]): CommitResult {
  const found = query.get(turn ?? null, session ?? null);
  if (found === undefined) return "conflict";
  if (found["fence"] !== fence) return "fenced";
  return found["version"] === version ? "committed" : "conflict";
}
