// Feeds what happens to the life cycle and obeys its orders. A stop is durable first and bounded always: whatever a turn,
// a notice, a send, a platform or the disk does, the end comes within the drain plus five seconds, and nothing that was
// acknowledged or finished is lost by it. The steps of the end are in `close.ts`.

import { Bug, type Instant, type SessionId } from "../../core/ids.ts";
import {
  type Lifecycle,
  type LifecycleEvent,
  type Order,
  type StopIntent,
  advanceLifecycle,
  remaining,
} from "../../core/lifecycle.ts";
import { limits } from "../../core/limits.ts";
import type { Inbound } from "../../core/message.ts";
import { endingWords } from "../../core/notice.ts";
import type { StopFacts } from "../../core/recovery.ts";
import type { Ending } from "../../ports/gateway.ts";
import type { Processes } from "../../ports/processes.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { Links } from "../links.ts";
import { markRunning } from "../marks.ts";
import type { Pump } from "../outbox/pump.ts";
import type { Parts } from "../parts.ts";
import { closeAll } from "./close.ts";
import { type Census, tellDrain } from "./drain.ts";
import { tellPeople } from "./notices.ts";
import { timeline } from "./timeline.ts";

export interface Supervisor {
  life(): Lifecycle;
  /** Recovery is done; `open` is called unless a stop was asked meanwhile. */
  booted(open: () => void): void;
  /** Safe mode: resolves when it is left, also by a stop. */
  hold(reason: string): Promise<void>;
  release(): void;
  stop(intent: StopIntent): void;
  readonly ended: Promise<Ending>;
}

export type Crew = {
  readonly lanes: Lanes;
  readonly people: Census;
  readonly pump: Pump;
  readonly links: Links;
  readonly processes: Processes | null;
  /** Messages that asked for a restart in a chat. */
  readonly asked: () => readonly Inbound[];
  /** While the gateway starts: resolves when that has come to an end, one way or the other. Null afterwards. */
  readonly started: () => Promise<void> | null;
  /** Nothing may be waited for any more. */
  readonly letGo: () => void;
};

export function supervisor(parts: Parts, crew: Crew, onChange: () => void): Supervisor {
  const { world, ledger, boot } = parts;
  const { promise: ended, resolve } = Promise.withResolvers<Ending>();
  const line = timeline(world);
  const over = new AbortController();
  let life: Lifecycle = { phase: "booting" };
  let open = () => undefined as void;
  let goOn = () => undefined as void;
  let askedAt: Instant = world.now();
  let drained = () => undefined as void;
  let notified: Promise<void> = Promise.resolve();
  let interrupted: readonly SessionId[] = [];

  function feed(event: LifecycleEvent): void {
    const next = advanceLifecycle(life, event, parts.settings.drainMs);
    const changed = next.life.phase !== life.phase;
    life = next.life;
    if (changed) onChange();
    for (const order of next.orders) carryOut(order);
  }

  function carryOut(order: Order): void {
    switch (order) {
      case "open-lanes":
        return open();
      case "go-on-booting":
        return goOn();
      case "begin-stop":
        return void beginStop().catch(parts.broken);
      case "park-turns":
        return void parkTurns().catch(parts.broken);
      case "close-all":
        return void endStop().catch(parts.broken);
      case "end":
        return end();
    }
  }

  function stopping(): Extract<Lifecycle, { deadline: Instant }> {
    if (!("deadline" in life)) throw new Bug(`no stop is under way while ${life.phase}`);
    return life;
  }

  /** What one step may take: its cap, or what is left of the one deadline. */
  function cap(ms: number): number {
    return remaining(stopping().deadline, ms, world.now());
  }

  /** Ends the present phase when its time is over. */
  function limit(phase: Lifecycle["phase"], until: Instant): void {
    void world.sleep(until, over.signal).then(() => {
      if (life.phase === phase) feed({ type: "time-up", at: world.now() });
    });
  }

  function factsOf(intent: StopIntent, clean: boolean): StopFacts {
    return { ...intent, at: askedAt, clean };
  }

  async function beginStop(): Promise<void> {
    const now = stopping();
    const { intent, deadline } = now;
    const until = now.phase === "draining" ? now.until : deadline;
    askedAt = world.now();
    goOn();
    crew.lanes.close(endingWords(intent.class));
    limit("closing", deadline);
    const running = crew.lanes.running();
    await line.step("stored", cap(limits.noteMs), () => noteStop(intent));
    notified = line.step("notify", cap(limits.noticeMs), () =>
      tellPeople(parts, { intent, running, asked: crew.asked() }),
    );
    const before = crew.people.count();
    const from = world.now();
    const told = tellDrain(parts, crew.people, { class: intent.class, until, deadline });
    drained = () => {
      drained = () => undefined;
      told();
      const ms = world.now() - from;
      const left = crew.people.count();
      const seconds = Math.round(ms / 100) / 10;
      line.note("drain", ms, { seconds, running: before, finished: before - left, left, timed_out: left > 0 });
    };
    // Somebody may have lost patience meanwhile.
    if (life.phase !== "draining") return drained();
    void crew.lanes.idle().then(() => feed({ type: "idle" }));
    limit("draining", until);
  }

  async function noteStop(intent: StopIntent): Promise<void> {
    await ledger.commit([{ put: "stop", boot, stop: factsOf(intent, false) }]);
  }

  /** Marked first: who is interrupted is known before anybody is told to stop. */
  async function parkTurns(): Promise<void> {
    drained();
    const now = stopping();
    const running = crew.lanes.running();
    const from = world.now();
    if (running.length > 0)
      await line.step("mark", cap(limits.noteMs), async () => ({
        marked: await markRunning(parts, running, now.intent.class),
      }));
    interrupted = crew.lanes.running().map(({ session }) => session.id);
    void crew.lanes.park().then(() => {
      line.note("park", world.now() - from, { interrupted: interrupted.length });
      feed({ type: "idle" });
    });
    if (now.phase === "parking") limit("parking", now.until);
  }

  async function endStop(): Promise<void> {
    drained();
    const now = stopping();
    if (now.phase !== "closing") throw new Bug(`closing while ${now.phase}`);
    const final = await closeAll(parts, crew, line, { cap, notified, interrupted, intent: now.intent });
    const story = { silentAt: final.silentAt, phases: line.phases };
    const last = remaining(now.deadline, limits.finalMs, world.now(), 0);
    await line.step("final writes", last, async () => {
      const stop = factsOf(now.intent, now.clean);
      await ledger.commit([
        { put: "stop", boot, stop },
        { put: "story", boot, story },
      ]);
    });
    if (life.phase === "closing") feed({ type: "all-closed" });
  }

  function end(): void {
    if (life.phase !== "closed") return;
    over.abort("over");
    crew.letGo();
    ledger.close();
    if (line.failures.length > 0)
      world.log("warn", "not every part of the stop went well; nothing that was stored is lost", {
        failures: line.failures,
      });
    resolve({ intent: life.intent, clean: life.clean, askedAt, phases: line.phases });
  }

  return {
    life: () => life,
    booted(whenOpen) {
      open = whenOpen;
      feed({ type: "booted", at: world.now() });
    },
    hold: (reason) =>
      new Promise((resume) => {
        goOn = resume;
        feed({ type: "held", reason, at: world.now() });
      }),
    release: () => feed({ type: "released" }),
    stop: (intent) => feed({ type: "stop-asked", intent, at: world.now() }),
    ended,
  };
}
