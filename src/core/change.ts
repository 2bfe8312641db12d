// Every write the system can make. A commit is a list of these, all or none: a value that can be printed, counted,
// compared, and cut in half by a test. `check` changes nothing; it refuses the commit when the world has moved on.

import type { Memory } from "./memory.ts";
import type { AccessLink, Device } from "./access/devices.ts";
import type { Paired, Pairing } from "./access/pairing.ts";
import type { Rule } from "./approval.ts";
import type { BootId, Instant, SessionId, TurnId } from "./ids.ts";
import type { Entry } from "./journal.ts";
import type { FileRef, Inbound, NewMessage } from "./message.ts";
import type { OutboxItem } from "./outbox.ts";
import type { BootStory, StopFacts } from "./recovery.ts";
import type { Resume, Session } from "./session.ts";
import type { Timer } from "./timer.ts";
import type { Turn } from "./turn.ts";
import type { Usage } from "./usage.ts";

export type Change =
  /** The turn is still at this version and its session still under this fence. */
  | {
      readonly check: "turn";
      readonly turn: TurnId;
      readonly version: number;
      readonly session: SessionId;
      readonly fence: number;
    }
  /** Refuses the whole commit as `duplicate` when the key is known. Always the first change of an acceptance. */
  | {
      readonly put: "inbox";
      readonly platform: string;
      readonly account: string;
      readonly key: string;
      readonly turn: TurnId;
      readonly at: Instant;
    }
  | { readonly put: "cursor"; readonly platform: string; readonly account: string; readonly value: string }
  /** Inserts when absent. */
  | { readonly put: "session"; readonly session: Session }
  | { readonly put: "active"; readonly session: SessionId; readonly at: Instant }
  | { readonly put: "ended"; readonly session: SessionId; readonly at: Instant }
  /** A change of owner: the fence must be one higher than the stored one. */
  | { readonly put: "owner"; readonly session: SessionId; readonly boot: BootId; readonly fence: number }
  | { readonly put: "message"; readonly message: NewMessage }
  | { readonly put: "turn"; readonly turn: Turn }
  | { readonly put: "entry"; readonly turn: TurnId; readonly n: number; readonly at: Instant; readonly entry: Entry }
  | { readonly put: "item"; readonly item: OutboxItem }
  | { readonly put: "timer"; readonly timer: Timer }
  | { readonly drop: "timer"; readonly id: string }
  /** Deaths and interruptions without progress; one counter row per session key. */
  | { readonly put: "strikes"; readonly key: string; readonly strikes: number }
  /** All interruptions by a stop, in the same row. */
  | { readonly put: "interruptions"; readonly key: string; readonly interruptions: number }
  /** Deletes the row with both counts. */
  | { readonly drop: "strikes"; readonly key: string }
  | { readonly put: "resume"; readonly session: SessionId; readonly resume: Resume | null }
  | { readonly put: "standing"; readonly session: SessionId; readonly standing: Session["standing"] }
  /** The turn goes on in another session. */
  | { readonly put: "rebound"; readonly turn: TurnId; readonly session: SessionId }
  /** What was said in the turn stands in the transcript of another session. */
  | { readonly put: "words"; readonly turn: TurnId; readonly from: SessionId; readonly session: SessionId }
  | { readonly put: "stop"; readonly boot: BootId; readonly stop: StopFacts }
  | { readonly put: "ready"; readonly boot: BootId; readonly at: Instant }
  /** Adds to what is told about a life; what was told before stays. */
  | { readonly put: "story"; readonly boot: BootId; readonly story: BootStory }
  /** Inserts when absent. */
  | { readonly put: "rule"; readonly rule: Rule }
  | { readonly drop: "rule"; readonly id: string }
  /** Inserts when absent, so that a repeat changes nothing. */
  | { readonly put: "memory"; readonly memory: Memory }
  | { readonly drop: "memory"; readonly id: string; readonly scope: string }
  /** What a conversation said up to a message, in short; replaces the one before. */
  | {
      readonly put: "summary";
      readonly session: SessionId;
      readonly upTo: number;
      readonly text: string;
      readonly at: Instant;
    }
  | { readonly put: "model"; readonly session: SessionId; readonly model: string | null }
  /** Strangers' words came into the conversation. */
  | { readonly put: "outside"; readonly session: SessionId }
  /** Somebody without the rights of an admin wrote in a group. */
  | { readonly put: "guests"; readonly session: SessionId }
  /** Adds to what a conversation has used on a day. */
  | { readonly put: "usage"; readonly day: string; readonly session: SessionId; readonly usage: Usage }
  /** What was said in the turn no longer belongs to the conversation's memory; the transcript keeps it. */
  | { readonly put: "undone"; readonly session: SessionId; readonly turn: TurnId }
  /** A new wording of what a turn answers that has not begun; the turn must be at the version before. */
  | { readonly put: "input"; readonly turn: TurnId; readonly version: number; readonly input: Inbound }
  /** The same in the transcript, by the key of its first wording. */
  | {
      readonly put: "wording";
      readonly session: SessionId;
      readonly key: string;
      readonly text: string;
      readonly files: readonly FileRef[];
    }
  /** One for each sender at an account; refused as a conflict when there is one. */
  | { readonly put: "pairing"; readonly pairing: Pairing }
  | { readonly drop: "pairing"; readonly id: string }
  /** Takes the place of what was said about the same person before. */
  | { readonly put: "paired"; readonly paired: Paired }
  | { readonly drop: "paired"; readonly platform: string; readonly account: string; readonly sender: string }
  /** Signs a browser in. */
  | { readonly put: "device"; readonly device: Device }
  /** When it was last used; nothing where it was revoked meanwhile. */
  | { readonly put: "seen"; readonly device: string; readonly at: Instant }
  | { readonly drop: "device"; readonly id: string }
  | { readonly put: "link"; readonly link: AccessLink }
  /** A conflict when it is gone, so that two uses cannot both succeed. */
  | { readonly drop: "link"; readonly digest: string }
  /** Something small to remember, by name. */
  | { readonly put: "fact"; readonly name: string; readonly value: string }
  | { readonly drop: "fact"; readonly name: string };

/**
 * `duplicate`: the inbox key is known, nothing was written. `conflict`: a version moved. `fenced`: another boot owns
 * this now, so the writer must stop.
 */
export type CommitResult = "committed" | "duplicate" | "conflict" | "fenced";
