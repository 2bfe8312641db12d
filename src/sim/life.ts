// One life of a simulated process: its world, and the end of everything it waits for when it dies. A dead life never
// hears from anything again; a frozen one would, which is why fences exist.

// What a gateway loads when it is wanted takes real time, of which virtual time knows nothing: it is loaded before.
import "../engine/asked/operator.ts";
import "../engine/commands/exchange.ts";
import "../engine/commands/obey.ts";
import "../engine/recovery/suspend.ts";
import "../engine/turns/run.ts";
import type { Facts, LogLevel, World } from "../ports/world.ts";
import type { Dice, Time } from "./time.ts";

export interface Life {
  readonly number: number;
  readonly world: World;
  alive(): boolean;
  kill(): void;
  /** Takes some virtual time; never returns to the dead. */
  pass(ms: number): Promise<void>;
}

export type LogLine = { readonly life: number; readonly level: LogLevel; readonly what: string; readonly facts: Facts };

export function life(number: number, time: Time, chances: Dice, ids: { next: number }, log: LogLine[]): Life {
  let alive = true;

  function wake(when: number, resolve: () => void): () => void {
    return time.at(when, () => {
      if (alive) resolve();
    });
  }

  const world: World = {
    now: () => time.now(),
    monotonic: () => time.now(),
    sleep(until, signal) {
      return new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const forget = wake(until, () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        });
        const onAbort = () => {
          forget();
          if (alive) resolve();
        };
        signal.addEventListener("abort", onAbort, { once: true });
      });
    },
    id: () => `i${String(ids.next++).padStart(6, "0")}`,
    chance: () => chances.roll(),
    log: (level, what, facts = {}) => void log.push({ life: number, level, what, facts }),
  };

  return {
    number,
    world,
    alive: () => alive,
    kill() {
      alive = false;
    },
    pass: (ms) => new Promise((resolve) => void wake(time.now() + ms, resolve)),
  };
}
