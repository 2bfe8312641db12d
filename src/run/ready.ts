// What follows when a gateway answers: it says where it is, tells the homes of a restart, and looks, without holding
// anything up, at what its owner should know.

import { flushCompileCache } from "node:module";
import { sentenceOf } from "../core/fault.ts";
import { homesOf } from "../core/notice.ts";
import type { Control } from "../control/server.ts";
import type { Gateway } from "../ports/gateway.ts";
import type { World } from "../ports/world.ts";
import type { SqliteStore } from "../stores/sqlite/index.ts";
import { greeting } from "./greet.ts";
import { platformSettings } from "./parts.ts";
import type { LifeParts } from "./serve.ts";
import type { Board } from "./state.ts";

export type Ready = LifeParts & {
  readonly world: World;
  readonly board: Board;
  readonly gate: Gateway;
  readonly control: Control;
  readonly store: SqliteStore;
  readonly storeMs: number;
};

export async function greet(parts: Ready): Promise<void> {
  const { gate, control, config, output, version, world, supervisor } = parts;
  // Whoever reads what is printed may look for it at once.
  await parts.board.settled();
  const { turns, items, tookMs } = gate.status().recovered;
  const blackoutMs = parts.follows === null ? null : await blackoutOf(parts.store);
  const times = { storeMs: Math.round(parts.storeMs), recoveryMs: tookMs, startMs: Math.round(performance.now()) };
  const facts = blackoutMs === null ? times : { ...times, blackoutMs };
  world.log("info", "messages are accepted and answered", { ...facts, turns, items });
  const { url, link } = control;
  const hasWeb = config.platforms.web !== false;
  const isKept = supervisor !== null;
  for (const line of greeting({ version, url, link, hasWeb, isKept, recovered: { turns, items }, blackoutMs }))
    output.out(line);
  flushCompileCache();
  await tellHomes(parts);
  // Nobody waits for these.
  void tidyUp(parts);
  if (supervisor !== null) void warnOfService(parts);
}

async function tidyUp({ paths, world }: Ready): Promise<void> {
  try {
    const { sweepDrafts } = await import("./drafts.ts");
    await sweepDrafts(paths);
  } catch (error) {
    world.log("debug", "drafts of earlier lives stay where they are", { why: sentenceOf(error) });
  }
}

/** What the supervisor's own files say about us, where that is not what it should be. */
async function warnOfService({ config, paths, env, world }: Ready): Promise<void> {
  const { drainSeconds } = config.gateway;
  try {
    const [{ checkStopTiming }, { unitDrift }, { here }] = await Promise.all([
      import("../host/forensics/timing.ts"),
      import("../services/drift.ts"),
      import("../services/verbs.ts"),
    ]);
    const drift = await unitDrift({ ...here(paths.home), env }, drainSeconds);
    const timing = await checkStopTiming({ env, drainSeconds });
    for (const warning of [drift, timing?.warning ?? null]) if (warning !== null) world.log("warn", warning);
  } catch (error) {
    world.log("debug", "the service could not be looked at", { why: sentenceOf(error) });
  }
}

async function tellHomes({ paths, config, gate, world }: Ready): Promise<void> {
  const { tellHomes: tell } = await import("./back.ts");
  await tell(paths.restartPending, homesOf(platformSettings(config)), gate, world);
}

/** How long nobody listened: from the last moment of the life before to the first of this one. */
async function blackoutOf(store: Pick<SqliteStore, "lastBoots">): Promise<number | null> {
  const [own, last] = await store.lastBoots(2);
  const { listeningAt } = own?.story ?? {};
  const { silentAt } = last?.story ?? {};
  return listeningAt === undefined || silentAt === undefined ? null : listeningAt - silentAt;
}
