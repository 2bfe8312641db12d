// A power cut before and after every commit of every story, and again during the recovery that follows. No cut may lose,
// double or reorder anything.

import assert from "node:assert/strict";
import { test } from "node:test";
import { broken } from "../src/sim/invariants.ts";
import type { Cut } from "../src/sim/power.ts";
import { stories } from "../src/sim/stories.ts";
import { type Story, tell } from "../src/sim/story.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";

const open = () => openSqliteStore({ file: ":memory:", writer: "inline" });

async function check(story: Story): Promise<{ commits: number }> {
  const told = await tell(story, open);
  const wrong = await broken(told);
  await told.store.close();
  assert.deepEqual(wrong, [], `with ${JSON.stringify(story.cuts)}`);
  return told;
}

const both = ["before", "after"] as const;

for (const [name, story] of Object.entries(stories)) {
  test(`power cut at every commit of ${name}, and again during recovery`, async () => {
    const { commits } = await check(story);
    for (let commit = 1; commit <= commits; commit++) {
      for (const when of both) {
        const first: Cut = { commit, when, end: "dead" };
        await check({ ...story, cuts: [first] });
        // By turns at the first and at the second commit of the recovery.
        const i = commit % 2;
        await check({ ...story, cuts: [first, { commit: commit + 1 + i, when: both[i] ?? "after", end: "dead" }] });
      }
    }
  });

  test(`taken over at every commit of ${name}: a late write of the old boot is refused`, async () => {
    const { commits } = await check(story);
    for (let commit = 1; commit <= commits; commit++) {
      await check({ ...story, cuts: [{ commit, when: "after", end: "frozen" }] });
    }
  });
}
