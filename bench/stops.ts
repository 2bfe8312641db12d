// Stops of the built program: with 64 turns running, back to accepting, as its own command sees it, and what a stop does
// inside: marking a thousand sessions.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BootId } from "../src/core/ids.ts";
import { newBoot } from "../src/core/recovery.ts";
import { gateway } from "../src/engine/gateway.ts";
import type { Agent } from "../src/ports/agent.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";
import { realWorld } from "../src/world.ts";
import { median, users } from "./load.ts";
import { command, end, keepBusy, newHome, removeHome, servingPid, start, until } from "./process.ts";

export type Figure = { readonly ms: number; readonly all: readonly number[] };

function figureOf(all: readonly number[]): Figure {
  return { ms: median(all), all };
}

export async function measureBusyStop(): Promise<Figure> {
  const all: number[] = [];
  for (let i = 0; i < 7; i++) {
    const home = newHome();
    const busy = await start(home);
    await keepBusy(busy);
    all.push(await end(busy, "SIGTERM"));
    removeHome(home);
  }
  return figureOf(all);
}

/** From the signal until the next life says that it is ready. */
export async function measureBackAgain(): Promise<Figure> {
  const home = newHome();
  let now = await start(home);
  const all: number[] = [];
  for (let i = 0; i < 11; i++) {
    const from = performance.now();
    await end(now, "SIGTERM");
    now = await start(home, { port: now.port });
    all.push(performance.now() - from);
  }
  await end(now, "SIGTERM");
  removeHome(home);
  return figureOf(all);
}

/** From the end of the process until `gateway stop` returns. */
export async function measureStopCommand(): Promise<Figure> {
  const all: number[] = [];
  for (let i = 0; i < 11; i++) {
    const home = newHome();
    const serving = await start(home);
    const pid = servingPid(home);
    let goneAt = 0;
    const gone = until(() => !isThere(pid), "the gateway is gone", 1).then(() => (goneAt = performance.now()));
    await once(command(serving, "gateway", "stop"), "exit");
    const returnedAt = performance.now();
    await gone;
    all.push(Math.max(0, returnedAt - goneAt));
    removeHome(home);
  }
  return figureOf(all);
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const sessions = 1_000;

/** What the stop itself says about it: until a thousand running sessions are marked and counted on the disk. */
export async function measureMarks(): Promise<Figure> {
  const all: number[] = [];
  for (let i = 0; i < 7; i++) all.push(await markAll());
  return figureOf(all);
}

async function markAll(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-bench-"));
  const store = await openSqliteStore({ file: join(folder, "state.db"), writer: "thread" });
  let steps = 0;
  const agent: Agent = {
    tools: [],
    step(_job, signal) {
      steps++;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("interrupted"))));
    },
    close: async () => undefined,
  };
  const world = realWorld(() => undefined);
  const crowd = users();
  const place = { pid: process.pid, host: "", machine: "", version: "", config: "" };
  const self = gateway({
    store,
    platforms: [crowd.platform],
    agent,
    world,
    settings: { drainMs: 0, lanesMax: sessions, recovery: { afterCrash: "resume", autoResume: true }, platforms: {} },
    boot: newBoot({ id: world.id() as BootId, ...place, startedAt: world.now() }),
  });
  const running = self.run();
  await self.ready;
  for (let i = 0; i < sessions; i++) {
    void crowd.ask(`c${i}`, `m${i}`);
    // Not all of them at once: more than some hundred are asked to come back.
    if (i % 100 === 99) await until(() => steps > i, "they run");
  }
  self.stop({ class: "planned", by: "cli", reason: "the benchmark is over" });
  const mark = (await running).phases.find(({ name }) => name === "mark");
  if (mark?.facts?.["marked"] !== sessions) throw new Error(`marked ${JSON.stringify(mark)}`);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
  return mark.ms;
}
