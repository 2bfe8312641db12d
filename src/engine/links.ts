// Keeps every platform listening: connects them side by side, reconnects for ever with a growing pause, and knows how each
// of them stands. A platform forgets a message only after it is stored here. One that does not let us in is left alone
// until there is another configuration, and the homes on other platforms are told once.

import { Fault, sentenceOf } from "../core/fault.ts";
import { type Instant, later } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import {
  type Health,
  type HealthNews,
  advanceHealth,
  ailsFrom,
  deniedNotice,
  isNews,
  newHealth,
} from "../core/links/health.ts";
import type { Address } from "../core/message.ts";
import type { PlatformStatus } from "../ports/gateway.ts";
import type { Inlet, Platform } from "../ports/platform.ts";
import { childOf, over } from "./abort.ts";
import type { Pump } from "./outbox/pump.ts";
import type { Parts } from "./parts.ts";

/** Where what a platform hands over is stored, and what others are told about it. */
export interface Door {
  of(platform: Platform): Pick<Inlet, "accept" | "hears" | "moved">;
  post(to: Address, text: string, key: string): Promise<unknown>;
}

export interface Links {
  /** Those at hand, or those that need a network; each once. */
  open(which: "near" | "far", door: Door): void;
  /** Resolves when each platform at hand has connected or failed once. */
  answered(): Promise<void>;
  status(): readonly PlatformStatus[];
  /** When the first of them stood. */
  readonly listening: Promise<Instant>;
  /** Ends all listening; of each platform, when it has let go. */
  close(): readonly Leaving[];
}

export type Leaving = { readonly platform: string; readonly account: string; readonly gone: Promise<void> };

type Link = {
  readonly platform: Platform;
  readonly isFar: boolean;
  health: Health;
  /** The wait after which its absence is a worry. */
  worry: AbortController | null;
  readonly answered: PromiseWithResolvers<void>;
  /** Settles when it has stopped listening for good. */
  gone: Promise<void>;
};

/** `config` names the configuration of this life; `stands` is told first of whom it can reach again. */
export function links(parts: Parts, config: string, stands: Pump["stands"], onChange: () => void): Links {
  const { world, store, events } = parts;
  const closing = new AbortController();
  const all = parts.platforms.map(
    (platform): Link => ({
      platform,
      isFar: platform.can.isFar === true,
      health: newHealth(world.now()),
      worry: null,
      answered: Promise.withResolvers(),
      gone: Promise.resolve(),
    }),
  );
  const listening = Promise.withResolvers<Instant>();

  function learn(link: Link, news: HealthNews): void {
    const before = link.health;
    link.health = advanceHealth(before, news, world.now());
    if (news.type !== "heard") link.answered.resolve();
    if (!isNews(before, link.health)) return;
    const { state, why } = link.health;
    const { name, account } = link.platform;
    const up = state === "up";
    stands(link.platform, up);
    events.emit({ type: "platform", platform: name, account, up, state, ...(why === null ? {} : { why }) });
    worryLater(link);
    onChange();
  }

  /** Nothing else happens when a loss becomes a worry, so somebody has to look then. */
  function worryLater(link: Link): void {
    const at = ailsFrom(link.health);
    if (at === null || at <= world.now()) {
      link.worry?.abort(over);
      link.worry = null;
      return;
    }
    if (link.worry !== null) return;
    const own = childOf(closing.signal);
    link.worry = own;
    void world.sleep(at, own.signal).then(() => {
      if (own.signal.aborted) return;
      own.abort(over);
      link.worry = null;
      onChange();
    });
  }

  function inletOf(link: Link, door: Door, onUp: () => void): Inlet {
    const { signal } = closing;
    const { accept, hears, moved } = door.of(link.platform);
    return {
      hears,
      accept(message, cursor) {
        learn(link, { type: "heard" });
        return accept(message, cursor);
      },
      moved(cursor) {
        learn(link, { type: "heard" });
        return moved(cursor);
      },
      up() {
        if (signal.aborted) return;
        onUp();
        listening.resolve(world.now());
        learn(link, { type: "up" });
      },
      trouble: (why) => void (signal.aborted || learn(link, { type: "troubled", why: parts.hide(why) })),
    };
  }

  async function keepListening(link: Link, door: Door): Promise<void> {
    const { signal } = closing;
    const { name, account } = link.platform;
    let pause: number = limits.reconnectMinMs;
    while (!signal.aborted) {
      let why = "the connection ended";
      let upAt: Instant | null = null;
      try {
        const from = await store.cursor(name, account);
        const onUp = () => void (upAt ??= world.now());
        await link.platform.listen(inletOf(link, door, onUp), from, signal);
      } catch (error) {
        why = parts.hide(sentenceOf(error));
        if (error instanceof Fault && error.code === "denied") {
          if (!signal.aborted) await giveUp(link, door, why);
          return;
        }
      }
      if (signal.aborted) break;
      // One that falls as soon as it stands is not asked every second.
      if (upAt !== null && world.now() - upAt >= pause) pause = limits.reconnectMinMs;
      const nextTryAt = later(world.now(), Math.round(pause * (1 - world.chance() / 4)));
      learn(link, { type: "lost", why, nextTryAt });
      world.log("debug", `${name} is tried again`, { account, why, inMs: nextTryAt - world.now() });
      await world.sleep(nextTryAt, signal);
      learn(link, { type: "trying" });
      pause = Math.min(pause * 2, limits.reconnectMaxMs);
    }
  }

  /** Whatever is in the way of telling others, the next start with this configuration tells them. */
  async function giveUp(link: Link, door: Door, why: string): Promise<void> {
    const { name: platform, account } = link.platform;
    learn(link, { type: "denied", why });
    for (const home of openHomes()) {
      const { text, key } = deniedNotice({ platform, account, why }, config, home);
      try {
        await door.post(home, text, key);
      } catch (error) {
        world.log("warn", `${home.platform} could not be told about ${platform}`, { why: sentenceOf(error) });
      }
    }
  }

  function openHomes(): readonly Address[] {
    const lost = new Set(all.filter((one) => one.health.state === "denied").map((one) => one.platform.name));
    return Object.entries(parts.settings.platforms).flatMap(([platform, { home }]) =>
      home === null || lost.has(platform) ? [] : [{ platform, ...home }],
    );
  }

  return {
    open(which, door) {
      for (const link of all) {
        if (link.isFar !== (which === "far") || closing.signal.aborted) continue;
        // In safe mode it was not even tried.
        link.health = newHealth(world.now());
        worryLater(link);
        link.gone = keepListening(link, door);
      }
    },
    async answered() {
      await Promise.all(all.flatMap((link) => (link.isFar ? [] : [link.answered.promise])));
    },
    status: () =>
      all.map(({ platform, health, isFar }) => {
        const notice = platform.notice?.() ?? null;
        return {
          platform: platform.name,
          account: platform.account,
          isFar,
          up: health.state === "up",
          ...health,
          ...(notice === null ? {} : { notice }),
        };
      }),
    listening: listening.promise,
    close() {
      closing.abort();
      for (const link of all) link.health = advanceHealth(link.health, { type: "closed" }, world.now());
      return all.map(({ platform, gone }) => ({ platform: platform.name, account: platform.account, gone }));
    },
  };
}
