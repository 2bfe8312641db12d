// No read of the engine may cost as much as history: each one's plan is asserted, because SQLite's own choice can turn a
// lookup of open rows into a scan of everything ever said.

import assert from "node:assert/strict";
import { test } from "node:test";
import { memory } from "./file/connect.ts";
import { openConnection } from "./open.ts";
import { engineQueries } from "./queries.ts";

/** What may be walked from end to end: indexes that hold open rows only. */
const openOnly = [
  "turns_ready",
  "turns_running",
  "turns_waiting",
  "turns_question",
  "turns_restarting",
  "items_pending",
  "items_sending",
  "timers_due",
  "strikes_out",
  "interruptions_out",
];

const expected: Readonly<Record<keyof typeof engineQueries, readonly string[]>> = {
  deadBoots: ["boots", "turns_running", "items_sending"],
  sessionOf: ["sessions_live"],
  session: ["sqlite_autoindex_sessions_1"],
  activeSince: ["sessions_recent"],
  runnable: ["turns_ready", "sqlite_autoindex_sessions_1"],
  nextTurn: ["turns_ready"],
  queuedTurns: ["turns_ready"],
  readyTurns: ["turns_ready"],
  restarting: ["turns_restarting"],
  heldTurns: ["turns_running"],
  waitingTurns: ["turns_waiting"],
  questionsAt: ["sessions_key", "turns_waiting"],
  waitingFor: ["turns_question"],
  turn: ["sqlite_autoindex_turns_1"],
  turnBy: ["PRIMARY KEY", "sqlite_autoindex_turns_1"],
  journalOf: ["PRIMARY KEY"],
  journalTail: ["PRIMARY KEY"],
  strikes: ["PRIMARY KEY"],
  interruptions: ["PRIMARY KEY"],
  struckOut: ["strikes_out", "interruptions_out"],
  sendable: ["items_pending", "sqlite_autoindex_sessions_1"],
  nextItem: ["items_pending", "INTEGER PRIMARY KEY"],
  heldItems: ["items_sending"],
  item: ["sqlite_autoindex_items_1"],
  nextTimer: ["timers_due"],
  cursor: ["PRIMARY KEY"],
  pairingsAt: ["pairings_sender"],
  paired: ["PRIMARY KEY"],
  rule: ["rules_scope"],
  summaryOf: ["PRIMARY KEY"],
  memories: ["memories_scope"],
  spentOn: ["PRIMARY KEY"],
  fact: ["PRIMARY KEY"],
};

for (const [name, sql] of Object.entries(engineQueries)) {
  test(`the plan of ${name} costs as much as it finds`, () => {
    const db = openConnection(memory, "write");
    const plan = db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((row) => String(row["detail"]));
    for (const index of expected[name as keyof typeof engineQueries]) {
      assert.ok(
        plan.some((line) => line.includes(index)),
        `${name} uses ${index}: ${plan.join("; ")}`,
      );
    }
    for (const line of plan) {
      const scanned = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(line);
      if (scanned === null || scanned[1] === "waiting" || scanned[1] === "here") continue;
      assert.ok(openOnly.includes(scanned[2] ?? ""), `${name} walks through ${line}`);
    }
    // Sorting is for a handful of open sessions only.
    if (plan.some((line) => line.includes("TEMP B-TREE FOR ORDER BY"))) {
      assert.ok(
        [
          "runnable",
          "sendable",
          "nextItem",
          "pairingsAt",
          "questionsAt",
          "heldTurns",
          "heldItems",
          "deadBoots",
        ].includes(name),
        `${name} sorts: ${plan.join("; ")}`,
      );
    }
    db.close();
  });
}
