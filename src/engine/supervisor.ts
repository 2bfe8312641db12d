// Feeds what happens to the life cycle and obeys its orders. A stop is durable first and bounded always: whatever a turn,
// a send or a platform does, the end comes within the drain plus a few seconds.

import { type Instant, later } from "../core/ids.ts";
import {
  type Lifecycle,
  type LifecycleEvent,
  type Order,
  type StopIntent,
  advanceLifecycle,
} from "../core/lifecycle.ts";
import { limits } from "../core/limits.ts";
import { sentenceOf } from "../core/fault.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { Links } from "./links.ts";
import type { Parts } from "./parts.ts";
import type { Pump } from "./outbox/pump.ts";

export type Ending = { readonly intent: StopIntent; readonly clean: boolean };

export interface Supervisor {
  life(): Lifecycle;
  /** Recovery is done; `open` is called unless a stop was asked meanwhile. */
  booted(open: () => void): void;
  stop(intent: StopIntent): void;
  readonly ended: Promise<Ending>;
}

export type Crew = { readonly lanes: Lanes; readonly pump: Pump; readonly links: Links; readonly letGo: () => void };

export function supervisor(parts: Parts, crew: Crew, onChange: () => void): Supervisor {
  const { world, ledger, boot } = parts;
  const { promise: ended, resolve } = Promise.withResolvers<Ending>();
  const over = new AbortController();
  let life: Lifecycle = { phase: "booting" };
  let open = () => undefined as void;

  function feed(event: LifecycleEvent): void {
    const next = advanceLifecycle(life, event, parts.settings.drainMs);
    const changed = next.life.phase !== life.phase;
    life = next.life;
    for (const order of next.orders) carryOut(order);
    if (changed) onChange();
  }

  function carryOut(order: Order): void {
    switch (order) {
      case "open-lanes":
        return open();
      case "go-on-booting":
        return;
      case "begin-stop":
        crew.lanes.close("Gateway shutting down");
        void remember(false);
        void crew.lanes.idle().then(() => feed({ type: "idle" }));
        return timeUp();
      case "park-turns":
        void crew.lanes.park().then(() => feed({ type: "idle" }));
        return timeUp();
      case "close-all":
        over.abort();
        return void closeAll();
      case "end":
        return;
    }
  }

  function timeUp(): void {
    if (life.phase !== "draining" && life.phase !== "parking") return;
    const { phase, until } = life;
    void world.sleep(until, over.signal).then(() => {
      if (life.phase === phase) feed({ type: "time-up", at: world.now() });
    });
  }

  async function remember(clean: boolean): Promise<void> {
    if (!("intent" in life)) return;
    const stop = { ...life.intent, at: world.now(), clean };
    await attempt("the stop could not be noted", ledger.commit([{ put: "stop", boot, stop }]));
  }

  async function closeAll(): Promise<void> {
    if (life.phase !== "closing") return;
    const { intent, clean } = life;
    await within(limits.sendGraceMs, crew.pump.close());
    crew.letGo();
    await Promise.all([
      within(limits.closeMs, crew.links.close()),
      within(limits.closeMs, attempt("the agent did not close", parts.agent.close("all"))),
    ]);
    await within(limits.closeMs, remember(clean));
    ledger.close();
    feed({ type: "all-closed" });
    resolve({ intent, clean });
  }

  /** Every step of the end runs, whatever an earlier one did. */
  async function attempt(what: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      world.log("warn", what, { why: sentenceOf(error) });
    }
  }

  async function within(ms: number, work: Promise<void>): Promise<void> {
    const done = new AbortController();
    await Promise.race([work, world.sleep(later(world.now(), ms) as Instant, done.signal)]);
    done.abort("over");
  }

  return {
    life: () => life,
    booted(whenOpen) {
      open = whenOpen;
      feed({ type: "booted", at: world.now() });
    },
    stop: (intent) => feed({ type: "stop-asked", intent, at: world.now() }),
    ended,
  };
}
