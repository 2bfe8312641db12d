// Virtual time and seeded chance. Everything that waits in a simulated world waits in this one queue, so a story runs in
// milliseconds and the same seed tells the same story.

import type { Instant } from "../core/ids.ts";

export type Dice = {
  /** Between 0 and 1. */
  roll(): number;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
};

/** Mulberry32: small, fast and good enough to choose stories. */
export function dice(seed: number): Dice {
  let state = seed >>> 0;
  const roll = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    roll,
    between: (from, to) => from + Math.floor(roll() * (to - from + 1)),
    chance: (probability) => roll() < probability,
    pick(list) {
      const one = list[Math.floor(roll() * list.length)];
      if (one === undefined) throw new Error("nothing to pick from");
      return one;
    },
  };
}

export interface Time {
  now(): Instant;
  /** Calls back at a moment; the answer takes it back. */
  at(when: number, call: () => void): () => void;
  /** Lets events happen until none is left, `until` is reached or `done` says so. */
  run(until: number, done: () => boolean): Promise<"done" | "quiet" | "time-up">;
}

type Event = { readonly when: number; readonly order: number; call: (() => void) | null };

export const epoch = 1_800_000_000_000;

export function time(): Time {
  const queue: Event[] = [];
  let now = epoch;
  let order = 0;

  return {
    // A clock shows whole milliseconds, however finely things follow one another.
    now: () => Math.floor(now) as Instant,
    at(when, call) {
      const event: Event = { when: Math.max(when, now), order: order++, call };
      push(queue, event);
      return () => {
        event.call = null;
      };
    },
    async run(until, done) {
      for (;;) {
        await settled();
        if (done()) return "done";
        const event = pop(queue);
        if (event === undefined) return "quiet";
        if (event.when > until) {
          push(queue, event);
          return "time-up";
        }
        now = Math.max(now, event.when);
        event.call?.();
      }
    },
  };
}

/** All promises that can go on without time have gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function before(a: Event, b: Event): boolean {
  return a.when < b.when || (a.when === b.when && a.order < b.order);
}

/** A binary heap: the earliest event first. */
function push(heap: Event[], event: Event): void {
  let i = heap.push(event) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    const above = heap[parent] as Event;
    if (before(above, event)) break;
    heap[i] = above;
    i = parent;
  }
  heap[i] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1] as Event, heap[child] as Event)) child++;
    const below = heap[child] as Event;
    if (before(last, below)) break;
    heap[i] = below;
    i = child;
  }
  heap[i] = last;
  return first;
}
