// What the outside may ask of a running gateway, and what it tells.

import type { Asker, Paired } from "../core/access/pairing.ts";
import type { Instant, ItemId, SessionId, TurnId } from "../core/ids.ts";
import type { StopIntent } from "../core/lifecycle.ts";
import type { Health } from "../core/links/health.ts";
import type { Address, FileRef } from "../core/message.ts";
import type { Phase, StopBy, StopClass } from "../core/recovery.ts";
import type { Trouble } from "../core/running/patience.ts";
import type { Outcome } from "../core/turn.ts";
import type { ItemState } from "../core/outbox.ts";
import type { SandboxState } from "./sandbox.ts";

/** What happened; fanned out to the log and to whoever watches. Nothing depends on it. */
export type GatewayEvent =
  | { readonly type: "state"; readonly state: GatewayState; readonly reason: string | null }
  /** How a stop goes: at its start, at every change, now and then, and when the drain is over. */
  | {
      readonly type: "draining";
      readonly class: StopClass;
      readonly running: number;
      /** When what runs is interrupted, and when the stop is over whatever happens. */
      readonly until: Instant;
      readonly deadline: Instant;
      readonly over: boolean;
    }
  | { readonly type: "accepted"; readonly session: SessionId; readonly turn: TurnId; readonly from: Address }
  | { readonly type: "turn-started"; readonly session: SessionId; readonly turn: TurnId; readonly attempt: number }
  | {
      readonly type: "turn-waiting";
      readonly session: SessionId;
      readonly turn: TurnId;
      /** What it waits for: words, or leave to do something. */
      readonly kind: "question" | "approval";
      readonly question: string;
      readonly until: Instant;
    }
  | { readonly type: "turn-parked"; readonly session: SessionId; readonly turn: TurnId }
  | {
      readonly type: "turn-ended";
      readonly session: SessionId;
      readonly turn: TurnId;
      readonly outcome: Outcome;
      readonly why?: string;
    }
  | {
      readonly type: "tool-ended";
      readonly turn: TurnId;
      readonly tool: string;
      readonly result: "ok" | "failed" | "unknown";
    }
  | {
      readonly type: "item";
      readonly item: ItemId;
      readonly session: SessionId;
      readonly state: ItemState["state"];
      readonly why?: string;
    }
  | {
      readonly type: "platform";
      readonly platform: string;
      readonly account: string;
      readonly up: boolean;
      readonly state: Health["state"];
      readonly why?: string;
    };

export type GatewayState = "starting" | "running" | "degraded" | "draining" | "stopped";

export type PlatformStatus = Health & {
  readonly platform: string;
  readonly account: string;
  /** Somewhere else, behind a network. */
  readonly isFar: boolean;
  readonly up: boolean;
  /** What its owner should know although it works. */
  readonly notice?: string;
};

/** What a platform says when it is asked how it is. */
export type Probed = {
  readonly platform: string;
  readonly account: string;
  /** Null where it cannot be asked more than `status` tells. */
  readonly fine: boolean | null;
  readonly said: string;
  readonly tookMs: number;
};

export type GatewayStatus = {
  readonly state: GatewayState;
  /** Why it is not `running`, in a sentence. */
  readonly reason: string | null;
  /** It died too often before it was ready: nothing is taken up and no platform opened until it is told to go on. */
  readonly safeMode: boolean;
  readonly startedAt: Instant;
  readonly boot: string;
  readonly running: readonly {
    readonly turn: TurnId;
    readonly session: SessionId;
    readonly startedAt: Instant;
    readonly steps: number;
    /** Why it does not go on at present, for example because its model cannot be reached; null while all is well. */
    readonly trouble: Trouble | null;
  }[];
  readonly platforms: readonly PlatformStatus[];
  /** What the boot took over from dead ones. */
  readonly recovered: { readonly turns: number; readonly items: number; readonly tookMs: number };
  /** The wall around the programs of the agent; null until it is known, and where it starts none. */
  readonly sandbox?: SandboxState | null;
};

export type RestartAsk = {
  readonly by: StopBy;
  readonly reason: string;
  readonly signal?: string;
  readonly context?: NonNullable<StopIntent["context"]>;
};

export type Ending = {
  /** Of the first request; it decides the class. */
  readonly intent: StopIntent;
  readonly askedAt: Instant;
  /** Everything was parked in time. */
  readonly clean: boolean;
  /** What was done, in order, and how long it took; stored already. */
  readonly phases: readonly Phase[];
};

export interface Gateway {
  /** Resolves when the gateway has closed: within the drain and five seconds after the first request to stop. */
  run(): Promise<Ending>;
  /** Resolves when messages are accepted and answered, or when it holds still in safe mode. */
  readonly ready: Promise<void>;
  /** The first request decides what kind of stop it is; a further one may end the drain early. */
  stop(intent: StopIntent): void;
  /** Prepares a successor and stops. Asked twice, it is one restart; `refused` says why it goes on as before. */
  restart(ask: RestartAsk): Promise<"restarting" | { readonly refused: string }>;
  /** Takes up the work that safe mode left alone; does nothing outside it. */
  leaveSafeMode(why: string): void;
  status(): GatewayStatus;
  /** Asks every platform how it is, side by side, each for a few seconds at most. */
  probe(): Promise<readonly Probed[]>;
  watch(listener: (event: GatewayEvent) => void): () => void;
  /** One message out, through the outbox. The same key again does nothing. */
  post(to: Address, text: string, key: string, files?: readonly FileRef[]): Promise<"posted" | "duplicate">;
  cancel(turn: TurnId): Promise<void>;
  /** Runs the message of an ended turn again, as a new turn. */
  retry(turn: TurnId): Promise<void>;
  /**
   * Answers an open question or approval as its user would by a press. `already`: this very answer was given before. A
   * Fault says why nothing happens: no such question, answered otherwise, expired, withdrawn.
   */
  answer(question: string, choice: string): Promise<"answered" | "already">;
  /** Lets a stranger in, by their code or by the id of their request. A Fault says why nobody was let in. */
  approvePairing(which: { readonly code: string } | { readonly id: string }, admin: boolean): Promise<Paired>;
  /** Turns a request down, by its id, or by the code, id, `platform/id` or name of who asks; they hear nothing. */
  denyPairing(which: { readonly id: string } | { readonly who: string }): Promise<Asker>;
  /** Takes back that somebody was let in: by id, `platform/id`, or a name that only one of them has. */
  revokePaired(who: string): Promise<Paired>;
  /** Takes back what was once allowed with "always"; rejects with a Fault when there is no such rule. */
  revoke(rule: string): Promise<void>;
  /** Lets a rule hold in every conversation; rejects with a Fault when there is no such rule. */
  generalize(rule: string): Promise<void>;
  /** Ends the session and starts an empty one at the same place. */
  reset(session: SessionId): Promise<void>;
  resend(item: ItemId): Promise<void>;
  discard(item: ItemId): Promise<void>;
}
