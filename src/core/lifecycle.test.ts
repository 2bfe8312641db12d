// Every event in every phase of the process: the phase that follows and the orders given.

import assert from "node:assert/strict";
import { test } from "node:test";
import { at } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import { Bug } from "./ids.ts";
import { type Advance, type Lifecycle, type LifecycleEvent, type StopIntent, advanceLifecycle } from "./lifecycle.ts";
import { limits } from "./limits.ts";

const first: StopIntent = { class: "restart", by: "cli", reason: "asked first" };
const second: StopIntent = { class: "planned", by: "signal", reason: "asked second" };
const drainMs = 7_000;

const phases = {
  booting: { phase: "booting" },
  serving: { phase: "serving", since: at(1) },
  draining: { phase: "draining", intent: first, until: at(50) },
  parking: { phase: "parking", intent: first, until: at(60) },
  closed: { phase: "closed", intent: first, clean: true },
} as const satisfies Record<Lifecycle["phase"], Lifecycle>;

const events = {
  booted: { type: "booted", at: at(10) },
  "stop-asked": { type: "stop-asked", intent: second, at: at(10) },
  idle: { type: "idle" },
  "time-up": { type: "time-up", at: at(10) },
} as const satisfies Record<LifecycleEvent["type"], LifecycleEvent>;

const draining: Advance = {
  life: { phase: "draining", intent: second, until: at(10 + drainMs) },
  orders: ["close-lanes"],
};
const parking: Advance = {
  life: { phase: "parking", intent: first, until: at(10 + limits.parkMs) },
  orders: ["park-turns"],
};
const closed = (clean: boolean): Advance => ({
  life: { phase: "closed", intent: first, clean },
  orders: ["close-all"],
});

const expected: Record<LifecycleEvent["type"], Record<Lifecycle["phase"], Advance | "stays" | "Bug">> = {
  booted: {
    booting: { life: { phase: "serving", since: at(10) }, orders: ["open-lanes"] },
    serving: "Bug",
    draining: "stays",
    parking: "stays",
    closed: "stays",
  },
  "stop-asked": { booting: draining, serving: draining, draining: parking, parking: "stays", closed: "stays" },
  idle: { booting: "stays", serving: "stays", draining: closed(true), parking: closed(true), closed: "stays" },
  "time-up": { booting: "stays", serving: "stays", draining: parking, parking: closed(false), closed: "stays" },
};

const pairs = (Object.keys(phases) as Lifecycle["phase"][]).flatMap((phase) =>
  (Object.keys(events) as LifecycleEvent["type"][]).map((event) => {
    const gives = expected[event][phase];
    return {
      name: `${event} while ${phase} → ${typeof gives === "string" ? gives : gives.life.phase}`,
      phase,
      event,
      gives,
    };
  }),
);

table("lifecycle: event × phase", pairs, ({ phase, event, gives }) => {
  const advance = (): Advance => advanceLifecycle(phases[phase], events[event], drainMs);
  if (gives === "Bug") assert.throws(advance, Bug);
  else assert.deepEqual(advance(), gives === "stays" ? { life: phases[phase], orders: [] } : gives);
});

test("every one of the 20 pairs is in the table", () => {
  assert.equal(pairs.length, 20);
});

test("who asked first stays the reason, however often a stop is asked", () => {
  let life: Lifecycle = phases.serving;
  for (const intent of [first, second, second, second]) {
    life = advanceLifecycle(life, { type: "stop-asked", intent, at: at(10) }, drainMs).life;
  }
  assert.deepEqual(life, { phase: "parking", intent: first, until: at(10 + limits.parkMs) });
});

test("without a drain the time is up at once", () => {
  const { life } = advanceLifecycle(phases.serving, events["stop-asked"], 0);
  assert.deepEqual(life, { phase: "draining", intent: second, until: at(10) });
});

test("everything after the drain fits into five seconds", () => {
  assert.ok(limits.parkMs + limits.sendGraceMs + limits.closeMs <= 5_000);
});
