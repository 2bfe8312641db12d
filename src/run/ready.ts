// What a gateway says when it answers: where it is, what it took over, and how long nobody listened meanwhile. What else
// follows is loaded afterwards.

import type { Config } from "../config/schema.ts";
import { flushCompileCache } from "node:module";
import type { Control } from "../control/server.ts";
import type { Boot } from "../core/recovery.ts";
import type { Settings } from "../engine/parts.ts";
import type { Gateway } from "../ports/gateway.ts";
import type { SqliteStore } from "../stores/sqlite/index.ts";
import type { Shell } from "./agent/shell.ts";
import { greeting } from "./greet.ts";
import type { LifeParts, Outfit } from "./serve.ts";

export type Ready = LifeParts &
  Outfit & {
    readonly boot: Boot;
    readonly gate: Gateway;
    readonly control: Control;
    readonly agent: Shell;
    readonly settings: Settings;
    readonly store: SqliteStore;
    readonly storeMs: number;
  };

export async function greet(parts: Ready): Promise<void> {
  const { gate, control, config, output, version, world, supervisor } = parts;
  const { recovered, safeMode, reason } = gate.status();
  const { turns, items, tookMs } = recovered;
  const blackoutMs = parts.follows === null ? null : await blackoutOf(parts.store);
  const times = { storeMs: Math.round(parts.storeMs), recoveryMs: tookMs, startMs: Math.round(performance.now()) };
  const facts = blackoutMs === null ? times : { ...times, blackoutMs };
  if (safeMode) world.log("error", "the gateway is in safe mode and does nothing", { reason });
  else world.log("info", "messages are accepted and answered", { ...facts, turns, items });
  const { url } = control;
  const hasWeb = config.platforms.web !== false;
  const agent = nameOf(config);
  const isKept = supervisor !== null || parts.env["EVERTURN_DETACHED"] === "1";
  const isShown = hasWeb && !safeMode && !isKept && output.tty;
  const link = isShown ? await control.newLink() : null;
  const place = { version, url, link, agent, hasWeb, isKept };
  for (const line of greeting({ ...place, held: safeMode ? reason : null, recovered, blackoutMs })) output.out(line);
  flushCompileCache();
}

function nameOf({ agent: { backend, model, acp } }: Config): string | null {
  if (backend === "echo") return null;
  return (backend === "acp" ? acp?.command[0] : model) ?? null;
}

/** How long nobody listened: from the last moment of the life before to the first of this one. */
async function blackoutOf(store: Pick<SqliteStore, "lastBoots">): Promise<number | null> {
  const [own, last] = await store.lastBoots(2);
  const { listeningAt } = own?.story ?? {};
  const { silentAt } = last?.story ?? {};
  return listeningAt === undefined || silentAt === undefined ? null : listeningAt - silentAt;
}
