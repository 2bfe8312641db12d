// The start over a long history beside the start over none. Both homes hold 64 turns that a dead gateway left; each round
// ends with a kill, so that the next one has the same work again.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./load.ts";
import { end, newHome, removeHome, start } from "./process.ts";
import { seed } from "./seed.ts";

const pairs = 21;

export type HistoryFigures = {
  readonly sessions: number;
  readonly differenceMs: number;
  readonly longMs: number;
  readonly emptyMs: number;
  /** Opening the store and taking over, inside the process. */
  readonly openAndRecoverLongMs: number;
  readonly openAndRecoverEmptyMs: number;
};

type Round = { readonly readyMs: number; readonly insideMs: number };

async function round(home: string): Promise<Round> {
  const gateway = await start(home, { env: { EVERTURN_LOG__LEVEL: "info" } });
  // Every turn gets a step done, so that no death counts against it.
  await sleep(1_200);
  await end(gateway, "SIGKILL");
  const lines = readFileSync(join(home, "logs", "gateway.log"), "utf8")
    .trimEnd()
    .split("\n");
  const ready = lines.findLast((line) => line.includes("accepted and answered"));
  if (ready === undefined) throw new Error("the log does not say how long the start took");
  const { storeMs, recoveryMs } = (JSON.parse(ready) as { facts: { storeMs: number; recoveryMs: number } }).facts;
  return { readyMs: gateway.readyMs, insideMs: storeMs + recoveryMs };
}

export async function measureHistory(sessions: number): Promise<HistoryFigures> {
  const homes = { long: newHome(), empty: newHome() };
  seed(homes.long, sessions);
  seed(homes.empty, 0);
  await round(homes.long);
  await round(homes.empty);
  const long: Round[] = [];
  const empty: Round[] = [];
  for (let i = 0; i < pairs; i++) {
    long.push(await round(homes.long));
    empty.push(await round(homes.empty));
  }
  for (const home of Object.values(homes)) removeHome(home);
  const ready = (list: readonly Round[]) => median(list.map((one) => one.readyMs));
  const inside = (list: readonly Round[]) => median(list.map((one) => one.insideMs));
  return {
    sessions,
    longMs: ready(long),
    emptyMs: ready(empty),
    differenceMs: ready(long) - ready(empty),
    openAndRecoverLongMs: inside(long),
    openAndRecoverEmptyMs: inside(empty),
  };
}

if (import.meta.main) console.log(await measureHistory(Number(process.argv[2] ?? "1000000")));
