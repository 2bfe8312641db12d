// A real gateway in this process around one real platform, whose server is a fake in this process too: so one clock measures
// both sides. What it measures therefore holds the work of the fake as well.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Change } from "../../src/core/change.ts";
import type { BootId } from "../../src/core/ids.ts";
import { newBoot } from "../../src/core/recovery.ts";
import { gateway } from "../../src/engine/gateway.ts";
import { defaultPlatformSettings } from "../../src/engine/parts.ts";
import type { Agent } from "../../src/ports/agent.ts";
import type { Platform, Surroundings } from "../../src/ports/platform.ts";
import { blobsLater } from "../../src/stores/blobs/later.ts";
import { type SqliteStore, openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { realWorld } from "../../src/world.ts";
import { until } from "../process.ts";

export type FarBench = { readonly troubles: readonly string[]; stop(): Promise<void> };

export type Watching = {
  readonly agent: Agent;
  /** Told when these changes are stored. */
  readonly onStored?: (changes: readonly Change[]) => void;
};

/** Resolves when the platform is connected. */
export async function openFar(
  make: (around: Surroundings) => Platform,
  { agent, onStored = () => undefined }: Watching,
): Promise<FarBench> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-far-"));
  const store = await openSqliteStore({ file: join(folder, "state.db"), writer: "thread" });
  const troubles: string[] = [];
  const world = realWorld((level, what, facts) => {
    if (level === "warn" || level === "error") troubles.push(`${what} ${JSON.stringify(facts ?? {})}`);
  });
  const told: SqliteStore = {
    ...store,
    async commit(changes, by) {
      const result = await store.commit(changes, by);
      onStored(changes);
      return result;
    },
  };
  const platform = make({ world, blobs: blobsLater(join(folder, "files")) });
  const self = gateway({
    store: told,
    platforms: [platform],
    agent,
    world,
    settings: {
      drainMs: 0,
      lanesMax: 256,
      recovery: { afterCrash: "resume", autoResume: true },
      platforms: { [platform.name]: { ...defaultPlatformSettings, restartNotices: false } },
    },
    boot: newBoot({
      id: world.id() as BootId,
      pid: process.pid,
      host: "",
      machine: "",
      version: "",
      config: "",
      startedAt: world.now(),
    }),
  });
  const running = self.run();
  await self.ready;
  await until(() => self.status().platforms.every((one) => one.up), `${platform.name} is connected`);
  return {
    troubles,
    async stop() {
      self.stop({ class: "planned", by: "cli", reason: "the benchmark is over" });
      await running;
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
