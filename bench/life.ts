// Start, idle memory, stop and recovery of the built program, each beside an empty Node in the same minutes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./load.ts";
import { end, keepBusy, launcher, newHome, openPage, removeHome, residentMb, start, untilRunning } from "./process.ts";

const rounds = 11;

async function emptyNodeMs(): Promise<number> {
  const { NODE_EXTRA_CA_CERTS: _left, ...env } = process.env;
  const from = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { env, stdio: "ignore" }), "exit");
  return performance.now() - from;
}

export type StartFigures = {
  readonly readyMs: number;
  readonly emptyMs: number;
  readonly ratio: number;
  readonly launcherExtraMs: number | null;
};

export async function measureStart(oldNode: string | null): Promise<StartFigures> {
  const home = newHome();
  await end(await start(home), "SIGTERM"); // makes the home and the compile cache
  const ready: number[] = [];
  const empty: number[] = [];
  const launched: number[] = [];
  for (let i = 0; i < rounds; i++) {
    empty.push(await emptyNodeMs());
    const direct = await start(home);
    ready.push(direct.readyMs);
    await end(direct, "SIGTERM");
    if (oldNode === null) continue;
    const through = await start(home, { command: [oldNode, launcher] });
    launched.push(through.readyMs);
    await end(through, "SIGTERM");
  }
  removeHome(home);
  const readyMs = median(ready);
  const emptyMs = median(empty);
  return {
    readyMs,
    emptyMs,
    ratio: readyMs / emptyMs,
    launcherExtraMs: oldNode === null ? null : median(launched) - readyMs,
  };
}

export type MemoryFigures = { readonly ours: number; readonly empty: number; readonly ratio: number };

export async function measureMemory(): Promise<MemoryFigures> {
  const ours: number[] = [];
  const empty: number[] = [];
  for (let i = 0; i < 3; i++) {
    const home = newHome();
    const gateway = await start(home);
    const idle = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
    await sleep(3_000);
    ours.push(residentMb(gateway.child.pid ?? 0));
    empty.push(residentMb(idle.pid ?? 0));
    idle.kill("SIGKILL");
    await end(gateway, "SIGTERM");
    removeHome(home);
  }
  return { ours: median(ours), empty: median(empty), ratio: median(ours) / median(empty) };
}

export async function measureStop(): Promise<{ readonly ms: number; readonly all: readonly number[] }> {
  const all: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const home = newHome();
    const gateway = await start(home);
    const page = await openPage(gateway, "open");
    all.push(await end(gateway, "SIGTERM"));
    page.destroy();
    removeHome(home);
  }
  return { ms: median(all), all };
}

/** Kills the gateway with 64 turns under way; the clock runs from the spawn of the next one until all of them run again. */
export async function measureRecovery(): Promise<{ readonly ms: number; readonly all: readonly number[] }> {
  const all: number[] = [];
  for (let i = 0; i < 5; i++) {
    const home = newHome();
    const first = await start(home);
    await keepBusy(first);
    await end(first, "SIGKILL");
    const from = performance.now();
    const second = await start(home);
    await untilRunning(second);
    all.push(performance.now() - from);
    await end(second, "SIGKILL");
    removeHome(home);
  }
  return { ms: median(all), all };
}

if (import.meta.main) {
  console.log("start", await measureStart(null));
  console.log("memory", await measureMemory());
  console.log("stop", await measureStop());
  console.log("recovery", await measureRecovery());
}
