// What is to be sent: one item per part of a reply, in order per place. A state of its own marks the moment between
// "the request may have left" and "the platform answered", because only that window can double a message.

import { Bug, type BootId, type Instant, type ItemId, type SessionId, type TurnId, later } from "./ids.ts";
import { limits } from "./limits.ts";
import type { Address, FileRef, Hints, Question } from "./message.ts";

/** How it went so far. */
type Tries = {
  readonly attempts: number;
  /** Uncertain sends after which the far side answered a probe. */
  readonly doubts?: number;
  /** Uncertain sends that a break of the connection cut off. */
  readonly cuts?: number;
  /** Sends that never left this machine although the far side answered a probe. */
  readonly misses?: number;
  /** Ids of the visible messages of this item that the platform confirmed, in order. */
  readonly sent?: readonly string[];
  /** When somebody had it tried again after it was given up; its age counts from then. */
  readonly renewedAt?: Instant;
};

export type ItemState =
  | ({ readonly state: "pending"; readonly dueAt: Instant; readonly why?: string } & Tries)
  | ({ readonly state: "sending"; readonly boot: BootId } & Tries)
  | ({ readonly state: "in-doubt"; readonly since: Instant; readonly why: string } & Tries)
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
  readonly hints?: Hints;
  /** The message of the platform that this text finishes: it is edited, which may be repeated, instead of sent. */
  readonly edits?: string;
  readonly createdAt: Instant;
  /** A commit names the version it saw; 1 is a new row. */
  readonly version: number;
  readonly now: ItemState;
};

/** All a platform may answer. Vendor errors end here. */
export type SendResult =
  | { readonly type: "accepted"; readonly remoteId: string }
  /**
   * It surely did not arrive. `all`: the whole account rests that long, not only this chat. `unreachable`: the request never
   * left this machine.
   */
  | {
      readonly type: "retry";
      readonly afterMs: number;
      readonly why: string;
      readonly all?: true;
      readonly unreachable?: true;
    }
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "unknown"; readonly why: string };

export type ProbeResult = "succeeded" | "failed";

export type ItemEvent =
  | { readonly type: "taken"; readonly boot: BootId }
  | {
      readonly type: "answered";
      readonly result: SendResult;
      readonly at: Instant;
      readonly chance: number;
      /** How a probe right after it ended; after a failed one nothing is sent until one succeeds. Absent: not probed. */
      readonly probe?: ProbeResult;
    }
  /** One visible message of several is confirmed. */
  | { readonly type: "confirmed"; readonly remoteId: string }
  | { readonly type: "orphaned"; readonly at: Instant }
  /** It goes out again by itself. */
  | { readonly type: "repeated"; readonly at: Instant }
  /** Somebody asks for it again; it starts anew. */
  | { readonly type: "resent"; readonly at: Instant }
  /** It stays where it is until somebody asks for it. */
  | { readonly type: "held"; readonly why: string; readonly at: Instant }
  | { readonly type: "discarded"; readonly why: string; readonly at: Instant };

export function advanceItem(item: OutboxItem, event: ItemEvent): OutboxItem {
  const from = item.now;
  switch (event.type) {
    case "taken":
      if (from.state !== "pending") break;
      return next(item, { state: "sending", boot: event.boot, ...triesOf(from), attempts: from.attempts + 1 });
    case "answered":
      if (from.state !== "sending") break;
      return next(item, afterAnswer(item, triesOf(from), event));
    case "confirmed":
      if (from.state !== "sending") break;
      // Uncertain attempts are counted for each visible message, and this one is not uncertain any more.
      return next(item, {
        state: "sending",
        boot: from.boot,
        attempts: from.attempts,
        ...(from.renewedAt === undefined ? {} : { renewedAt: from.renewedAt }),
        sent: [...(from.sent ?? []), event.remoteId],
      });
    case "orphaned":
      if (from.state !== "sending") break;
      return next(item, inDoubt(triesOf(from), "the gateway died while sending it", event.at, false));
    case "repeated":
      if (from.state !== "in-doubt") break;
      return next(item, { state: "pending", dueAt: event.at, ...triesOf(from) });
    case "resent":
      if (from.state === "sending" || from.state === "delivered") break;
      return next(item, {
        state: "pending",
        dueAt: event.at,
        attempts: 0,
        renewedAt: event.at,
        ...("sent" in from && from.sent !== undefined ? { sent: from.sent } : {}),
      });
    case "held":
      if (from.state !== "pending") break;
      return next(item, { state: "in-doubt", since: event.at, why: event.why, ...triesOf(from) });
    case "discarded":
      if (from.state === "sending" || from.state === "delivered") break;
      return next(item, { state: "dead", why: event.why, deadAt: event.at });
  }
  throw new Bug(`item ${item.id} is ${from.state} and cannot be ${event.type}`);
}

function afterAnswer(item: OutboxItem, tries: Tries, event: ItemEvent & { type: "answered" }): ItemState {
  const { result, at } = event;
  switch (result.type) {
    case "accepted":
      return { state: "delivered", remoteId: result.remoteId, deliveredAt: at };
    case "refused":
      return { state: "dead", why: result.why, deadAt: at };
    case "unknown":
      return inDoubt(tries, result.why, at, event.probe === "failed");
    case "retry": {
      // A request that fails again and again while others pass must not block its chat for days.
      const isMiss = result.unreachable === true && event.probe === "succeeded";
      const counted = isMiss ? { ...tries, misses: (tries.misses ?? 0) + 1 } : tries;
      if (isTooOld(item, counted, at) || isSpent(counted))
        return { state: "in-doubt", since: at, ...counted, why: gaveUp(result.why) };
      // Where probes decide when to go on, the item itself need not wait.
      const pause = event.probe === "failed" ? 0 : Math.max(result.afterMs, retryPauseMs(tries.attempts, event.chance));
      return { state: "pending", dueAt: later(at, pause), ...counted, why: result.why };
    }
  }
}

/**
 * How long a pending item still waits. One that was never tried is due when it is stored: a later time means that the clock
 * was set back since.
 */
export function pauseOf({ attempts, dueAt }: ItemState & { state: "pending" }, at: Instant): number {
  return attempts === 0 ? 0 : Math.min(Math.max(0, dueAt - at), limits.itemPauseMaxMs);
}

export function isTooOld({ createdAt }: OutboxItem, { renewedAt = createdAt }: Tries, at: Instant): boolean {
  return at - renewedAt > limits.giveUpMs;
}

/** Even repeats that cannot make a copy end some time. */
function isSpent({ doubts = 0, misses = 0 }: Pick<Tries, "doubts" | "misses">): boolean {
  return doubts + misses > limits.harmlessSendsMax;
}

function gaveUp(why: string): string {
  return `gave up: ${why}`;
}

function inDoubt(tries: Tries, why: string, since: Instant, isCut: boolean): ItemState {
  const count = isCut ? { cuts: (tries.cuts ?? 0) + 1 } : { doubts: (tries.doubts ?? 0) + 1 };
  return { state: "in-doubt", since, ...tries, ...count, why };
}

function triesOf({ attempts, doubts, cuts, misses, sent, renewedAt }: Tries): Tries {
  return {
    attempts,
    ...(doubts === undefined ? {} : { doubts }),
    ...(cuts === undefined ? {} : { cuts }),
    ...(misses === undefined ? {} : { misses }),
    ...(sent === undefined ? {} : { sent }),
    ...(renewedAt === undefined ? {} : { renewedAt }),
  };
}

/** 1 s, 2 s, 4 s … 5 min, each shortened by up to a quarter so that many do not come back at once. */
export function retryPauseMs(attempts: number, chance: number): number {
  const full = Math.min(limits.retryMaxMs, limits.retryMinMs * 2 ** Math.max(0, attempts - 1));
  return Math.round(full * (1 - chance / 4));
}

export type InDoubtPolicy = "resend" | "hold";

/**
 * What becomes of an item that may have arrived. Under a key a repeat is harmless, and so is writing the same words into
 * the same message, so those are repeated many times; elsewhere the user's policy decides, and the number of visible copies
 * is bounded. A send that a break cut off hardly ever arrived, so more of those may be repeated.
 */
export function decideInDoubt(
  item: Pick<OutboxItem, "edits" | "files">,
  can: { readonly keyedSend: boolean },
  policy: InDoubtPolicy,
  tries: Pick<Tries, "doubts" | "cuts" | "misses">,
): InDoubtPolicy {
  if (isSpent(tries)) return "hold";
  // Files are sent beside the edit, and would be again.
  if (can.keyedSend || (item.edits !== undefined && item.files.length === 0)) return "resend";
  const { doubts = 0, cuts = 0 } = tries;
  return doubts <= limits.doubtfulSendsMax && cuts <= limits.cutSendsMax ? policy : "hold";
}

/**
 * What the platform answered, and what follows where it is uncertain whether the item arrived: one step of the item.
 * `in-doubt` afterwards means that the item is held.
 */
export function afterSend(
  item: OutboxItem,
  event: ItemEvent & { readonly type: "answered" },
  can: { readonly keyedSend: boolean },
  policy: InDoubtPolicy,
): OutboxItem {
  const { at, chance } = event;
  const answered = advanceItem(item, event);
  if (answered.now.state !== "in-doubt") return answered;
  const { attempts } = answered.now;
  if (isTooOld(item, answered.now, at) || decideInDoubt(item, can, policy, answered.now) === "hold") return answered;
  const pause = event.probe === "failed" ? 0 : retryPauseMs(attempts, chance);
  return { ...advanceItem(answered, { type: "repeated", at: later(at, pause) }), version: answered.version };
}

/** The same item as a row that does not exist yet. */
export function asNewItem(item: OutboxItem): OutboxItem {
  return { ...item, version: 1 };
}

function next(item: OutboxItem, now: ItemState): OutboxItem {
  return { ...item, version: item.version + 1, now };
}
