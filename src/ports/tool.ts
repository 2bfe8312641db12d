// A tool and the kind of effect it has on the world. The effect is the only hard question about a tool.

import type { Verdict } from "../core/approval.ts";
import type { Grant } from "../core/grant.ts";
import type { Instant, SessionId, TurnId } from "../core/ids.ts";
import type { ToolEffect, ToolResult } from "../core/journal.ts";
import type { Address } from "../core/message.ts";
import type { Requester } from "../core/requester.ts";

export type ToolContext = {
  readonly session: SessionId;
  readonly turn: TurnId;
  readonly address: Address;
  readonly requester: Requester;
  /** What the approval or the rules of this call have given it. */
  readonly grant: Grant;
  /** Text from outside is in this conversation. */
  readonly outside: boolean;
  /** The same for every attempt of one call: the idempotency key of a `keyed` effect. */
  readonly key: string;
  /** Grows with each change of owner; an outside system may refuse a smaller one. */
  readonly fence: number;
  readonly signal: AbortSignal;
  readonly now: () => Instant;
  /** Shows the user how it goes; never stored. */
  readonly tell: (progress: string) => void;
};

export type VetContext = {
  readonly session: SessionId;
  readonly address: Address;
  readonly requester: Requester;
  /** Text from outside is in this conversation. */
  readonly outside: boolean;
  readonly now: () => Instant;
  /** What was said and looked up before; absent where nothing is known of it. */
  readonly earlier?: () => Promise<EarlierTalk>;
};

/** An earlier call of the same tool in this conversation that succeeded. */
export type EarlierCall = {
  readonly input: unknown;
  readonly output: unknown;
  /** The user was asked and allowed it. */
  readonly isApproved: boolean;
};

/** The newest part of a conversation. */
export type EarlierTalk = {
  /** Words of its users, without anything that others wrote. */
  readonly own: readonly string[];
  readonly calls: readonly EarlierCall[];
};

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly effect: ToolEffect;
  /** JSON schema of the input, as a model sees it. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly timeoutMs?: number;
  /** Whether the call may be made as it is; absent where it always may. Looked at right before it is begun. */
  vet?(input: unknown, context: VetContext): Promise<Verdict>;
  run(input: unknown, context: ToolContext): Promise<ToolResult>;
  /** For `checkable` only: what became of a call cut short by a death; null when it did not happen. */
  check?(input: unknown, context: ToolContext): Promise<ToolResult | null>;
  /**
   * For `checkable` only: the turn of a call that was begun has ended without it, and nobody wants its result any more.
   * Whatever still goes on under the key is to be ended. May be called more than once, also for what has ended long ago.
   */
  drop?(input: unknown, context: ToolContext): Promise<void>;
}
