// A real gateway with every platform that speaks HTTP while the network fails, in each way that networks fail, with and
// without a kill in the middle: every answer arrives by itself, in order, and once where the platform recognizes repeats.
// For longer breaks see `npm run chaos:breaks`.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { patienceMs, seedOfRun } from "../process/stage.ts";
import { platformNames } from "./break-sides.ts";
import { faultNames, problemsOf, runBreak } from "./breaks.ts";

const breakMs = 4_000;
/** Discord's own interval is 41 s; without a shorter one a dead socket would be noticed long after the break. */
const heartbeatMs = 5_000;
/** Dead connections are noticed by their time limits, so these take longest and begin first. */
const faults = faultNames.toSorted((a, b) => Number(b === "half-open") - Number(a === "half-open"));

// They mostly wait, so many of them run at the same time.
describe("a short break of the network", { concurrency: 6, timeout: 20 * patienceMs }, () => {
  for (const fault of faults)
    for (const kill of [false, true])
      test(`${fault}${kill ? ", and a kill" : ""}`, { timeout: 10 * patienceMs }, async (t) => {
        const seed = seedOfRun();
        const results = await runBreak(t, { fault, kill, breakMs, seed, platforms: platformNames, heartbeatMs });
        for (const { platform, sent, copies, healedMs } of results)
          t.diagnostic(`${platform}: ${sent} sent, ${copies.length} copies, all answered after ${healedMs} ms`);
        assert.deepEqual(results.flatMap(problemsOf), [], `seed ${seed}`);
      });
});
