// Every event in every phase of the process: the phase that follows and the orders given. How long the parts of a stop
// may take, and what its end is reported as.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aBoot, at } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import { Bug } from "./ids.ts";
import {
  type Advance,
  type Lifecycle,
  type LifecycleEvent,
  type StopIntent,
  type SupervisorKind,
  advanceLifecycle,
  decideSafeMode,
  exitCodeOf,
  remaining,
  reportedCode,
} from "./lifecycle.ts";
import { limits } from "./limits.ts";
import type { Boot, StopClass } from "./recovery.ts";

const first: StopIntent = { class: "restart", by: "cli", reason: "asked first" };
const second: StopIntent = { class: "planned", by: "signal", reason: "asked second" };
const drainMs = 7_000;
const deadline = at(60_000);

const phases = {
  booting: { phase: "booting" },
  safe: { phase: "safe", since: at(1), reason: "died three times" },
  serving: { phase: "serving", since: at(1) },
  draining: { phase: "draining", intent: first, since: at(0), until: at(50_000), deadline },
  parking: { phase: "parking", intent: first, since: at(0), until: at(2_000), deadline },
  closing: { phase: "closing", intent: first, clean: true, deadline },
  closed: { phase: "closed", intent: first, clean: true },
} as const satisfies Record<Lifecycle["phase"], Lifecycle>;

const now = at(1_500);
const events = {
  booted: { type: "booted", at: now },
  held: { type: "held", reason: "died three times", at: now },
  released: { type: "released" },
  "stop-asked": { type: "stop-asked", intent: second, at: now },
  idle: { type: "idle" },
  "time-up": { type: "time-up", at: now },
  "all-closed": { type: "all-closed" },
} as const satisfies Record<LifecycleEvent["type"], LifecycleEvent>;

const draining: Advance = {
  life: {
    phase: "draining",
    intent: second,
    since: now,
    until: at(1_500 + drainMs),
    deadline: at(1_500 + drainMs + limits.stopMs),
  },
  orders: ["begin-stop"],
};
const parking: Advance = {
  life: { phase: "parking", intent: first, since: now, until: at(1_500 + limits.parkMs), deadline },
  orders: ["park-turns"],
};
const closing = (clean: boolean): Advance => ({
  life: { phase: "closing", intent: first, clean, deadline },
  orders: ["close-all"],
});
const closed: Advance = { life: { phase: "closed", intent: first, clean: true }, orders: ["end"] };
const safe: Advance = { life: { phase: "safe", since: now, reason: "died three times" }, orders: [] };

type Given = Advance | "stays" | "Bug";
const expected: Record<LifecycleEvent["type"], Record<Lifecycle["phase"], Given>> = {
  booted: {
    booting: { life: { phase: "serving", since: now }, orders: ["open-lanes"] },
    safe: "Bug",
    serving: "Bug",
    draining: "stays",
    parking: "stays",
    closing: "stays",
    closed: "stays",
  },
  held: {
    booting: safe,
    safe: "Bug",
    serving: "Bug",
    draining: "stays",
    parking: "stays",
    closing: "stays",
    closed: "stays",
  },
  released: {
    booting: "stays",
    safe: { life: { phase: "booting" }, orders: ["go-on-booting"] },
    serving: "stays",
    draining: "stays",
    parking: "stays",
    closing: "stays",
    closed: "stays",
  },
  "stop-asked": {
    booting: draining,
    safe: draining,
    serving: draining,
    draining: parking,
    parking: "stays",
    closing: "stays",
    closed: "stays",
  },
  idle: {
    booting: "stays",
    safe: "stays",
    serving: "stays",
    draining: closing(true),
    parking: closing(true),
    closing: "stays",
    closed: "stays",
  },
  "time-up": {
    booting: "stays",
    safe: "stays",
    serving: "stays",
    draining: parking,
    parking: closing(false),
    closing: closed,
    closed: "stays",
  },
  "all-closed": {
    booting: "Bug",
    safe: "Bug",
    serving: "Bug",
    draining: "Bug",
    parking: "Bug",
    closing: closed,
    closed: "stays",
  },
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

test("every one of the 49 pairs is in the table", () => {
  assert.equal(pairs.length, 49);
});

table(
  "a further request",
  [
    { name: "at the same moment is the same request", afterMs: 0, phase: "draining" },
    { name: "just within a second is the same request", afterMs: 999, phase: "draining" },
    { name: "a second later ends the drain early", afterMs: 1_000, phase: "parking" },
    { name: "much later ends the drain early", afterMs: 6_999, phase: "parking" },
  ],
  ({ afterMs, phase }) => {
    const { life } = advanceLifecycle(phases.serving, { type: "stop-asked", intent: first, at: at(100) }, drainMs);
    const again = advanceLifecycle(life, { type: "stop-asked", intent: second, at: at(100 + afterMs) }, drainMs);
    assert.equal(again.life.phase, phase);
    assert.deepEqual("intent" in again.life && again.life.intent, first, "the class of the first");
  },
);

test("who asked first stays the reason, however often and in whatever phase a stop is asked", () => {
  let life: Lifecycle = phases.serving;
  const classes: readonly StopClass[] = ["restart", "planned", "unexpected", "take-over", "fault"];
  for (const [n, one] of classes.entries()) {
    const intent: StopIntent = { class: one, by: "signal", reason: one };
    life = advanceLifecycle(life, { type: "stop-asked", intent, at: at(n * 1_000) }, drainMs).life;
    assert.equal("intent" in life && life.intent.class, "restart");
    if (life.phase === "parking") life = advanceLifecycle(life, events["time-up"], drainMs).life;
  }
  assert.equal(life.phase, "closing");
});

test("without a drain the time is up at once, and the stop has five seconds", () => {
  const { life } = advanceLifecycle(phases.serving, events["stop-asked"], 0);
  assert.deepEqual(life, { phase: "draining", intent: second, since: now, until: now, deadline: at(6_500) });
});

test("parking never reaches into the last second", () => {
  const late = { ...phases.draining, deadline: at(3_000) };
  const { life } = advanceLifecycle(late, events["time-up"], drainMs);
  assert.equal(life.phase === "parking" && life.until, at(2_000));
});

table(
  "what remains for a step",
  [
    { name: "its cap, when there is time", cap: 1_000, now: 0, reserve: undefined, gives: 1_000 },
    { name: "the rest, when there is less", cap: 1_000, now: 3_400, reserve: undefined, gives: 600 },
    { name: "nothing in the last second", cap: 1_000, now: 4_000, reserve: undefined, gives: 0 },
    { name: "nothing after the deadline, never less", cap: 1_000, now: 9_000, reserve: undefined, gives: 0 },
    { name: "the last second for the final writes", cap: 1_000, now: 4_200, reserve: 0, gives: 800 },
  ],
  ({ cap, now: ms, reserve, gives }) => {
    assert.equal(remaining(at(5_000), cap, at(ms), reserve), gives);
  },
);

test("everything after the drain fits into five seconds", () => {
  assert.ok(limits.parkMs + limits.sendGraceMs + limits.closeMs + limits.finalMs <= limits.stopMs);
});

const stopped = (of: StopClass): Partial<Boot> => ({
  stop: { class: of, by: "signal", reason: "asked", at: at(9), clean: true },
});
type SafeCase = { name: string; before: readonly Partial<Boot>[]; holds: boolean };
const died: Partial<Boot> = {};
table(
  "safe mode, by the last lives, the newest first",
  [
    { name: "none", before: [], holds: false },
    { name: "two deaths", before: [died, died], holds: false },
    { name: "three deaths", before: [died, died, died], holds: true },
    { name: "three deaths after a good life", before: [died, died, died, { readyAt: at(5) }], holds: true },
    { name: "the last was ready", before: [{ readyAt: at(5) }, died, died, died], holds: false },
    { name: "the last but two was ready", before: [died, died, { readyAt: at(5) }, died], holds: false },
    { name: "one was stopped", before: [died, stopped("planned"), died, died], holds: false },
    { name: "one was told to stop by a bare signal", before: [died, died, stopped("unexpected")], holds: false },
    { name: "one was stopped by a mistake of ours", before: [died, stopped("fault"), died], holds: true },
    { name: "one died in another life of the machine", before: [died, { machine: "m0" }, died], holds: false },
    { name: "one had another configuration", before: [died, died, { config: "c0" }], holds: false },
  ] satisfies SafeCase[],
  ({ before, holds }: SafeCase) => {
    const self = aBoot("self");
    const boots = [self, ...before.map((more, n) => aBoot(`b${n}`, more))];
    const reason = decideSafeMode(boots, self);
    assert.equal(reason !== null, holds, String(reason));
  },
);

type CodeCase = { name: string; of: StopClass; under: SupervisorKind | null; isArranged?: boolean; gives: number };
const everywhere = ["systemd", "launchd", "s6", "task", null] as const;
const same = (of: StopClass, gives: number): CodeCase[] =>
  everywhere.map((under) => ({ name: `${of} under ${under ?? "nobody"} → ${gives}`, of, under, gives }));

table(
  "exit codes: class × supervisor",
  [
    ...same("planned", 0).filter(({ under }) => under !== "systemd"),
    {
      name: "S115 planned under systemd, whose unit restarts after 0 → 79",
      of: "planned",
      under: "systemd",
      gives: 79,
    },
    ...same("unexpected", 1),
    ...same("fault", 70),
    { name: "take-over under systemd → 79", of: "take-over", under: "systemd", gives: 79 },
    { name: "take-over under s6 → 79", of: "take-over", under: "s6", gives: 79 },
    { name: "take-over under nobody → 79", of: "take-over", under: null, gives: 79 },
    { name: "take-over under launchd → 0, which knows no other way", of: "take-over", under: "launchd", gives: 0 },
    { name: "take-over under the task scheduler → 0", of: "take-over", under: "task", gives: 0 },
    { name: "restart under systemd, return arranged → 0", of: "restart", under: "systemd", isArranged: true, gives: 0 },
    { name: "restart under systemd, not arranged → 75", of: "restart", under: "systemd", gives: 75 },
    { name: "restart under launchd → 75", of: "restart", under: "launchd", gives: 75 },
    { name: "restart under s6 → 75", of: "restart", under: "s6", gives: 75 },
    { name: "restart under the task scheduler → 75", of: "restart", under: "task", gives: 75 },
    { name: "restart under nobody, a successor waits → 0", of: "restart", under: null, isArranged: true, gives: 0 },
    { name: "restart under nobody, and nobody waits → 75", of: "restart", under: null, gives: 75 },
  ] satisfies CodeCase[],
  ({ of, under, isArranged = false, gives }: CodeCase) => {
    assert.equal(exitCodeOf({ intent: { class: of } }, under, isArranged), gives);
  },
);

table(
  "codes that mean stay down",
  [
    { name: "78 under systemd", code: 78, under: "systemd", gives: 78 },
    { name: "78 under s6", code: 78, under: "s6", gives: 78 },
    { name: "78 under nobody", code: 78, under: null, gives: 78 },
    { name: "78 under launchd", code: 78, under: "launchd", gives: 0 },
    { name: "78 under the task scheduler", code: 78, under: "task", gives: 0 },
    { name: "79 under launchd", code: 79, under: "launchd", gives: 0 },
    { name: "others pass", code: 70, under: "launchd", gives: 70 },
  ] as const,
  ({ code, under, gives }) => {
    assert.equal(reportedCode(code, under), gives);
  },
);
