// The contract of a world, as tests: time that passes, ids that grow, chance within bounds, a log that swallows anything.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Instant, later } from "../core/ids.ts";
import type { World } from "../ports/world.ts";

export type OpenedWorld = {
  readonly world: World;
  /** Lets time pass until the work is done. Real time passes by itself; a virtual clock is wound here. */
  readonly pass: <T>(work: Promise<T>) => Promise<T>;
};
export type OpenWorld = () => OpenedWorld;

const never = new AbortController().signal;

export function worldSuite(name: string, open: OpenWorld): void {
  describe(`world ${name}`, () => {
    idTests(open);
    timeTests(open);
    logTests(open);
  });
}

function idTests(open: OpenWorld): void {
  test("ids grow, are never empty, and sort as texts", () => {
    const { world } = open();
    let last = "";
    for (let n = 0; n < 20_000; n++) {
      const id = world.id();
      assert.ok(id > last, `${id} does not come after ${last}`);
      last = id;
    }
  });

  test("ids can be part of keys and names: no spaces, slashes, dots or colons", () => {
    const { world } = open();
    for (let n = 0; n < 100; n++) assert.match(world.id(), /^[A-Za-z0-9_-]+$/);
  });

  test("chance lies between 0 and 1 and is not always the same", () => {
    const { world } = open();
    const thrown = Array.from({ length: 1_000 }, () => world.chance());
    assert.ok(thrown.every((one) => one >= 0 && one <= 1));
    assert.ok(new Set(thrown).size > 100);
    assert.ok(Math.min(...thrown) < 0.25 && Math.max(...thrown) > 0.75);
  });
}

function timeTests(open: OpenWorld): void {
  test("now is a whole number of milliseconds", () => {
    assert.ok(Number.isSafeInteger(open().world.now()));
  });

  test("monotonic time passes while somebody sleeps", async () => {
    const { world, pass } = open();
    const begun = world.monotonic();
    await pass(world.sleep(later(world.now(), 20), never));
    assert.ok(world.monotonic() - begun >= 19, "it stands still");
  });

  test("a sleep ends at its time, not before", async () => {
    const { world, pass } = open();
    for (const ms of [0, 1, 5, 20]) {
      const until = later(world.now(), ms);
      await pass(world.sleep(until, never));
      assert.ok(world.now() >= until, `woke ${until - world.now()} ms too early`);
    }
  });

  test("a sleep until a moment that is over ends at once", async () => {
    const { world, pass } = open();
    for (const until of [later(world.now(), -1), 0 as Instant]) await pass(world.sleep(until, never));
  });

  test("a sleep ends when it is aborted, before it or meanwhile, and never fails", async () => {
    const { world } = open();
    const far = later(world.now(), 365 * 24 * 3_600_000);
    await world.sleep(far, AbortSignal.abort());
    const stop = new AbortController();
    const sleeping = Promise.all([world.sleep(far, stop.signal), world.sleep(far, stop.signal)]);
    stop.abort(new Error("wake up"));
    const aborted = world.now();
    await sleeping;
    assert.ok(world.now() - aborted < 10_000, "it went on sleeping");
  });

  test("sleepers wake in the order of their times", async () => {
    const { world, pass } = open();
    const woken: number[] = [];
    const begun = world.now();
    const sleep = async (ms: number): Promise<void> => {
      await world.sleep(later(begun, ms), never);
      woken.push(ms);
    };
    await pass(Promise.all([30, 10, 20].map(sleep)));
    assert.deepEqual(woken, [10, 20, 30]);
  });
}

function logTests(open: OpenWorld): void {
  test("no fact makes the log throw", () => {
    const { world } = open();
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const facts: Readonly<Record<string, unknown>> = {
      circle,
      big: 10n ** 30n,
      symbol: Symbol("s"),
      error: new Error("outer", { cause: new Error("inner") }),
      date: new Date(Number.NaN),
      map: new Map([["a", 1]]),
      nothing: undefined,
      call: () => 1,
      text: "line\nends \u0000 \ud83d",
      get trap(): never {
        throw new Error("do not look");
      },
    };
    for (const level of ["debug", "info", "warn", "error"] as const) {
      world.log(level, "something happened");
      world.log(level, "something happened", facts);
      for (const [name, value] of Object.entries({ ...withoutTrap(facts) })) world.log(level, name, { [name]: value });
    }
  });
}

function withoutTrap(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.keys(facts).flatMap((name) => (name === "trap" ? [] : [[name, facts[name]]])));
}
