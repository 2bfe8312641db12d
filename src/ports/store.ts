// The store holds the truth. `commit` is the only write of the engine; the rest are named reads that cost as much as the
// work they find, never as much as history. Two engines, one contract suite (`everturn/testing`).

import type { AccessLink, Device } from "../core/access/devices.ts";
import type { Paired, Pairing } from "../core/access/pairing.ts";
import type { Rule } from "../core/approval.ts";
import type { Change, CommitResult } from "../core/change.ts";
import type { BootId, Instant, SessionId, TurnId } from "../core/ids.ts";
import type { Entry } from "../core/journal.ts";
import type { Memory, Recalled } from "../core/memory.ts";
import type { Address, Message } from "../core/message.ts";
import type { ItemState, OutboxItem } from "../core/outbox.ts";
import type { Boot } from "../core/recovery.ts";
import type { OpenQuestion } from "../core/route.ts";
import type { Session } from "../core/session.ts";
import type { Timer } from "../core/timer.ts";
import type { Turn, TurnState } from "../core/turn.ts";
import type { Spent } from "../core/usage.ts";
import type { Summary } from "./agent.ts";

export interface Store {
  /** All or nothing, durable when it resolves. Rejects with a Fault when the disk refuses; then nothing was written. */
  commit(changes: readonly Change[], by: BootId): Promise<CommitResult>;

  /** `refused`: the engine allows one live boot and another holds it. Opening makes earlier boots of a one-boot engine dead. */
  openBoot(boot: Boot): Promise<"opened" | "refused">;
  beat(boot: BootId, at: Instant): Promise<"alive" | "fenced">;
  /** Boots that are no more and still hold running turns or items being sent. */
  deadBoots(): Promise<readonly Boot[]>;

  /** The live session of a key. */
  sessionOf(key: string): Promise<Session | null>;
  session(id: SessionId): Promise<Session | null>;
  /** Live sessions of a platform that were active at this moment or later, the least recently active first. */
  activeSince(platform: string, at: Instant): Promise<readonly Session[]>;
  /** Sessions with turns that wait to run, the longest waiting first. */
  runnable(): Promise<readonly Session[]>;
  /** Oldest queued or parked turn. */
  nextTurn(session: SessionId): Promise<Turn | null>;
  /** Queued turns that have not begun, oldest first. */
  queuedTurns(session: SessionId, limit: number): Promise<readonly Turn[]>;
  /** All that is queued or parked in a session, oldest first. */
  readyTurns(session: SessionId): Promise<readonly Turn[]>;
  /** All that waits for an answer in a session, oldest first. */
  waitingTurns(session: SessionId): Promise<readonly Turn[]>;
  /** Turns that asked for a restart and have not been answered, oldest first. */
  restarting(): Promise<readonly Turn[]>;
  heldTurns(boot: BootId): Promise<readonly Turn[]>;
  /** What is asked at a place, the newest last; also by the latest sessions that were succeeded there and still work. */
  questionsAt(key: string): Promise<readonly OpenQuestion[]>;
  /** The turn that waits for the answer to a question. */
  waitingFor(question: string): Promise<Turn | null>;
  turn(id: TurnId): Promise<Turn | null>;
  /** What an inbound message became, by the key that its platform gave it. */
  turnBy(platform: string, account: string, key: string): Promise<Turn | null>;
  journalOf(turn: TurnId): Promise<readonly Entry[]>;
  /** The newest entries, oldest first: a long journal is not read to know how it ended. */
  journalTail(turn: TurnId, limit: number): Promise<readonly Entry[]>;
  strikes(key: string): Promise<number>;
  /** Interruptions by a stop, with or without progress. */
  interruptions(key: string): Promise<number>;
  /** Session keys with as many strikes or interruptions as there may be, or more. */
  struckOut(): Promise<readonly string[]>;

  /** Sessions with items that wait to be sent, the longest waiting first. */
  sendable(): Promise<readonly Session[]>;
  /** Oldest pending item of these sessions together. */
  nextItem(sessions: readonly SessionId[]): Promise<OutboxItem | null>;
  heldItems(boot: BootId): Promise<readonly OutboxItem[]>;
  item(id: string): Promise<OutboxItem | null>;

  nextTimer(): Promise<Timer | null>;
  cursor(platform: string, account: string): Promise<string | null>;
  /** All requests of strangers at one of our accounts, also expired ones, the oldest first. */
  pairingsAt(platform: string, account: string): Promise<readonly Pairing[]>;
  /** What was decided about somebody who was let in. */
  paired(platform: string, account: string, sender: string): Promise<Paired | null>;
  /** The rule in effect that allows a call in a conversation, by tool, subject and the key of the conversation. */
  rule(tool: string, subject: string, conversation: string): Promise<Rule | null>;
  /** What stands for the earlier part of a conversation. */
  summaryOf(session: SessionId): Promise<Summary | null>;
  /** The newest, oldest first. */
  memories(scope: string, limit: number): Promise<readonly Memory[]>;
  /** What everybody together used on a day. */
  spentOn(day: string): Promise<Spent>;
  /** Something small that was remembered by name. */
  fact(name: string): Promise<string | null>;

  close(): Promise<void>;
}

/** What people look at: transcripts, lists and counts. Never on the path of a turn, except the agent's history. */
export interface Archive {
  /** The newest messages of a session that belong to its memory, oldest first. */
  history(session: SessionId, limit: number): Promise<readonly Message[]>;
  /** What was said in a conversation after a cursor, oldest first; across sessions that followed one another there. */
  messagesAfter(address: Address, n: number, limit: number): Promise<readonly Message[]>;
  /** The newest messages of a conversation, oldest first. */
  messagesBefore(address: Address, n: number | null, limit: number): Promise<readonly Message[]>;
  sessions(filter: SessionFilter): Promise<readonly SessionLine[]>;
  turns(filter: TurnFilter): Promise<readonly Turn[]>;
  /** In order; with `newest`, only so many of the last ones. */
  entries(turn: TurnId, newest?: number): Promise<readonly EntryLine[]>;
  items(filter: ItemFilter): Promise<readonly OutboxItem[]>;
  /** Every address with uncertain items, each once. */
  uncertainAddresses(): Promise<readonly Address[]>;
  /** Full text, newest first. */
  search(text: string, limit: number): Promise<readonly Message[]>;
  counts(): Promise<Counts>;
  /** Memories and messages that hold all the words, of one scope, best first. */
  recall(scope: string, text: string, limit: number): Promise<readonly Recalled[]>;
  /** Everything that waits for an answer, in any session, oldest first. */
  asked(limit: number): Promise<readonly AskedLine[]>;
  rules(): Promise<readonly Rule[]>;
  /** All requests of strangers, also expired ones, the oldest first. */
  pairings(): Promise<readonly Pairing[]>;
  /** Everybody who was let in, the first one first. */
  pairedPeople(): Promise<readonly Paired[]>;
  /** Browsers that are signed in, the first one first. */
  devices(): Promise<readonly Device[]>;
  /** One-time links that were not used, also expired ones. */
  links(): Promise<readonly AccessLink[]>;
  /** By day and model, the newest day first; of one session, or of all. */
  usage(filter: UsageFilter): Promise<readonly UsageLine[]>;
  /** The newest first. */
  lastBoots(limit: number): Promise<readonly Boot[]>;
  /** A copy of the whole store in one file, made while it is in use. */
  backup(file: string): Promise<void>;
}

export type SessionFilter = { readonly platform?: string; readonly limit: number; readonly before?: Instant };
export type SessionLine = Session & { readonly title: string; readonly lastN: number };
/** Without a state, the turns of a session are those that were said in it. */
export type TurnFilter = {
  readonly session?: SessionId;
  readonly state?: TurnState["state"] | "open";
  readonly limit: number;
};
/** With a turn, all its items, whatever their state and address. */
export type ItemFilter = {
  readonly turn?: TurnId;
  /** Only what goes to exactly this address. */
  readonly to?: Address;
  readonly state?: ItemState["state"] | "open";
  readonly limit: number;
};
export type AskedLine = OpenQuestion & {
  readonly session: SessionId;
  readonly address: Address;
  readonly until: Instant;
};
export type UsageFilter = { readonly session?: SessionId; readonly since?: string };
export type UsageLine = Spent & { readonly day: string; readonly model: string };
export type EntryLine = { readonly n: number; readonly at: Instant; readonly entry: Entry };
/** Open work only: counting history would cost as much as history. */
export type Counts = {
  readonly turns: Readonly<Record<"queued" | "running" | "waiting" | "parked" | "restarting", number>>;
  readonly items: Readonly<Record<"pending" | "sending" | "in-doubt" | "dead", number>>;
  readonly timers: number;
};
