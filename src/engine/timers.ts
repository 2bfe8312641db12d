// Fires due timers as inbound messages. One sleeper for all of them; the store knows which is next.

import { sentenceOf } from "../core/fault.ts";
import { type Instant, later } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import type { Timer } from "../core/timer.ts";
import { childOf, over } from "./abort.ts";
import type { Parts } from "./parts.ts";

export interface Wakeable {
  /** A timer was stored; it may be the next one. */
  poke(): void;
}

export function timers(
  parts: Parts,
  fire: (timer: Timer) => Promise<void>,
): Wakeable & { run(signal: AbortSignal): Promise<void> } {
  const { world, store } = parts;
  let nap = new AbortController();
  return {
    poke: () => nap.abort(over),
    async run(signal) {
      while (!signal.aborted) {
        nap = childOf(signal);
        const next = await store.nextTimer();
        const wakeAt = Math.min(next?.dueAt ?? Number.POSITIVE_INFINITY, later(world.now(), limits.sleepMaxMs));
        if (next !== null && next.dueAt <= world.now()) {
          try {
            await fire(next);
          } catch (error) {
            world.log("warn", "a timer could not be stored; it is tried again", {
              timer: next.id,
              why: sentenceOf(error),
            });
            await world.sleep(later(world.now(), limits.storeRetryMaxMs), signal);
          }
          nap.abort(over);
          continue;
        }
        await world.sleep(wakeAt as Instant, nap.signal);
        nap.abort(over);
      }
    },
  };
}
