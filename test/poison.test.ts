// A turn that brings the process down every time is given up after its third strike and its user is told; nobody else
// pays for it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Act } from "../src/sim/agent.ts";
import { broken } from "../src/sim/invariants.ts";
import { wellBehaved } from "../src/sim/platform.ts";
import { type Said, type Story, plainStory, tell } from "../src/sim/story.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";

const open = () => openSqliteStore({ file: ":memory:", writer: "inline" });

function story(seed: number, innocent: readonly Act[]): Story {
  const said: Said[] = Array.from({ length: 20 }, (_, i) => ({
    at: i,
    server: "keyed",
    chat: `innocent-${i}`,
    name: `m${i}`,
    acts: innocent,
  }));
  said.push({ at: 10, server: "keyed", chat: "poison", name: "poison", acts: ["die"] });
  said.push({ at: 20, server: "keyed", chat: "poison", name: "after", acts: [] });
  return { ...plainStory, seed, servers: { keyed: wellBehaved }, said, lanesMax: 64 };
}

const cases: readonly { name: string; innocent: readonly Act[] }[] = [
  { name: "quick innocents", innocent: [] },
  { name: "innocents with tools", innocent: ["say", "once", "pure"] },
  { name: "innocents that have no result for minutes", innocent: ["hang"] },
];

for (const { name, innocent } of cases) {
  test(`a poison turn among 20 others: ${name}`, async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const told = await tell(story(seed, innocent), open);
      assert.deepEqual(await broken(told), [], `seed ${seed}`);
      const poison = (await told.store.turns({ limit: 100 })).find((turn) => turn.input.key === "poison");
      assert.equal(poison?.now.state === "done" && poison.now.outcome, "failed");
      const [on] = told.servers;
      const sorry = on?.seen.filter((seen) => seen.chat === "poison" && seen.text.startsWith("I had to give this up"));
      assert.equal(sorry?.length, 1, "its user is told, once");
      assert.ok(told.poisonings >= 3 && told.poisonings <= 6, `died ${told.poisonings} times`);
      await told.store.close();
    }
  });
}
