// The life of this process as one union. In memory only, because it describes this process; everything else is stored.

import { Bug, type Instant, later } from "./ids.ts";
import { limits } from "./limits.ts";
import type { StopFacts } from "./recovery.ts";

export type StopIntent = Pick<StopFacts, "class" | "by" | "reason" | "context">;

export type Lifecycle =
  | { readonly phase: "booting" }
  | { readonly phase: "serving"; readonly since: Instant }
  | { readonly phase: "draining"; readonly intent: StopIntent; readonly until: Instant }
  | { readonly phase: "parking"; readonly intent: StopIntent; readonly until: Instant }
  | { readonly phase: "closed"; readonly intent: StopIntent; readonly clean: boolean };

export type LifecycleEvent =
  | { readonly type: "booted"; readonly at: Instant }
  | { readonly type: "stop-asked"; readonly intent: StopIntent; readonly at: Instant }
  | { readonly type: "idle" }
  | { readonly type: "time-up"; readonly at: Instant };

export type Order = "open-lanes" | "close-lanes" | "park-turns" | "close-all";

export type Advance = { readonly life: Lifecycle; readonly orders: readonly Order[] };

/** What follows from an event; `drainMs` is how long running turns may finish by themselves. */
export function advanceLifecycle(life: Lifecycle, event: LifecycleEvent, drainMs: number): Advance {
  switch (event.type) {
    case "booted":
      if (life.phase === "serving") throw new Bug("booted twice");
      if (life.phase !== "booting") return stay(life);
      return { life: { phase: "serving", since: event.at }, orders: ["open-lanes"] };
    case "stop-asked":
      if (life.phase === "draining") return park(life.intent, event.at);
      if (life.phase === "parking" || life.phase === "closed") return stay(life);
      return {
        life: { phase: "draining", intent: event.intent, until: later(event.at, drainMs) },
        orders: ["close-lanes"],
      };
    case "idle":
      if (life.phase !== "draining" && life.phase !== "parking") return stay(life);
      return { life: { phase: "closed", intent: life.intent, clean: true }, orders: ["close-all"] };
    case "time-up":
      if (life.phase === "draining") return park(life.intent, event.at);
      if (life.phase !== "parking") return stay(life);
      return { life: { phase: "closed", intent: life.intent, clean: false }, orders: ["close-all"] };
  }
}

function park(intent: StopIntent, at: Instant): Advance {
  return { life: { phase: "parking", intent, until: later(at, limits.parkMs) }, orders: ["park-turns"] };
}

function stay(life: Lifecycle): Advance {
  return { life, orders: [] };
}
