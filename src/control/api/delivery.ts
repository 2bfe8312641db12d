// Waits for the outcome of a posted message, for callers who ask for it. Sending itself never waits for this.

import { type Delivery, deliveryOf, postId, postKey } from "../../core/delivery.ts";
import type { Address } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { Gateway, PlatformStatus } from "../../ports/gateway.ts";
import type { ApiParts } from "./route.ts";

export const deliveryWaitMaxMs = 60_000;

export function connectionOf(gateway: Pick<Gateway, "status">, to: Address): PlatformStatus | undefined {
  return gateway.status().platforms.find((one) => one.platform === to.platform && one.account === to.account);
}

type Parts = Pick<ApiParts, "gateway" | "store" | "redact" | "closing">;

/**
 * Looks whenever an item or a connection changes, until the answer is known or the time is over. Null where nothing is on
 * record: versions before 0.5 did not store a post under its key.
 */
export async function awaitDelivery(parts: Parts, to: Address, key: string, waitMs: number): Promise<Delivery | null> {
  const { gateway, redact, closing } = parts;
  const patience = AbortSignal.any([closing, AbortSignal.timeout(waitMs)]);
  let wake = (): void => undefined;
  const off = gateway.watch(({ type }) => {
    if (type === "item" || type === "platform") wake();
  });
  const onAbort = (): void => wake();
  patience.addEventListener("abort", onAbort);
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const items = await itemsOf(parts, to, key);
      if (items.length === 0) return null;
      const connection = connectionOf(gateway, to);
      const found = connection === undefined ? null : deliveryOf(items, connection);
      if (found !== null) return { ...found, why: found.why === null ? null : redact(found.why) };
      if (patience.aborted) return { state: "waiting", why: null };
      await changed;
    }
  } finally {
    off();
    patience.removeEventListener("abort", onAbort);
  }
}

async function itemsOf({ store }: Parts, to: Address, key: string): Promise<readonly OutboxItem[]> {
  const id = postId(to, postKey(key));
  const items: OutboxItem[] = [];
  for (let item = await store.item(`${id}.0`); item !== null; item = await store.item(`${id}.${items.length}`))
    items.push(item);
  return items;
}
