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

function story(seed: number, poison: readonly Act[], innocent: readonly Act[]): Story {
  const said: Said[] = Array.from({ length: 20 }, (_, i) => ({
    at: i,
    server: "keyed",
    chat: `innocent-${i}`,
    name: `m${i}`,
    acts: innocent,
  }));
  said.push({ at: 10, server: "keyed", chat: "poison", name: "poison", acts: poison });
  said.push({ at: 20, server: "keyed", chat: "poison", name: "after", acts: [] });
  return { ...plainStory, seed, servers: { keyed: wellBehaved }, said, lanesMax: 64 };
}

/** A tool with effect `once` is told as unknown after a death; an agent that then calls it again learns nothing. */
const stubborn: readonly Act[] = Array.from({ length: 20 }, () => "bomb" as const);

const cases: readonly { name: string; poison: readonly Act[]; innocent: readonly Act[] }[] = [
  { name: "a step, quick innocents", poison: ["die"], innocent: [] },
  { name: "a step, innocents with tools", poison: ["die"], innocent: ["say", "once", "pure"] },
  { name: "a step, innocents that have no result for minutes", poison: ["die"], innocent: ["hang"] },
  { name: "a step after a good one", poison: ["say", "die"], innocent: ["say"] },
  { name: "a tool after its intent, called again and again", poison: stubborn, innocent: ["say", "once"] },
  { name: "a tool after its intent, innocents that have no result", poison: stubborn, innocent: ["hang"] },
  { name: "a tool that may run again", poison: ["bomb_again"], innocent: ["say", "once"] },
  { name: "a tool after good ones", poison: ["pure", "once", "bomb_again"], innocent: ["say"] },
];

for (const { name, poison, innocent } of cases) {
  test(`a poison turn among 20 others: ${name}`, async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const told = await tell(story(seed, poison, innocent), open);
      assert.deepEqual(await broken(told), [], `seed ${seed}`);
      const culprit = (await told.store.turns({ limit: 100 })).find((turn) => turn.input.key === "poison");
      assert.equal(culprit?.now.state === "done" && culprit.now.outcome, "failed");
      const [on] = told.servers;
      const sorry = on?.seen.filter((seen) => seen.chat === "poison" && seen.text.startsWith("I had to give this up"));
      assert.equal(sorry?.length, 1, "its user is told, once");
      assert.ok(told.poisonings >= 3 && told.poisonings <= 7, `died ${told.poisonings} times`);
      await told.store.close();
    }
  });
}
