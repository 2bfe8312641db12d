// The life of this process as one union, and the time a stop may take. In memory only, because it describes this process;
// everything else is stored. The first request decides what kind of stop it is; nothing changes that afterwards.

import { Bug, type Instant, later } from "./ids.ts";
import { limits } from "./limits.ts";
import type { Boot, StopClass, StopFacts } from "./recovery.ts";

export type StopIntent = Pick<StopFacts, "class" | "by" | "reason" | "signal" | "context">;

export type Lifecycle =
  | { readonly phase: "booting" }
  /** Died too often before it was ready: it can be asked what is wrong, and does nothing else. */
  | { readonly phase: "safe"; readonly since: Instant; readonly reason: string }
  | { readonly phase: "serving"; readonly since: Instant }
  /** Running turns may finish until `until`; the whole stop is over at `deadline`. */
  | ({ readonly phase: "draining"; readonly since: Instant; readonly until: Instant } & Stopping)
  /** What still runs was interrupted and has until `until` to put itself away. */
  | ({ readonly phase: "parking"; readonly since: Instant; readonly until: Instant } & Stopping)
  /** Sends, agents, platforms and the last writes. */
  | ({ readonly phase: "closing"; readonly clean: boolean } & Stopping)
  | { readonly phase: "closed"; readonly intent: StopIntent; readonly clean: boolean };

type Stopping = { readonly intent: StopIntent; readonly deadline: Instant };

export type LifecycleEvent =
  | { readonly type: "booted"; readonly at: Instant }
  /** Safe mode begins, or is left for another try. */
  | { readonly type: "held"; readonly reason: string; readonly at: Instant }
  | { readonly type: "released" }
  | { readonly type: "stop-asked"; readonly intent: StopIntent; readonly at: Instant }
  /** Nothing runs any more. */
  | { readonly type: "idle" }
  /** The time of the present phase is over. */
  | { readonly type: "time-up"; readonly at: Instant }
  | { readonly type: "all-closed" };

export type Order = "open-lanes" | "go-on-booting" | "begin-stop" | "park-turns" | "close-all" | "end";

export type Advance = { readonly life: Lifecycle; readonly orders: readonly Order[] };

/** What follows from an event; `drainMs` is how long running turns may finish by themselves. */
export function advanceLifecycle(life: Lifecycle, event: LifecycleEvent, drainMs: number): Advance {
  switch (event.type) {
    case "booted":
      if (life.phase === "serving" || life.phase === "safe") throw new Bug(`booted while ${life.phase}`);
      if (life.phase !== "booting") return stay(life);
      return { life: { phase: "serving", since: event.at }, orders: ["open-lanes"] };
    case "held":
      if (life.phase === "serving" || life.phase === "safe") throw new Bug(`held while ${life.phase}`);
      if (life.phase !== "booting") return stay(life);
      return { life: { phase: "safe", since: event.at, reason: event.reason }, orders: [] };
    case "released":
      if (life.phase !== "safe") return stay(life);
      return { life: { phase: "booting" }, orders: ["go-on-booting"] };
    case "stop-asked":
      return afterRequest(life, event, drainMs);
    case "idle":
      if (life.phase !== "draining" && life.phase !== "parking") return stay(life);
      return close(life, true);
    case "time-up":
      return afterTime(life, event.at);
    case "all-closed":
      if (life.phase === "closed") return stay(life);
      if (life.phase !== "closing") throw new Bug(`all closed while ${life.phase}`);
      return end(life);
  }
}

/**
 * The first request begins the drain. A marker and its signal, or a terminal's signal and a supervisor's, are one
 * request; another one a second later means that somebody has lost patience, and the drain ends early.
 */
function afterRequest(life: Lifecycle, { intent, at }: LifecycleEvent & { type: "stop-asked" }, drainMs: number) {
  switch (life.phase) {
    case "booting":
    case "safe":
    case "serving": {
      const until = later(at, drainMs);
      const deadline = later(until, limits.stopMs);
      return order({ phase: "draining", intent, since: at, until, deadline }, "begin-stop");
    }
    case "draining":
      return at - life.since >= limits.sameRequestMs ? park(life, at) : stay(life);
    case "parking":
    case "closing":
    case "closed":
      return stay(life);
  }
}

function afterTime(life: Lifecycle, at: Instant): Advance {
  switch (life.phase) {
    case "booting":
    case "safe":
    case "serving":
    case "closed":
      return stay(life);
    case "draining":
      return park(life, at);
    case "parking":
      return close(life, false);
    case "closing":
      return end(life);
  }
}

function park({ intent, deadline }: Stopping, at: Instant): Advance {
  const until = later(at, remaining(deadline, limits.parkMs, at));
  return order({ phase: "parking", intent, since: at, until, deadline }, "park-turns");
}

function close({ intent, deadline }: Stopping, clean: boolean): Advance {
  return order({ phase: "closing", intent, clean, deadline }, "close-all");
}

function end({ intent, clean }: Stopping & { readonly clean: boolean }): Advance {
  return order({ phase: "closed", intent, clean }, "end");
}

function order(life: Lifecycle, given: Order): Advance {
  return { life, orders: [given] };
}

function stay(life: Lifecycle): Advance {
  return { life, orders: [] };
}

/**
 * How long one step of a stop may take: its own cap, or what is left of the one deadline. The last second belongs to the
 * final writes, which ask with a reserve of 0.
 */
export function remaining(deadline: Instant, cap: number, now: Instant, reserve: number = limits.finalMs): number {
  return Math.max(0, Math.min(cap, deadline - reserve - now));
}

/**
 * Why this life should hold still, or null. Three lives in a row that died before they were ready, on the same machine
 * start and with the same configuration, will not be followed by a better one. `boots` are the last, the newest first.
 */
export function decideSafeMode(boots: readonly Boot[], self: Boot): string | null {
  const before = boots.filter((boot) => boot.id !== self.id).slice(0, limits.unreadyMax);
  const diedUnready = (boot: Boot): boolean =>
    boot.readyAt === null && (boot.stop === null || boot.stop.class === "fault");
  const alike = (boot: Boot): boolean => boot.machine === self.machine && boot.config === self.config;
  if (before.length < limits.unreadyMax || !before.every((boot) => diedUnready(boot) && alike(boot))) return null;
  const minutes = limits.safeModeMs / 60_000;
  return `the last ${limits.unreadyMax} starts died before they were ready; it tries again after ${minutes} minutes, when the configuration changes, or with \`everturn gateway resume\``;
}

/** Who starts the gateway again when it ends; `task` is the Windows task scheduler. */
export type SupervisorKind = "systemd" | "launchd" | "s6" | "task";

export const exitCodes = {
  stopped: 0,
  unexpected: 1,
  usage: 64,
  bug: 70,
  again: 75,
  config: 78,
  stayDown: 79,
} as const;

/**
 * What the process reports to its parent. A restart that has arranged its own return, under systemd or by a successor
 * that waits, ends with 0; under any other supervisor, or without a successor, with "start me again". The unit of systemd
 * restarts after 0 as well, so there a planned stop ends with "stay down": it may come without systemctl, by a marker or
 * SIGINT. Running out of time changes nothing: the class decides.
 */
export function exitCodeOf(
  ending: { readonly intent: { readonly class: StopClass } },
  supervisor: SupervisorKind | null,
  isReturnArranged: boolean,
): number {
  switch (ending.intent.class) {
    case "planned":
      return supervisor === "systemd" ? exitCodes.stayDown : exitCodes.stopped;
    case "take-over":
      return reportedCode(exitCodes.stayDown, supervisor);
    case "restart":
      if (supervisor !== null && supervisor !== "systemd") return exitCodes.again;
      return isReturnArranged ? exitCodes.stopped : exitCodes.again;
    case "unexpected":
      return exitCodes.unexpected;
    case "fault":
      return exitCodes.bug;
  }
}

/** launchd and Windows know no code that means "do not start me again", so there such an end is reported as a plain one. */
export function reportedCode(code: number, supervisor: SupervisorKind | null): number {
  const staysDown = code === exitCodes.config || code === exitCodes.stayDown;
  return staysDown && (supervisor === "launchd" || supervisor === "task") ? exitCodes.stopped : code;
}
