// A chat platform. What one can do beyond these few methods is data, not another method.

import type { Address, Inbound } from "../core/message.ts";
import type { OutboxItem, SendResult } from "../core/outbox.ts";

export type Can = {
  /** A send under a key it has seen arrives only once. */
  readonly keyedSend: boolean;
  /** Previews of a growing answer may be shown, at most this often; null when not at all. */
  readonly draftEveryMs: number | null;
};

/** Resolves when the message is stored; only then may the platform forget it. Rejects when it could not be stored. */
export type Accept = (message: Inbound, cursor: string | null) => Promise<"accepted" | "duplicate">;

export interface Platform {
  readonly name: string;
  readonly account: string;
  readonly can: Can;
  /** How a long answer is cut for this platform; pure. */
  parts(text: string): readonly string[];
  /** Runs until the signal aborts; `from` is the cursor stored last. `up` is called whenever the connection stands. */
  listen(accept: Accept, from: string | null, up: () => void, signal: AbortSignal): Promise<void>;
  /** Never throws for what the platform said; throws only for our own bugs. */
  send(item: OutboxItem, signal: AbortSignal): Promise<SendResult>;
  /** The answer so far, or null to take the preview away. Failing is fine and silent. */
  draft(to: Address, text: string | null): void;
}
