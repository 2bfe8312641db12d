// The named reads of the engine. Each says which index it uses, because SQLite's own choice can turn a lookup of open
// rows into a scan of history; the plans are asserted by a test.

import type { DatabaseSync } from "node:sqlite";
import type { Entry } from "../../core/journal.ts";
import type { OpenQuestion } from "../../core/route.ts";
import { nothingSpent } from "../../core/usage.ts";
import type { Store } from "../../ports/store.ts";
import { reading } from "./file/connect.ts";
import {
  type Raw,
  toBoot,
  toEntry,
  toItem,
  toMemory,
  toPaired,
  toPairing,
  toRule,
  toSession,
  toSpent,
  toTimer,
  toTurn,
} from "./rows.ts";

export const engineQueries = {
  deadBoots: `SELECT * FROM boots WHERE live = 0 AND id IN (
    SELECT boot FROM turns INDEXED BY turns_running WHERE state = 'running'
    UNION SELECT boot FROM items INDEXED BY items_sending WHERE state = 'sending')`,
  sessionOf: "SELECT * FROM sessions INDEXED BY sessions_live WHERE key = ? AND ended_at = 0",
  session: "SELECT * FROM sessions WHERE id = ?",
  activeSince: `SELECT * FROM sessions INDEXED BY sessions_recent
    WHERE platform = ? AND active_at >= ? AND ended_at = 0 ORDER BY active_at`,
  runnable: `SELECT sessions.* FROM (
      SELECT session, min(n) AS first FROM turns INDEXED BY turns_ready
      WHERE state IN ('queued', 'parked') GROUP BY session ORDER BY first) AS waiting
    JOIN sessions ON sessions.id = waiting.session ORDER BY waiting.first`,
  nextTurn:
    "SELECT * FROM turns INDEXED BY turns_ready WHERE session = ? AND state IN ('queued', 'parked') ORDER BY n LIMIT 1",
  queuedTurns: `SELECT * FROM turns INDEXED BY turns_ready
    WHERE session = ? AND state IN ('queued', 'parked') AND state = 'queued' AND attempt = 0 ORDER BY n LIMIT ?`,
  readyTurns:
    "SELECT * FROM turns INDEXED BY turns_ready WHERE session = ? AND state IN ('queued', 'parked') ORDER BY n",
  restarting: "SELECT * FROM turns INDEXED BY turns_restarting WHERE state = 'restarting' ORDER BY n",
  heldTurns: "SELECT * FROM turns INDEXED BY turns_running WHERE state = 'running' AND boot = ? ORDER BY n",
  waitingTurns: "SELECT * FROM turns INDEXED BY turns_waiting WHERE session = ? AND state = 'waiting' ORDER BY n",
  questionsAt: `SELECT turns.* FROM (
      SELECT id FROM sessions INDEXED BY sessions_key WHERE key = ? ORDER BY n DESC LIMIT 20) AS here
    CROSS JOIN turns INDEXED BY turns_waiting ON turns.session = here.id AND turns.state = 'waiting' ORDER BY turns.n`,
  waitingFor:
    "SELECT * FROM turns INDEXED BY turns_question WHERE state = 'waiting' AND json_extract(now, '$.question') = ? LIMIT 1",
  turn: "SELECT * FROM turns WHERE id = ?",
  turnBy:
    "SELECT turns.* FROM inbox CROSS JOIN turns ON turns.id = inbox.turn WHERE platform = ? AND account = ? AND key = ?",
  journalOf: "SELECT entry FROM entries WHERE turn = ? ORDER BY n",
  journalTail: "SELECT entry FROM entries WHERE turn = ? ORDER BY n DESC LIMIT ?",
  strikes: "SELECT strikes FROM strikes WHERE key = ?",
  interruptions: "SELECT interruptions FROM strikes WHERE key = ?",
  struckOut: `SELECT key FROM strikes INDEXED BY strikes_out WHERE strikes >= 3
    UNION SELECT key FROM strikes INDEXED BY interruptions_out WHERE interruptions >= 50`,
  sendable: `SELECT sessions.* FROM (
      SELECT session, min(n) AS first FROM items INDEXED BY items_pending
      WHERE state = 'pending' GROUP BY session ORDER BY first) AS waiting
    JOIN sessions ON sessions.id = waiting.session ORDER BY waiting.first`,
  nextItem: `SELECT items.* FROM json_each(?) AS here CROSS JOIN items ON items.n = (
      SELECT n FROM items INDEXED BY items_pending WHERE session = here.value AND state = 'pending' ORDER BY n LIMIT 1)
    ORDER BY items.n LIMIT 1`,
  heldItems: "SELECT * FROM items INDEXED BY items_sending WHERE boot = ? AND state = 'sending' ORDER BY n",
  item: "SELECT * FROM items WHERE id = ?",
  nextTimer: "SELECT * FROM timers INDEXED BY timers_due ORDER BY due_at LIMIT 1",
  cursor: "SELECT value FROM cursors WHERE platform = ? AND account = ?",
  pairingsAt: "SELECT * FROM pairings INDEXED BY pairings_sender WHERE platform = ? AND account = ? ORDER BY id",
  paired: "SELECT * FROM paired WHERE platform = ? AND account = ? AND sender = ?",
  rule: `SELECT * FROM rules INDEXED BY rules_scope
    WHERE tool = ? AND subject = ? AND scope IN (?, 'everywhere') AND held = 0 LIMIT 1`,
  summaryOf: "SELECT up_to, text FROM summaries WHERE session = ?",
  memories: "SELECT * FROM memories INDEXED BY memories_scope WHERE scope = ? ORDER BY n DESC LIMIT ?",
  spentOn: `SELECT sum(steps) AS steps, sum(input) AS input, sum(cached) AS cached, sum(output) AS output,
    sum(cost) AS cost, sum(unpriced) AS unpriced FROM usage WHERE day = ?`,
  fact: "SELECT value FROM facts WHERE name = ?",
} as const;

export type Reads = Omit<Store, "commit" | "openBoot" | "beat" | "close">;

export function engineReads(db: DatabaseSync): Reads {
  const get = (sql: string) => {
    const query = lazily(() => db.prepare(sql));
    return (...parameters: (string | number)[]): Raw | undefined => reading(db, () => query().get(...parameters));
  };
  const all = (sql: string) => {
    const query = lazily(() => db.prepare(sql));
    return (...parameters: (string | number)[]): readonly Raw[] => reading(db, () => query().all(...parameters));
  };
  const q = engineQueries;
  const many = <T>(sql: string, to: (raw: Raw) => T) => {
    const run = all(sql);
    return async (...parameters: (string | number)[]) => run(...parameters).map(to);
  };
  const one = <T>(sql: string, to: (raw: Raw) => T) => {
    const run = get(sql);
    return async (...parameters: (string | number)[]) => {
      const raw = run(...parameters);
      return raw === undefined ? null : to(raw);
    };
  };
  const waitingAt = many(q.questionsAt, toTurn);
  const journalOf = many(q.journalOf, toEntry);
  const journalTail = many(q.journalTail, toEntry);
  const memories = many(q.memories, toMemory);
  const nextItem = one(q.nextItem, toItem);
  const spentOn = one(q.spentOn, toSpent);
  const strikes = one(q.strikes, (raw) => raw["strikes"] as number);
  const interruptions = one(q.interruptions, (raw) => raw["interruptions"] as number);
  return {
    deadBoots: many(q.deadBoots, toBoot),
    sessionOf: one(q.sessionOf, toSession),
    session: one(q.session, toSession),
    activeSince: many(q.activeSince, toSession),
    runnable: many(q.runnable, toSession),
    nextTurn: one(q.nextTurn, toTurn),
    queuedTurns: many(q.queuedTurns, toTurn),
    readyTurns: many(q.readyTurns, toTurn),
    waitingTurns: many(q.waitingTurns, toTurn),
    restarting: many(q.restarting, toTurn),
    heldTurns: many(q.heldTurns, toTurn),
    async questionsAt(key) {
      const found = [];
      for (const turn of await waitingAt(key)) {
        // A waiting turn has said nothing since it asked.
        const asked = (await journalTail(turn.id, 1))[0];
        const question = asked === undefined ? null : questionIn(asked);
        if (question !== null) found.push({ turn: turn.id, ...question });
      }
      return found;
    },
    waitingFor: one(q.waitingFor, toTurn),
    turn: one(q.turn, toTurn),
    turnBy: one(q.turnBy, toTurn),
    journalOf,
    journalTail: async (turn, limit) => (await journalTail(turn, limit)).toReversed(),
    strikes: async (key) => (await strikes(key)) ?? 0,
    interruptions: async (key) => (await interruptions(key)) ?? 0,
    struckOut: many(q.struckOut, (raw) => raw["key"] as string),
    sendable: many(q.sendable, toSession),
    nextItem: (sessions) => nextItem(JSON.stringify(sessions)),
    heldItems: many(q.heldItems, toItem),
    item: one(q.item, toItem),
    nextTimer: one(q.nextTimer, toTimer),
    cursor: one(q.cursor, (raw) => raw["value"] as string),
    pairingsAt: many(q.pairingsAt, toPairing),
    paired: one(q.paired, toPaired),
    rule: one(q.rule, toRule),
    summaryOf: one(q.summaryOf, (raw) => ({ upTo: raw["up_to"] as number, text: raw["text"] as string })),
    memories: async (scope, limit) => (await memories(scope, limit)).toReversed(),
    spentOn: async (day) => (await spentOn(day)) ?? nothingSpent,
    fact: one(q.fact, (raw) => raw["value"] as string),
  };
}

/** What a turn waits for, by the last entry of its journal. */
export function questionIn(entry: Entry): Omit<OpenQuestion, "turn"> | null {
  if (entry.type !== "asked" && entry.type !== "call-asked") return null;
  const { question, text, choices, kind = "question", routed } = entry;
  return {
    question,
    kind,
    text,
    choices,
    ...(routed === undefined ? {} : { routed }),
    ...(entry.type === "call-asked" && entry.needsAdmin === true ? { needsAdmin: true } : {}),
  };
}

/** Statements are compiled at first use: a start needs only a few of them. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
