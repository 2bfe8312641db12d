// How many commits a turn waits for, one after another. Neighbouring write points are one commit where nothing outside
// happens between them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Act } from "../src/sim/agent.ts";
import { broken } from "../src/sim/invariants.ts";
import { wellBehaved } from "../src/sim/platform.ts";
import { plainStory, tell } from "../src/sim/story.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";

const cases: readonly { name: string; acts: readonly Act[]; commits: number }[] = [
  { name: "a plain answer: accepted and begun, finished and being sent, delivered", acts: [], commits: 3 },
  { name: "with a tool that needs an intent", acts: ["once"], commits: 5 },
  { name: "with a tool that is judged first", acts: ["keyed"], commits: 5 },
  { name: "with a pure tool", acts: ["pure"], commits: 5 },
  { name: "with four calls in one step", acts: ["pures"], commits: 7 },
];

/** The start notes that it is ready, and nobody waits for that. */
const atStart = 1;

for (const { name, acts, commits } of cases) {
  test(`${name}: ${commits} commits`, async () => {
    const said = [{ at: 0, server: "keyed", chat: "a", name: "m1", acts }];
    const story = { ...plainStory, seed: 1, servers: { keyed: wellBehaved }, said };
    const told = await tell(story, () => openSqliteStore({ file: ":memory:", writer: "inline" }));
    assert.deepEqual(await broken(told), []);
    assert.equal(told.commits - atStart, commits);
    await told.store.close();
  });
}
