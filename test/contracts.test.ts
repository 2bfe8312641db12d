// The contract suites of src/testing, run over everything we ship. A new store, agent or tool adds one call;
// platforms have files of their own in test/contracts.

import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { echo } from "../src/agents/echo/index.ts";
import { demoTools } from "../src/agents/echo/tools.ts";
import { scripted } from "../src/sim/agent.ts";
import { life } from "../src/sim/life.ts";
import { dice, time } from "../src/sim/time.ts";
import { memory, openSqliteArchive, openSqliteStore } from "../src/stores/sqlite/index.ts";
import {
  type OpenedStore,
  type OpenedTool,
  agentSuite,
  storeSuite,
  toolSuite,
  worldSuite,
} from "../src/testing/index.ts";
import { realWorld } from "../src/world.ts";

function newFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "everturn-contract-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

// Stores

async function openSqlite(writer: "inline" | "thread"): Promise<OpenedStore> {
  const { folder, remove } = newFolder();
  const file = join(folder, "state.db");
  let store = await openSqliteStore({ file, writer });
  return {
    store,
    async reopen() {
      await store.close();
      store = await openSqliteStore({ file, writer });
      return store;
    },
    async close() {
      await store.close();
      remove();
    },
    copyFile: join(folder, "copy.db"),
    async openCopy(copy) {
      const archive = openSqliteArchive(copy);
      return { archive, close: async () => archive.close() };
    },
  };
}

storeSuite("sqlite, writer thread", () => openSqlite("thread"));
storeSuite("sqlite, inline", () => openSqlite("inline"));

// Agents

agentSuite("echo", {
  async open() {
    const { folder, remove } = newFolder();
    return { agent: echo({ stepMs: 0, toolMs: 0, workspace: folder }), close: async () => remove() };
  },
  messages: [
    "hello",
    "something to repeat",
    "count to 5",
    "count to 7 slowly",
    "run a slow tool",
    "ask me",
    "ask before you act",
    "send it back",
    "remind me in 20 seconds to stretch",
    "show me markdown",
  ],
  repeatable: true,
});

/** The agent of the simulator, in a world that is never cut short and where waiting takes no time. */
agentSuite("scripted", {
  async open() {
    const store = await openSqliteStore({ file: memory, writer: "inline" });
    const still = { ...life(1, time(), dice(7), { next: 0 }, []), pass: async () => undefined };
    const nobody = () => undefined;
    const effects = { happened: new Map(), versions: new Map(), tripped: new Set<string>() };
    const outside = { ...effects, isCurrent: () => false, onBreach: nobody, onDie: nobody };
    return { agent: scripted(still, store, outside, dice(7)), close: () => store.close() };
  },
  messages: ["m1: say pure keyed", "m2: pures checkable", "m3: ask wish", "m4: compact remind once", "m5"],
  repeatable: true,
});

// Tools

for (const { name } of demoTools({ workspace: "", toolMs: 0 })) {
  toolSuite(`${name} of the offline agent`, {
    async open(): Promise<OpenedTool> {
      const { folder, remove } = newFolder();
      const tool = demoTools({ workspace: folder, toolMs: 0 }).find((one) => one.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      // Every effect is a file, or a line in one.
      const effects = async (): Promise<number> =>
        readdirSync(folder).reduce(
          (sum, file) => sum + readFileSync(join(folder, file), "utf8").trim().split("\n").length,
          0,
        );
      return { tool, effects, close: async () => remove() };
    },
    input: { text: "a note", at: 1_800_000_000_000, files: [] },
  });
}

// Worlds

worldSuite("real", () => ({ world: realWorld(() => undefined), pass: (work) => work }));

worldSuite("simulated", () => {
  const clock = time();
  const { world } = life(1, clock, dice(1), { next: 1 }, []);
  return {
    world,
    async pass(work) {
      let over = false;
      void work.finally(() => (over = true));
      await clock.run(Number.POSITIVE_INFINITY, () => over);
      return work;
    },
  };
});
