// Durable turns a second with 64 users at once, beside the limit: the very same statements in a bare synchronous loop
// with 64 turns per commit. Interleaved pairs; also the delay of the event loop under that load.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Change } from "../src/core/change.ts";
import { openConnection } from "../src/stores/sqlite/open.ts";
import { type Row, expectOf, sqlOf, statementNames, toRow } from "../src/stores/sqlite/statements.ts";
import { median, openBench } from "./load.ts";

const atOnce = 64;
const turnsEach = 256;
const pairs = 5;

async function ours(
  record: boolean,
): Promise<{ perSecond: number; delayP99Ms: number; warm: Change[][]; commits: Change[][] }> {
  const bench = await openBench(record);
  let next = 0;
  const user = async (chat: string, count: number) => {
    for (let i = 0; i < count; i++) await bench.users.ask(chat, `k${next++}`);
  };
  const everybody = (count: number) => Promise.all(Array.from({ length: atOnce }, (_, i) => user(`c${i}`, count)));
  await everybody(4);
  const warm = bench.commits.splice(0);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const from = performance.now();
  await everybody(turnsEach);
  const perSecond = (turnsEach * atOnce) / ((performance.now() - from) / 1_000);
  delay.disable();
  const commits = [...bench.commits];
  await bench.stop();
  return { perSecond, delayP99Ms: delay.percentile(99) / 1e6 - 5, warm, commits };
}

/** All statements of a turn in the order of a turn; those of a session's first turn included as they came. */
function byTurn(commits: readonly Change[][]): Change[][] {
  const found = new Map<string, Change[]>();
  for (const changes of commits) {
    const turn = changes.map(turnOf).find((id) => id !== null);
    if (turn === undefined || turn === null) continue;
    const list = found.get(turn) ?? [];
    list.push(...changes);
    found.set(turn, list);
  }
  return [...found.values()];
}

function turnOf(change: Change): string | null {
  if ("check" in change) return change.turn;
  if ("drop" in change) return null;
  if (change.put === "turn") return change.turn.id;
  return change.put === "item" ? change.item.turn : null;
}

/** `before` makes the sessions that the timed turns belong to. */
function bare(before: readonly Change[], turns: readonly Change[][]): number {
  const folder = mkdtempSync(join(tmpdir(), "everturn-bare-"));
  const db = openConnection(join(folder, "state.db"), "write");
  const statements = statementNames.map((name) => ({ run: db.prepare(sqlOf(name)), expect: expectOf(name) }));
  const apply = ([number, ...parameters]: Row) => {
    const statement = statements[number];
    if (statement?.expect === "check") statement.run.get(...parameters.slice(0, 2));
    else statement?.run.run(...parameters);
  };
  for (const change of before) apply(toRow(change));
  const rows = turns.map((changes) => changes.map(toRow));
  const from = performance.now();
  for (let i = 0; i < rows.length; i += atOnce) {
    db.exec("BEGIN IMMEDIATE");
    for (const turn of rows.slice(i, i + atOnce)) for (const row of turn) apply(row);
    db.exec("COMMIT");
  }
  const perSecond = rows.length / ((performance.now() - from) / 1_000);
  db.close();
  rmSync(folder, { recursive: true, force: true });
  return perSecond;
}

export type TurnFigures = {
  readonly ours: number;
  readonly bare: number;
  readonly ratio: number;
  readonly ratios: readonly number[];
  readonly delayP99Ms: number;
};

export async function measureTurns(): Promise<TurnFigures> {
  const recorded = await ours(true);
  const before = recorded.warm.flat();
  const turns = byTurn(recorded.commits);
  bare(before, turns);
  const found: { ours: number; bare: number; delay: number }[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const limit = bare(before, turns);
    const own = await ours(false);
    found.push({ ours: own.perSecond, bare: limit, delay: own.delayP99Ms });
  }
  const ratios = found.map((one) => one.ours / one.bare);
  return {
    ours: median(found.map((one) => one.ours)),
    bare: median(found.map((one) => one.bare)),
    ratio: median(ratios),
    ratios,
    delayP99Ms: median(found.map((one) => one.delay)),
  };
}

if (import.meta.main) console.log(await measureTurns());
