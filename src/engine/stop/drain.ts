// How many turns are at work, and telling it while a stop waits for them: at the start, at every change, otherwise at
// most once a second, and at the end.

import { type Instant, later } from "../../core/ids.ts";
import type { StopClass } from "../../core/recovery.ts";
import { over } from "../abort.ts";
import type { Parts } from "../parts.ts";
import type { Runner } from "../turns/run.ts";

export interface Census {
  count(): number;
  /** The same runner; what it runs is counted. */
  counted(run: Runner): Runner;
  onChange(listener: () => void): void;
}

export function census(): Census {
  const listeners: (() => void)[] = [];
  let count = 0;
  function move(by: 1 | -1): void {
    count += by;
    for (const listener of listeners) listener();
  }
  return {
    count: () => count,
    // Waits for nothing itself: an answer on its way out must not meet a lane that is still taken.
    counted: (run) => (running, journal) => {
      move(1);
      const done = run(running, journal);
      const left = () => move(-1);
      done.then(left, left);
      return done;
    },
    onChange: (listener) => void listeners.push(listener),
  };
}

export type DrainFacts = { readonly class: StopClass; readonly until: Instant; readonly deadline: Instant };

const everyMs = 1_000;

/** Tells how the drain goes until the answer is called; then once more. */
export function tellDrain(parts: Parts, people: Census, facts: DrainFacts): () => void {
  const { world, events } = parts;
  const ended = new AbortController();
  let toldAt = world.now();

  function tell(isOver: boolean): void {
    toldAt = world.now();
    events.emit({ type: "draining", ...facts, running: people.count(), over: isOver });
  }

  async function keepTelling(): Promise<void> {
    while (!ended.signal.aborted) {
      await world.sleep(later(toldAt, everyMs), ended.signal);
      if (!ended.signal.aborted && world.now() >= later(toldAt, everyMs)) tell(false);
    }
  }

  tell(false);
  people.onChange(() => {
    if (!ended.signal.aborted) tell(false);
  });
  keepTelling().catch(parts.broken);
  return () => {
    if (ended.signal.aborted) return;
    ended.abort(over);
    tell(true);
  };
}
