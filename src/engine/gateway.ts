// Wires the parts and is the gateway: start is recovery, then lanes, outbox, timers and platforms open together.
// Everything it needs is handed in; it reaches for nothing.

import { Fault, sentenceOf } from "../core/fault.ts";
import { Bug, type ItemId, type TurnId, later } from "../core/ids.ts";
import type { StopIntent } from "../core/lifecycle.ts";
import { limits } from "../core/limits.ts";
import { advanceItem } from "../core/outbox.ts";
import type { Boot } from "../core/recovery.ts";
import { readCommand } from "../core/route.ts";
import type { Agent } from "../ports/agent.ts";
import type { Gateway, GatewayState, GatewayStatus } from "../ports/gateway.ts";
import type { Platform } from "../ports/platform.ts";
import type { Archive, Store } from "../ports/store.ts";
import type { World } from "../ports/world.ts";
import { cancelled, succession } from "./commands.ts";
import { events } from "./events.ts";
import { intake } from "./intake.ts";
import { lanes } from "./lanes/lanes.ts";
import { ledger } from "./ledger.ts";
import { links } from "./links.ts";
import type { Parts, Settings } from "./parts.ts";
import { pump } from "./outbox/pump.ts";
import { plans } from "./plans.ts";
import { recover } from "./recover.ts";
import { supervisor } from "./supervisor.ts";
import { timers } from "./timers.ts";
import { Interruption } from "./turns/interruption.ts";
import { runner } from "./turns/run.ts";

export type GatewayOptions = {
  readonly store: Store & Archive;
  readonly platforms: readonly Platform[];
  readonly agent: Agent;
  readonly world: World;
  readonly settings: Settings;
  readonly boot: Boot;
  /** Told of the first request to stop, before anything is done about it; its answer is kept with the stop. */
  readonly witness?: (intent: StopIntent) => StopIntent["context"];
};

export function gateway(options: GatewayOptions): Gateway {
  const { store, world, settings, boot, agent, platforms } = options;
  const ready = Promise.withResolvers<void>();
  const closing = new AbortController();
  const happened = events(world);
  let recovered: GatewayStatus["recovered"] = { turns: 0, items: 0, tookMs: 0 };
  let told: string | null = null;
  let answering = false;

  const parts: Parts = {
    boot: boot.id,
    store,
    archive: store,
    ledger: ledger(store, world, boot.id, {
      onTrouble: tell,
      onBroken: broken,
      onFenced: () => stop({ class: "take-over", by: "fault", reason: "another gateway has taken over this store" }),
    }),
    world,
    agent,
    platforms,
    settings,
    events: happened,
    closing: closing.signal,
    broken,
  };
  const outbox = pump(parts);
  const clock = timers(parts, (timer) => door.fire(timer));
  const rows = lanes(parts, runner(parts, outbox, clock));
  const door = intake(parts, rows, plans(parts, rows, outbox));
  const wires = links(parts, tell);
  const life = supervisor(parts, { lanes: rows, pump: outbox, links: wires, letGo: () => closing.abort() }, tell);

  function stop(intent: StopIntent): void {
    const context = "intent" in life.life() ? undefined : options.witness?.(intent);
    life.stop(context === undefined ? intent : { ...intent, context });
  }

  /** Work broken off because everything is closing is no news; anything else ends this life, and the next takes it up. */
  function broken(error: unknown): void {
    if (closing.signal.aborted) return;
    const what = error instanceof Fault ? "the store cannot be used" : "a mistake of ours was met";
    const stack = error instanceof Error && !(error instanceof Fault) ? { stack: error.stack } : {};
    world.log("error", `${what}; the gateway stops and goes on at its next start`, {
      why: sentenceOf(error),
      ...stack,
    });
    stop({ class: "fault", by: "fault", reason: sentenceOf(error) });
  }

  function stateNow(): { readonly state: GatewayState; readonly reason: string | null } {
    const now = life.life();
    switch (now.phase) {
      case "booting":
        return { state: "starting", reason: "it is starting" };
      case "draining":
      case "parking":
      case "closing":
        return { state: "draining", reason: now.intent.reason };
      case "safe":
        return { state: "degraded", reason: now.reason };
      case "closed":
        return { state: "stopped", reason: now.intent.reason };
      case "serving": {
        if (!answering) return { state: "starting", reason: "its platforms are connecting" };
        const trouble = parts.ledger.trouble();
        if (trouble !== null) return { state: "degraded", reason: trouble };
        const status = wires.status();
        const down = status.filter((one) => !one.up);
        if (down.length < status.length || status.length === 0) return { state: "running", reason: null };
        return {
          state: "degraded",
          reason: `no platform is connected (${down.map((one) => `${one.platform}: ${one.why}`).join("; ")})`,
        };
      }
    }
  }

  function tell(): void {
    const { state, reason } = stateNow();
    if (`${state} ${reason}` === told) return;
    told = `${state} ${reason}`;
    happened.emit({ type: "state", state, reason });
  }

  /** A sign of life now and then; while the disk is in trouble, often, so that the end of it is noticed. */
  async function beat(): Promise<void> {
    while (!closing.signal.aborted) {
      const pause = parts.ledger.trouble() === null ? limits.beatMs : limits.storeRetryMinMs * 5;
      await world.sleep(later(world.now(), pause), closing.signal);
      if (closing.signal.aborted) return;
      try {
        await parts.ledger.beat();
      } catch (error) {
        world.log("warn", "the store could not be written", { why: sentenceOf(error) });
      }
    }
  }

  async function start(): Promise<void> {
    const from = world.now();
    if ((await store.openBoot(boot)) === "refused")
      throw new Fault("already-running", "Another gateway serves this store.");
    const found = await recover(parts, boot);
    if (found === null) return;
    recovered = { turns: found.turns, items: found.items, tookMs: world.now() - from };
    life.booted(() => {
      rows.open(found.runnable, found.hold);
      outbox.open(found.sendable);
      wires.open(door.accept);
      clock.run(closing.signal).catch(broken);
      beat().catch(broken);
    });
    await Promise.race([wires.answered(), world.sleep(later(world.now(), limits.readyMs), closing.signal)]);
    answering = true;
    tell();
    ready.resolve();
  }

  /** Recovery first: what it reads must not move under it. */
  function refuseWhileStarting(): void {
    if (life.life().phase === "booting") throw new Fault("busy", "The gateway is starting. Try again in a moment.");
  }

  async function turnOrFault(id: TurnId) {
    refuseWhileStarting();
    const turn = await store.turn(id);
    if (turn === null) throw new Fault("not-found", `There is no turn ${id}. List them with \`everturn turns\`.`);
    return turn;
  }

  async function itemOrFault(id: ItemId) {
    refuseWhileStarting();
    const item = await store.item(id);
    if (item === null)
      throw new Fault("not-found", `There is no outbox item ${id}. List them with \`everturn outbox\`.`);
    if (item.now.state === "sending" || item.now.state === "delivered") {
      throw new Fault("not-possible", `Outbox item ${id} is ${item.now.state} already.`);
    }
    return item;
  }

  async function mustCommit(changes: Parameters<typeof parts.ledger.commit>[0]): Promise<void> {
    const result = await parts.ledger.commit(changes);
    if (result !== "committed")
      throw new Fault("not-possible", "It changed at that very moment. Look again, then try again.");
  }

  return {
    async run() {
      try {
        await start();
      } catch (error) {
        // A stop asked during the start wins over whatever the start still met.
        if (life.life().phase === "booting" || life.life().phase === "serving") throw error;
        world.log("warn", "the start was broken off by a stop", { why: sentenceOf(error) });
      }
      return life.ended;
    },
    ready: ready.promise,
    stop,
    status: () => ({
      ...stateNow(),
      startedAt: boot.startedAt,
      boot: boot.id,
      running: rows.running().map(({ turn, steps }) => ({
        turn: turn.id,
        session: turn.session,
        startedAt: turn.now.state === "running" ? turn.now.startedAt : turn.acceptedAt,
        steps,
      })),
      platforms: wires.status(),
      recovered,
    }),
    watch: happened.watch,
    async post(to, text, key) {
      refuseWhileStarting();
      return door.post(to, text, key);
    },
    async cancel(id) {
      const turn = await turnOrFault(id);
      if (turn.now.state === "done")
        throw new Fault("not-possible", `Turn ${id} has ended already (${turn.now.outcome}).`);
      const session = await store.session(turn.session);
      if (session === null) throw new Bug(`turn ${id} belongs to no session`);
      await mustCommit(cancelled(turn, session, "cancelled by the operator", world.now()));
      const lane = rows.laneOf(turn.session);
      if (lane !== null) rows.interrupt(lane, new Interruption("cancelled", "Cancelled by the operator"), { is: id });
      happened.emit({ type: "turn-ended", session: turn.session, turn: id, outcome: "cancelled" });
    },
    async retry(id) {
      const turn = await turnOrFault(id);
      if (turn.now.state !== "done")
        throw new Fault("not-possible", `Turn ${id} has not ended yet; it is ${turn.now.state}.`);
      if (readCommand(turn.input.body) !== null)
        throw new Fault("not-possible", `Turn ${id} was a command. Send it again.`);
      await door.again({ ...turn.input, key: `=retry:${id}:${world.id()}` });
    },
    async reset(id) {
      refuseWhileStarting();
      const session = await store.session(id);
      if (session === null)
        throw new Fault("not-found", `There is no session ${id}. List them with \`everturn sessions\`.`);
      if (session.endedAt !== null) throw new Fault("not-possible", `Session ${id} has ended already.`);
      await mustCommit(await succession(parts, session, world.now()));
      const lane = rows.laneOf(id);
      if (lane !== null) rows.succeed(lane);
    },
    async resend(id) {
      const item = advanceItem(await itemOrFault(id), { type: "resent", at: world.now() });
      await mustCommit([{ put: "item", item }]);
      outbox.poke(item.session);
    },
    async discard(id) {
      const item = advanceItem(await itemOrFault(id), {
        type: "discarded",
        why: "discarded by the operator",
        at: world.now(),
      });
      await mustCommit([{ put: "item", item }]);
      outbox.poke(item.session);
    },
  };
}
