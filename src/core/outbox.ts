// What is to be sent: one item per part of a reply, in order per session. A state of its own marks the moment between
// "the request may have left" and "the platform answered", because only that window can double a message.

import { Bug, type BootId, type Instant, type ItemId, type SessionId, type TurnId, later } from "./ids.ts";
import { limits } from "./limits.ts";
import type { Address, FileRef, Question } from "./message.ts";

export type ItemState =
  | { readonly state: "pending"; readonly dueAt: Instant; readonly attempts: number; readonly why?: string }
  | { readonly state: "sending"; readonly boot: BootId; readonly attempts: number }
  | { readonly state: "in-doubt"; readonly since: Instant; readonly attempts: number; readonly why: string }
  | { readonly state: "delivered"; readonly remoteId: string; readonly deliveredAt: Instant }
  | { readonly state: "dead"; readonly why: string; readonly deadAt: Instant };

export type OutboxItem = {
  readonly id: ItemId;
  readonly session: SessionId;
  readonly turn: TurnId | null;
  /** Position in a reply of several parts. */
  readonly part: number;
  readonly to: Address;
  readonly text: string;
  readonly files: readonly FileRef[];
  readonly question?: Question;
  readonly createdAt: Instant;
  /** A commit names the version it saw; 1 is a new row. */
  readonly version: number;
  readonly now: ItemState;
};

/** All a platform may answer. Vendor errors end here. */
export type SendResult =
  | { readonly type: "accepted"; readonly remoteId: string }
  | { readonly type: "retry"; readonly afterMs: number; readonly why: string }
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "unknown"; readonly why: string };

export type ItemEvent =
  | { readonly type: "taken"; readonly boot: BootId }
  | { readonly type: "answered"; readonly result: SendResult; readonly at: Instant; readonly chance: number }
  | { readonly type: "orphaned"; readonly at: Instant }
  | { readonly type: "resent"; readonly at: Instant }
  | { readonly type: "discarded"; readonly why: string; readonly at: Instant };

export function advanceItem(item: OutboxItem, event: ItemEvent): OutboxItem {
  const from = item.now;
  switch (event.type) {
    case "taken":
      if (from.state !== "pending") break;
      return next(item, { state: "sending", boot: event.boot, attempts: from.attempts + 1 });
    case "answered":
      if (from.state !== "sending") break;
      return next(item, afterAnswer(item, from.attempts, event));
    case "orphaned": {
      if (from.state !== "sending") break;
      const why = "the gateway died while sending it";
      return next(item, { state: "in-doubt", since: event.at, attempts: from.attempts, why });
    }
    case "resent": {
      if (from.state === "sending" || from.state === "delivered") break;
      const attempts = "attempts" in from ? from.attempts : 0;
      return next(item, { state: "pending", dueAt: event.at, attempts });
    }
    case "discarded":
      if (from.state === "sending" || from.state === "delivered") break;
      return next(item, { state: "dead", why: event.why, deadAt: event.at });
  }
  throw new Bug(`item ${item.id} is ${from.state} and cannot be ${event.type}`);
}

function afterAnswer(item: OutboxItem, attempts: number, event: ItemEvent & { type: "answered" }): ItemState {
  const { result, at } = event;
  switch (result.type) {
    case "accepted":
      return { state: "delivered", remoteId: result.remoteId, deliveredAt: at };
    case "refused":
      return { state: "dead", why: result.why, deadAt: at };
    case "unknown":
      return { state: "in-doubt", since: at, attempts, why: result.why };
    case "retry": {
      if (at - item.createdAt > limits.giveUpMs) return { state: "dead", why: `gave up: ${result.why}`, deadAt: at };
      const pause = Math.max(result.afterMs, retryPauseMs(attempts, event.chance));
      return { state: "pending", dueAt: later(at, pause), attempts, why: result.why };
    }
  }
}

/** 1 s, 2 s, 4 s … 5 min, each shortened by up to a quarter so that many do not come back at once. */
export function retryPauseMs(attempts: number, chance: number): number {
  const full = Math.min(limits.retryMaxMs, limits.retryMinMs * 2 ** Math.max(0, attempts - 1));
  return Math.round(full * (1 - chance / 4));
}

export type InDoubtPolicy = "resend" | "hold";

/**
 * What becomes of an item that may have arrived. Under a key a repeat is harmless; elsewhere the user's policy decides,
 * and a platform that keeps failing to answer does not get the same text for ever.
 */
export function decideInDoubt(
  can: { readonly keyedSend: boolean },
  policy: InDoubtPolicy,
  attempts: number,
): InDoubtPolicy {
  if (can.keyedSend) return "resend";
  return attempts <= limits.doubtfulSendsMax ? policy : "hold";
}

/** The same item as a row that does not exist yet. */
export function asNewItem(item: OutboxItem): OutboxItem {
  return { ...item, version: 1 };
}

function next(item: OutboxItem, now: ItemState): OutboxItem {
  return { ...item, version: item.version + 1, now };
}
