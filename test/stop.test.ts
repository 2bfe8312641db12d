// A stop asked at every moment of every story ends within its budget, and the next start answers what was open.

import assert from "node:assert/strict";
import { test } from "node:test";
import { broken } from "../src/sim/invariants.ts";
import { stories } from "../src/sim/stories.ts";
import { tell } from "../src/sim/story.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";

const open = () => openSqliteStore({ file: ":memory:", writer: "inline" });

const classes = ["planned", "restart", "take-over", "unexpected"] as const;
/** Somebody insists: within the same second, or when it is over. */
const insistence = [{}, { againMs: 20 }, { againMs: 1_100 }] as const;
const ways: readonly { readonly drainMs: number; readonly everyMs: number }[] = [
  { drainMs: 0, everyMs: 9 },
  { drainMs: 100, everyMs: 11 },
  { drainMs: 5_000, everyMs: 29 },
];

for (const { drainMs, everyMs } of ways) {
  for (const [name, story] of Object.entries(stories)) {
    const restarts = story.said.filter(({ text }) => text === "/restart").length;
    test(`stop at every moment of ${name}, with a drain of ${drainMs} ms`, async () => {
      for (let at = 0, n = 0; at <= 400; at += everyMs, n++) {
        const kind = classes[n % classes.length] ?? "planned";
        const ask = { at, class: kind, ...insistence[n % insistence.length] };
        const told = await tell({ ...story, drainMs, stops: [ask] }, open);
        const wrong = await broken(told);
        await told.store.close();
        assert.deepEqual(wrong, [], JSON.stringify(ask));
        if (restarts > 0) {
          assert.ok(told.lives <= 2 + restarts, `${told.lives} lives with ${JSON.stringify(ask)}`);
          continue;
        }
        assert.equal(told.stopMs.length, 1, `the stop was carried out: ${JSON.stringify(ask)}`);
        assert.equal(told.lives, 2);
      }
    });
  }
}

test("an agent that hangs and ignores every abort does not hold the stop", async () => {
  const base = stories["a plain message"];
  assert.ok(base);
  const said = [{ at: 0, server: "keyed", chat: "a", name: "m1", acts: ["hang" as const] }];
  const told = await tell({ ...base, said, stops: [{ at: 100, class: "planned" }] }, open);
  assert.deepEqual(await broken(told), []);
  assert.ok((told.stopMs[0] ?? Number.POSITIVE_INFINITY) < 1_000, `took ${told.stopMs[0]} ms`);
});
