// The one way to begin: the boot is opened, what dead boots held is taken over, and then lanes, outbox, timers and the
// platforms at hand open together. Those that need a network follow when ready was said: nobody waits for their code or
// for their servers. A gateway that died too often before it was ready holds still instead, until it is told.

import { Fault, sentenceOf } from "../../core/fault.ts";
import { type Instant, later } from "../../core/ids.ts";
import { type Lifecycle, decideSafeMode } from "../../core/lifecycle.ts";
import { limits } from "../../core/limits.ts";
import type { Boot } from "../../core/recovery.ts";
import type { GatewayStatus } from "../../ports/gateway.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { Door, Links } from "../links.ts";
import type { Pump } from "../outbox/pump.ts";
import type { Parts } from "../parts.ts";
import type { Counters } from "../recovery/counters.ts";
import { recover } from "../recovery/recover.ts";
import type { Supervisor } from "../stop/supervisor.ts";

export interface Starter {
  /** Resolves when the gateway is ready, or when a stop was faster. */
  start(): Promise<void>;
  /** Messages are accepted and answered, or it holds still. */
  readonly ready: Promise<void>;
  isReady(): boolean;
  recovered(): GatewayStatus["recovered"];
  leaveSafeMode(why: string): void;
}

export type StartParts = {
  readonly boot: Boot;
  readonly counters: Counters | null;
  readonly life: Supervisor;
  readonly lanes: Lanes;
  readonly pump: Pump;
  readonly links: Links;
  readonly door: Door;
  /** Runs until everything closes. */
  readonly clock: (signal: AbortSignal) => Promise<void>;
  readonly onReady: () => void;
  /** Resolves when whoever waits for ready has heard of it. */
  readonly said: Promise<void>;
};

export function starter(parts: Parts, of: StartParts): Starter {
  const { world, store, archive, ledger, closing } = parts;
  const { boot, life, lanes, pump, links } = of;
  const ready = Promise.withResolvers<void>();
  let recovered: GatewayStatus["recovered"] = { turns: 0, items: 0, tookMs: 0 };
  let isReady = false;

  const isIn = (phase: Lifecycle["phase"]): boolean => life.life().phase === phase;

  async function start(): Promise<void> {
    const from = world.now();
    if (!isIn("booting")) return;
    if ((await store.openBoot(boot)) === "refused")
      throw new Fault("already-running", "Another gateway serves this store.");
    const unwell = decideSafeMode(await archive.lastBoots(limits.unreadyMax + 1), boot);
    if (unwell !== null) await holdStill(unwell);
    if (!isIn("booting")) return;
    const found = await recover(parts, boot, of.counters);
    if (found === null) return;
    recovered = { turns: found.turns, items: found.items, tookMs: world.now() - from };
    life.booted(() => {
      lanes.open(found.runnable, found.hold);
      pump.open(found.sendable);
      links.open("near", of.door);
      of.clock(closing).catch(parts.broken);
      beat().catch(parts.broken);
    });
    await Promise.race([links.answered(), world.sleep(later(world.now(), limits.readyMs), closing)]);
    if (!isIn("serving")) return;
    isReady = true;
    of.onReady();
    ready.resolve();
    found.drop();
    noteReady(world.now()).catch(parts.broken);
    openFar().catch(parts.broken);
  }

  async function openFar(): Promise<void> {
    await Promise.race([of.said, world.sleep(later(world.now(), limits.readyMs), closing)]);
    if (isIn("serving")) links.open("far", of.door);
  }

  /** Safe mode: whoever asks learns why, and nothing is touched until somebody says so or some time has passed. */
  async function holdStill(reason: string): Promise<void> {
    world.log("error", "the gateway holds still", { why: reason });
    const left = life.hold(reason);
    ready.resolve();
    void world
      .sleep(later(world.now(), limits.safeModeMs), closing)
      .then(() => leaveSafeMode("it has waited long enough"));
    await left;
  }

  function leaveSafeMode(why: string): void {
    if (!isIn("safe")) return;
    world.log("info", "the gateway leaves safe mode and takes up its work", { why });
    life.release();
  }

  /** A sign of life now and then; while the disk is in trouble, often, so that the end of it is noticed. */
  async function beat(): Promise<void> {
    while (!closing.aborted) {
      const pause = ledger.trouble() === null ? limits.beatMs : limits.storeRetryMinMs * 5;
      await world.sleep(later(world.now(), pause), closing);
      if (closing.aborted) return;
      try {
        await ledger.beat();
      } catch (error) {
        world.log("warn", "the store could not be written", { why: sentenceOf(error) });
      }
    }
  }

  /** What later lives are told about this one; nobody waits for it. */
  async function noteReady(at: Instant): Promise<void> {
    const { turns, items } = recovered;
    const connected = links.status().some((one) => one.up);
    const story = { tookOver: { turns, items }, ...(connected ? { listeningAt: await links.listening } : {}) };
    await ledger.keep([
      { put: "ready", boot: boot.id, at },
      { put: "story", boot: boot.id, story },
    ]);
    if (connected || parts.platforms.length === 0) return;
    const listeningAt = await links.listening;
    await ledger.keep([{ put: "story", boot: boot.id, story: { listeningAt } }]);
  }

  return { start, ready: ready.promise, isReady: () => isReady, recovered: () => recovered, leaveSafeMode };
}
