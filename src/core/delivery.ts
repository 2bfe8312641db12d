// What became of a message that was posted, in a word that its sender can act on. Pure.

import { sha256 } from "./access/sha256.ts";
import type { Address } from "./message.ts";
import type { OutboxItem } from "./outbox.ts";

export type Delivery = {
  /**
   * `delivered`: the platform has all of it. `refused`: it will not arrive. `waiting`: it goes out by itself later.
   * `denied`: it goes out when the configuration is corrected. `uncertain`: it may or may not have arrived.
   */
  readonly state: "delivered" | "refused" | "waiting" | "denied" | "uncertain";
  readonly why: string | null;
};

/** A connection as its status shows it. */
export type ConnectionState = { readonly up: boolean; readonly state: string; readonly why: string | null };

/** The inbox key under which a post is stored. */
export function postKey(key: string): string {
  return `=post:${key}`;
}

/** Items of a posted message are found again by its inbox key. */
export function postId({ platform, account }: Address, key: string): string {
  return `post-${sha256(JSON.stringify([platform, account, key])).slice(0, 32)}`;
}

/** Null while it is being sent and nothing is known yet. */
export function deliveryOf(items: readonly OutboxItem[], connection: ConnectionState): Delivery | null {
  if (items.length === 0) return null;
  const states = items.map(({ now }) => now);
  const dead = states.find((now) => now.state === "dead");
  if (dead !== undefined) return { state: "refused", why: dead.why };
  const uncertain = states.find((now) => now.state === "in-doubt");
  if (uncertain !== undefined) return { state: "uncertain", why: uncertain.why };
  if (states.every(({ state }) => state === "delivered")) return { state: "delivered", why: null };
  if (connection.state === "denied") return { state: "denied", why: connection.why };
  const failed = states.find((now) => now.state === "pending" && now.why !== undefined);
  if (failed?.state === "pending") return { state: "waiting", why: failed.why ?? null };
  return connection.up ? null : { state: "waiting", why: connection.why };
}
