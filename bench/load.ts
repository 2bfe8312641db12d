// The load of the benchmarks: the real engine over the real threaded store, users that send their next message when
// they see an answer, and an agent that needs no time: a turn of one tool call, five commits.

import { newBoot } from "../src/core/recovery.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Change } from "../src/core/change.ts";
import type { BootId, Instant } from "../src/core/ids.ts";
import type { Inbound } from "../src/core/message.ts";
import type { OutboxItem } from "../src/core/outbox.ts";
import { gateway } from "../src/engine/gateway.ts";
import type { Agent } from "../src/ports/agent.ts";
import type { Accept, Platform } from "../src/ports/platform.ts";
import { type SqliteStore, openSqliteStore } from "../src/stores/sqlite/index.ts";
import { realWorld } from "../src/world.ts";

const words = "hello ".repeat(20);
const reply = "r".repeat(400);

export const oneToolAgent: Agent = {
  tools: [
    { name: "act", description: "", effect: "once", input: {}, run: async () => ({ type: "ok", output: reply }) },
  ],
  async step(job) {
    if (job.journal.length === 0)
      return { type: "said", text: "", calls: [{ call: "1", tool: "act", input: words }], final: false };
    return { type: "said", text: reply, calls: [], final: true };
  },
  close: async () => undefined,
};

export type Users = { readonly platform: Platform; ask(chat: string, key: string): Promise<void> };

/** A platform in memory whose users can wait for their answer. */
export function users(): Users {
  const waiting = new Map<string, () => void>();
  let accept: Accept | null = null;
  return {
    platform: {
      name: "bench",
      account: "a",
      can: { keyedSend: true, draftEveryMs: null },
      parts: (text) => [text],
      async listen({ accept: accepting, up }, _from, signal) {
        accept = accepting;
        up();
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      },
      async send(item: OutboxItem) {
        waiting.get(item.to.chat)?.();
        return { type: "accepted", remoteId: item.id };
      },
      draft: () => undefined,
    },
    async ask(chat, key) {
      const answered = new Promise<void>((resolve) => waiting.set(chat, resolve));
      const inbound: Inbound = {
        key,
        from: { platform: "bench", account: "a", chat },
        sender: "user",
        body: { kind: "text", text: words, files: [] },
        sentAt: Date.now() as Instant,
      };
      if (accept === null) throw new Error("not listening");
      await accept(inbound, null);
      await answered;
    },
  };
}

export type Bench = {
  readonly store: SqliteStore;
  readonly users: Users;
  readonly commits: Change[][];
  stop(): Promise<void>;
};

export async function openBench(record: boolean): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-bench-"));
  const store = await openSqliteStore({ file: join(folder, "state.db"), writer: "thread" });
  const commits: Change[][] = [];
  const recording: SqliteStore = {
    ...store,
    commit(changes, by) {
      commits.push([...changes]);
      return store.commit(changes, by);
    },
  };
  const world = realWorld(() => undefined);
  const crowd = users();
  const now = world.now();
  const self = gateway({
    store: record ? recording : store,
    platforms: [crowd.platform],
    agent: oneToolAgent,
    world,
    settings: { drainMs: 0, lanesMax: 256, recovery: { afterCrash: "resume", autoResume: true }, platforms: {} },
    boot: newBoot({
      id: world.id() as BootId,
      pid: process.pid,
      host: "",
      machine: "",
      version: "",
      config: "",
      startedAt: now,
    }),
  });
  const running = self.run();
  await self.ready;
  return {
    store,
    users: crowd,
    commits,
    async stop() {
      self.stop({ class: "planned", by: "cli", reason: "the benchmark is over" });
      await running;
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function median(list: readonly number[]): number {
  return quantile(list, 0.5);
}

export function quantile(list: readonly number[], q: number): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}
