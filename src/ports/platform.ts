// A chat platform. What one can do beyond these few methods is data, or a group of methods that is there or not.

import type { Instant } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import type { Address, Hints, Inbound } from "../core/message.ts";
import type { OutboxItem, SendResult } from "../core/outbox.ts";
import type { Blobs } from "./blobs.ts";
import type { World } from "./world.ts";

export type Can = {
  /** A send that is repeated is seen once: it goes under a key, or the platform looks before it repeats. */
  readonly keyedSend: boolean;
  /** Previews of a growing answer may be shown, at most this often; null when not at all. */
  readonly draftEveryMs: number | null;
  /** A preview that is a message of its own is placed only when a turn has taken this long; absent: at once. */
  readonly previewAfterMs?: number;
  /** How fast it takes what we send; absent where nobody counts. */
  readonly pace?: Pace;
  /** It is somewhere else and needs a network: the gateway is ready without it. */
  readonly isFar?: true;
  /** What is sent goes over the connection that `listen` holds: while that does not stand, nothing is tried. */
  readonly sendsByLink?: true;
};

/** As configured: `always` places a preview at once, `true` only where an answer takes a while. */
export type Streaming = boolean | "always";

/** What an account can do about previews that are messages of their own. */
export function previewsFor(
  streaming: Streaming,
  draftEveryMs: number,
): Pick<Can, "draftEveryMs"> & Partial<Pick<Can, "previewAfterMs">> {
  if (streaming === false) return { draftEveryMs: null };
  return { draftEveryMs, ...(streaming === true ? { previewAfterMs: limits.previewAfterMs } : {}) };
}

/** What one account may send. Previews yield; what must arrive waits its turn. */
export type Pace = {
  readonly perSecond: number;
  /** Pause between two sends to the same chat, on average. */
  readonly chatEveryMs: number;
  /** So many may go to one chat in a row before the pause counts; 1 without it. The last place is kept for answers. */
  readonly chatBurst?: number;
  /** In a chat of several people. */
  readonly perGroupMinute?: number;
  /** Which chats those are; without it, none. */
  readonly isGroup?: (to: Address) => boolean;
  /** A thread has limits of its own, as if it were a chat. */
  readonly threadsApart?: true;
  /** Where edits are counted for themselves, over all chats. */
  readonly editsPerMinute?: number;
  /** The far side publishes no rate: refusals of the whole account teach one. */
  readonly learns?: true;
  /** Where one request waits for another: no more than so many of them at a time. */
  readonly atOnce?: number;
};

/**
 * `ignored`: the sender may not write, or it was not meant for us; the platform may forget it all the same. A press that is
 * ignored leaves its buttons as they are.
 */
export type Receipt = "accepted" | "duplicate" | "ignored";

/** What a platform that listens hands over, and to whom. */
export interface Inlet {
  /** Resolves when the message is stored; only then may the platform forget it. Rejects when it could not be stored. */
  accept(message: Inbound, cursor: string | null): Promise<Receipt>;
  /** Whether whoever wrote it may speak. What comes with the words of others is not worth fetching. */
  hears(message: Inbound): Promise<boolean>;
  /** There was nothing for us up to here: only the place in the platform's stream is stored. */
  moved(cursor: string): Promise<void>;
  /** To be called whenever the connection stands. */
  up(): void;
  /** It does not stand for now, and the platform goes on trying by itself. */
  trouble(why: string): void;
}

export type Accept = Inlet["accept"];

/** Names the message that an answer grows in before the platform has given it an id. */
export type PlaceKey = {
  readonly id: string;
  /** It may have been placed already, no earlier than this; then the message that stands there is meant. */
  readonly placedSince: Instant | null;
};

/** Answers that grow inside a message of the platform: placed empty, filled by edits, finished by the item that `edits` it. */
export interface DraftMessages {
  /** Placed again under the same key, it is the same message. Without it, what was placed and not stored cannot be found. */
  readonly isKeyed?: true;
  /** A message without content. Its id is stored before anything is written into it. */
  place(to: Address, hints: Hints, signal: AbortSignal, key: PlaceKey): Promise<SendResult>;
  /** The answer so far. Failing is fine; `retry` says when previews may go on. */
  fill(to: Address, remoteId: string, text: string, signal: AbortSignal): Promise<SendResult>;
  /** The turn ended without words: whatever stands there goes. */
  remove(to: Address, remoteId: string, signal: AbortSignal): Promise<SendResult>;
}

/** Resolves when the receipt is stored. Rejects when the gateway may not go on. */
export type Confirm = (remoteId: string) => Promise<void>;

export interface Platform {
  readonly name: string;
  /** Which of our own accounts there; the same for the same account, so that its cursor is found again. */
  readonly account: string;
  readonly can: Can;
  /** How a long answer is cut for this platform; pure. */
  parts(text: string): readonly string[];
  /**
   * Runs until the signal aborts; `from` is the cursor stored last. Throws when the connection cannot be had or ended: it is
   * called again after a pause, for ever. A Fault `denied` says that only another configuration helps.
   */
  listen(inlet: Inlet, from: string | null, signal: AbortSignal): Promise<void>;
  /**
   * Never throws for what the platform said; throws only for our own bugs. Where an item becomes several visible messages,
   * `confirm` stores the id of each before the next one leaves; `item.now.sent` has those that are confirmed.
   */
  send(item: OutboxItem, signal: AbortSignal, confirm?: Confirm): Promise<SendResult>;
  /** The answer so far, or null to take the preview away. Failing is fine and silent. */
  draft(to: Address, text: string | null): void;
  /** Where previews are messages of their own; then `draft` is never called. */
  readonly drafts?: DraftMessages;
  /** Shows that an answer is on its way; called again every few seconds while it is. Failing is fine and silent. */
  typing?(to: Address, hints: Hints): void;
  /**
   * Asks the side that takes sends for something harmless. After a send without an answer it decides when sending goes on;
   * without it, sends are repeated with growing pauses. Rejects where there is no proper answer; a Fault `denied` is one.
   */
  ping?(signal: AbortSignal): Promise<void>;
  /** Asks the far side whether all is well, for whoever looks closely: a sentence, or a Fault that says what is wrong. */
  probe?(signal: AbortSignal): Promise<string>;
  /** What its owner should know although it works, in a sentence; null when there is nothing. */
  notice?(): string | null;
}

/** What every platform is given beside its settings. */
export type Surroundings = {
  readonly world: World;
  readonly blobs: Blobs;
};
