// How the tests of a platform begin: a platform that listens as the engine lets it listen, with a store in memory behind
// it. The store outlives the platform, so that a test can end one life anywhere and begin the next.

import type { TestContext } from "node:test";
import { Fault } from "../../core/fault.ts";
import { type Address, type Hints, type Inbound, textOf } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { Accept, Inlet, Platform } from "../../ports/platform.ts";
import { anItem, bootId } from "../samples.ts";
import type { OpenPlatform, OpenedPlatform } from "./driver.ts";

export type { OpenPlatform, OpenedPlatform, Receipt } from "./driver.ts";

/** What would be in the database: messages by their keys, and the cursor. */
export type Kept = {
  /** Everything that was handed over, repeats too. */
  readonly taken: readonly Inbound[];
  /** The first of each key, in the order they were stored. */
  readonly stored: readonly Inbound[];
  cursor: string | null;
  readonly accept: Accept;
  /** Resolves as soon as this many different messages are stored. */
  count(messages: number): Promise<void>;
};

export function kept(): Kept {
  const taken: Inbound[] = [];
  const stored: Inbound[] = [];
  const waiting = new Set<() => void>();
  const self: Kept = {
    taken,
    stored,
    cursor: null,
    async accept(message, cursor) {
      const known = stored.some((one) => one.key === message.key);
      taken.push(message);
      if (!known) stored.push(message);
      if (cursor !== null) self.cursor = cursor;
      for (const look of waiting) look();
      return known ? "duplicate" : "accepted";
    },
    count: (messages) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (stored.length < messages) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
  return self;
}

export type Life = { readonly stop: AbortController; readonly ended: Promise<void>; readonly up: Promise<void> };

/** Listens again whenever it ends by itself, from the cursor stored last; what it throws when it is denied, is thrown. */
export function live(platform: Platform, store: Kept, accept: Accept = store.accept): Life {
  const stop = new AbortController();
  const up = Promise.withResolvers<void>();
  const moved = async (cursor: string): Promise<void> => void (store.cursor = cursor);
  const inlet = inletOf(accept, { up: up.resolve, moved });
  const listen = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await platform.listen(inlet, store.cursor, stop.signal);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (error instanceof Fault && error.code === "denied") throw error;
        await settle();
      }
    }
  };
  const ended = listen();
  ended.catch(up.reject);
  void Promise.allSettled([up.promise]);
  return { stop, ended, up: up.promise };
}

export type Listening = OpenedPlatform & Life & { readonly taken: readonly Inbound[]; readonly store: Kept };

/** A platform that listens, and whose connection stands. */
export async function listening(t: TestContext, open: OpenPlatform, accept?: Accept): Promise<Listening> {
  const opened = await open();
  const store = kept();
  const life = live(opened.platform, store, accept ?? store.accept);
  t.after(async () => {
    life.stop.abort();
    await Promise.allSettled([life.ended]);
    await opened.close();
  });
  await life.up;
  return { ...opened, ...life, taken: store.taken, store };
}

/** The next life, which ends with its test. */
export async function nextLife(
  t: TestContext,
  opened: OpenedPlatform,
  store: Kept,
): Promise<Life & { platform: Platform }> {
  const platform = (await opened.reopen?.(store.cursor)) ?? opened.platform;
  const life = live(platform, store);
  t.after(async () => {
    life.stop.abort();
    await Promise.allSettled([life.ended]);
  });
  await life.up;
  return { ...life, platform };
}

/** An inlet of which only storing matters, unless more is said. */
export function inletOf(accept: Accept, more: Partial<Inlet> = {}): Inlet {
  const nothing = () => undefined;
  return { accept, hears: async () => true, moved: async () => undefined, up: nothing, trouble: nothing, ...more };
}

/** Lets everything happen that can happen without waiting for time. */
export async function settle(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
}

export function itemTo(home: Address, id: string, text: string, hints?: Hints): OutboxItem {
  const back = hints === undefined ? {} : { hints };
  return anItem(id, { to: home, text, ...back, now: { state: "sending", boot: bootId("b1"), attempts: 1 } });
}

/** Until it is accepted: a connection of the platform's own may still be on its way back, which is told by `retry`. */
export async function deliver(platform: Platform, item: OutboxItem): Promise<void> {
  const { signal } = new AbortController();
  for (let result = await platform.send(item, signal); result.type !== "accepted"; await settle()) {
    if (result.type !== "retry") throw new Error(`it was not sent but ${result.type}: ${result.why}`);
    result = await platform.send(item, signal);
  }
}

/** The same item when it is sent again, after a send of which nobody knows. */
export function again(item: OutboxItem, attempts = 2): OutboxItem {
  return { ...item, now: { state: "sending", boot: bootId(`b${attempts}`), attempts, doubts: attempts - 1 } };
}

export function wordsOf(messages: readonly Inbound[]): readonly string[] {
  return messages.map(({ body }) => textOf(body));
}
