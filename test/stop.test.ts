// A stop asked at every moment of every story ends within its budget, and the next start answers what was open.

import assert from "node:assert/strict";
import { test } from "node:test";
import { broken } from "../src/sim/invariants.ts";
import { stories } from "../src/sim/stories.ts";
import { tell } from "../src/sim/story.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";

const open = () => openSqliteStore({ file: ":memory:", writer: "inline" });

for (const drainMs of [0, 100]) {
  for (const [name, story] of Object.entries(stories)) {
    test(`stop at every moment of ${name}, with a drain of ${drainMs} ms`, async () => {
      for (let at = 0; at <= 400; at += 7) {
        const told = await tell({ ...story, drainMs, stops: [at] }, open);
        const wrong = await broken(told);
        await told.store.close();
        assert.deepEqual(wrong, [], `stopped at ${at} ms`);
        assert.equal(told.stopMs.length, 1, `the stop at ${at} ms was carried out`);
        assert.equal(told.lives, 2);
      }
    });
  }
}

test("an agent that hangs and ignores every abort does not hold the stop", async () => {
  const base = stories["a plain message"];
  assert.ok(base);
  const said = [{ at: 0, server: "keyed", chat: "a", name: "m1", acts: ["hang" as const] }];
  const told = await tell({ ...base, said, stops: [100] }, open);
  assert.deepEqual(await broken(told), []);
  assert.ok((told.stopMs[0] ?? Number.POSITIVE_INFINITY) < 1_000, `took ${told.stopMs[0]} ms`);
});
