// The steps of a stop, one after another or side by side: each is begun whatever became of those before it, waited for
// no longer than it may take, timed, told to the log, and remembered for the story of this life. What fails is collected.

import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import type { Phase } from "../../core/recovery.ts";
import type { Facts, World } from "../../ports/world.ts";

export interface Timeline {
  /** Begins the work and waits for it at most this long; never rejects. What the work answers is told beside its time. */
  step(name: string, ms: number, work: () => Promise<Facts | void>): Promise<void>;
  /** Something whose time was taken elsewhere. */
  note(name: string, ms: number, facts?: Facts): void;
  readonly phases: readonly Phase[];
  readonly failures: readonly string[];
}

export function timeline(world: World): Timeline {
  const phases: Phase[] = [];
  const failures: string[] = [];

  function note(name: string, ms: number, facts: Facts = {}): void {
    phases.push(Object.keys(facts).length === 0 ? { name, ms } : { name, ms, facts });
    world.log("info", `stop: ${name}`, { ms, ...facts });
  }

  /** A failure that comes too late to be waited for is still no surprise to anybody. */
  async function attempt(name: string, work: () => Promise<Facts | void>): Promise<Facts> {
    try {
      return (await work()) ?? {};
    } catch (error) {
      failures.push(`${name}: ${sentenceOf(error)}`);
      return { failed: sentenceOf(error) };
    }
  }

  return {
    phases,
    failures,
    note,
    async step(name, ms, work) {
      const from = world.now();
      const done = new AbortController();
      const late: Facts = { timed_out: true };
      const patience = world.sleep(later(from, ms), done.signal).then(() => late);
      const facts = await Promise.race([attempt(name, work), patience]);
      done.abort("over");
      if (facts === late) failures.push(`${name}: it took longer than ${ms} ms`);
      note(name, world.now() - from, facts);
    },
  };
}
