// A world for tests that wait for real servers, but not for as long as is asked for.

import { setTimeout as wait } from "node:timers/promises";
import type { Instant } from "../src/core/ids.ts";
import type { World } from "../src/ports/world.ts";
import { at } from "../src/testing/samples.ts";

/** A world where waiting takes a moment, and the clock says that it took as long as was asked for. */
export function hurried(): World {
  let now = at(0);
  return {
    now: () => now,
    monotonic: () => now,
    async sleep(until) {
      now = Math.max(now, until) as Instant;
      await wait(5);
    },
    id: () => "id",
    chance: () => 0,
    log: () => undefined,
  };
}
