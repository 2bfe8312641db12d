// How the tests of a platform begin. The caller hands over the platform and a driver for its far side: the user's.

import type { TestContext } from "node:test";
import type { Address, Inbound } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { Accept, Inlet, Platform } from "../../ports/platform.ts";
import { anItem, bootId } from "../samples.ts";

/** What the user's side was told about a message. `refused`: it was not taken and has to be offered again. */
export type Receipt = "acknowledged" | "refused";

export type OpenedPlatform = {
  readonly platform: Platform;
  /** Where the user of this driver is. */
  readonly home: Address;
  /** A user writes; resolves when the platform's side has its receipt. */
  readonly say: (text: string) => Promise<Receipt>;
  /** The message said last comes again, as the platform does when it saw no receipt or a refusal. */
  readonly redeliver: () => Promise<Receipt>;
  /** Called before each send: the engine stores the item, and its line of the transcript, before it is sent. */
  readonly stored: (item: OutboxItem) => Promise<void>;
  /** The texts that the user has seen so far, oldest first. */
  readonly seen: () => Promise<readonly string[]>;
  /** Breaks the connection to the far side for good; absent where there is none. */
  readonly breakOff?: () => Promise<void>;
  readonly close: () => Promise<void>;
};
export type OpenPlatform = () => Promise<OpenedPlatform>;

export type Listening = OpenedPlatform & {
  readonly taken: readonly Inbound[];
  readonly stop: AbortController;
  readonly ended: Promise<void>;
};

/** A platform that listens, with a store in memory behind it that knows keys. */
export async function listening(t: TestContext, open: OpenPlatform, accept?: Accept): Promise<Listening> {
  const opened = await open();
  const stop = new AbortController();
  const taken: Inbound[] = [];
  const storing: Accept = async (message) => {
    const known = taken.some((one) => one.key === message.key);
    taken.push(message);
    return known ? "duplicate" : "accepted";
  };
  const up = Promise.withResolvers<void>();
  const inlet = inletOf(accept ?? storing, { up: up.resolve });
  const ended = opened.platform.listen(inlet, null, stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
    await opened.close();
  });
  await up.promise;
  return { ...opened, taken, stop, ended };
}

/** An inlet of which only storing matters, unless more is said. */
export function inletOf(accept: Accept, more: Partial<Inlet> = {}): Inlet {
  return { accept, moved: async () => undefined, up: () => undefined, trouble: () => undefined, ...more };
}

/** Lets everything happen that can happen without waiting for time. */
export async function settle(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
}

export function itemTo(home: Address, id: string, text: string): OutboxItem {
  return anItem(id, { to: home, text, now: { state: "sending", boot: bootId("b1"), attempts: 1 } });
}
