// Stories from a seed: repeats, refusals, hangs, full disks, cuts, freezes and stops in any mixture. More of them with
// `npm run sim -- --seeds 10000`; a failure names its seed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { broken } from "../src/sim/invariants.ts";
import { invent } from "../src/sim/stories.ts";
import { tell } from "../src/sim/story.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";

test("300 random stories keep the promise", async () => {
  for (let seed = 1; seed <= 300; seed++) {
    const told = await tell(invent(seed), () => openSqliteStore({ file: ":memory:", writer: "inline" }));
    const wrong = await broken(told);
    await told.store.close();
    assert.deepEqual(wrong, [], `seed ${seed}; repeat it with: npm run sim -- --seeds 1 --from ${seed} --log`);
  }
});
