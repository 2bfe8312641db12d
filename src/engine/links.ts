// Keeps every platform listening: connects them side by side, reconnects for ever with a growing pause, and knows which
// of them stand. A platform forgets a message only after it is stored here.

import { sentenceOf } from "../core/fault.ts";
import { type Instant, later } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import type { PlatformStatus } from "../ports/gateway.ts";
import type { Inlet, Platform } from "../ports/platform.ts";
import type { Parts } from "./parts.ts";

/** Where what a platform hands over is stored. */
export interface Door {
  of(platform: Platform): Pick<Inlet, "accept" | "moved">;
}

export interface Links {
  open(door: Door): void;
  /** Resolves when each platform has connected or failed once. */
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
  up: boolean;
  why: string | null;
  readonly answered: PromiseWithResolvers<void>;
  /** Settles when it has stopped listening for good. */
  gone: Promise<void>;
};

export function links(parts: Parts, onChange: () => void): Links {
  const { world, store, events } = parts;
  const closing = new AbortController();
  const all = parts.platforms.map(
    (platform): Link => ({
      platform,
      up: false,
      why: "connecting",
      answered: Promise.withResolvers(),
      gone: Promise.resolve(),
    }),
  );
  const listening = Promise.withResolvers<Instant>();

  function mark(link: Link, up: boolean, why: string | null): void {
    link.answered.resolve();
    if (link.up === up && link.why === why) return;
    link.up = up;
    link.why = why;
    const { name, account } = link.platform;
    events.emit({ type: "platform", platform: name, account, up, ...(why === null ? {} : { why }) });
    onChange();
  }

  async function keepListening(link: Link, door: Door): Promise<void> {
    const { signal } = closing;
    const { name, account } = link.platform;
    let pause: number = limits.reconnectMinMs;
    while (!signal.aborted) {
      let why = "the connection ended";
      try {
        const from = await store.cursor(name, account);
        const inlet: Inlet = {
          ...door.of(link.platform),
          up() {
            if (signal.aborted) return;
            pause = limits.reconnectMinMs;
            listening.resolve(world.now());
            mark(link, true, null);
          },
          trouble: (reason) => void (signal.aborted || mark(link, false, reason)),
        };
        await link.platform.listen(inlet, from, signal);
      } catch (error) {
        why = sentenceOf(error);
      }
      if (signal.aborted) break;
      mark(link, false, why);
      world.log("warn", `${name} is not connected; trying again`, { account, why, inMs: pause });
      await world.sleep(later(world.now(), pause * (1 - world.chance() / 4)), signal);
      pause = Math.min(pause * 2, limits.reconnectMaxMs);
    }
  }

  return {
    open(door) {
      for (const link of all) link.gone = keepListening(link, door);
    },
    async answered() {
      await Promise.all(all.map((link) => link.answered.promise));
    },
    status: () => all.map(({ platform, up, why }) => ({ platform: platform.name, account: platform.account, up, why })),
    listening: listening.promise,
    close() {
      closing.abort();
      for (const link of all) Object.assign(link, { up: false, why: "the gateway stops" });
      return all.map(({ platform, gone }) => ({ platform: platform.name, account: platform.account, gone }));
    },
  };
}
