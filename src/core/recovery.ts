// What becomes of the work of a boot that is no more. Start-up and the take-over of another node's work are this one
// function; there is no other recovery. Pure.

import type { BootId, Instant, TurnId } from "./ids.ts";
import { limits } from "./limits.ts";
import { type InDoubtPolicy, type OutboxItem, advanceItem } from "./outbox.ts";
import { resumeReason } from "./resume.ts";
import type { Resume, ResumeReason } from "./session.ts";
import { type Turn, advanceTurn } from "./turn.ts";

/**
 * What kind of end a stop is; the first request decides it for good. `planned`: an operator wants it down. `take-over`:
 * another process goes on with its work. `unexpected`: a signal that nobody announced. `fault`: a mistake of ours.
 */
export type StopClass = "planned" | "take-over" | "restart" | "unexpected" | "fault";
export type StopBy = "signal" | "marker" | "chat" | "tool" | "cli" | "dashboard" | "config" | "fault";

export type StopFacts = {
  readonly class: StopClass;
  readonly by: StopBy;
  readonly reason: string;
  /** The signal that asked for it, where one did. */
  readonly signal?: string;
  readonly at: Instant;
  readonly clean: boolean;
  /** What the host saw at that moment: signal, parent, load, markers. */
  readonly context?: Readonly<Record<string, unknown>>;
};

/** One stretch of a stop and how long it took. */
export type Phase = { readonly name: string; readonly ms: number; readonly facts?: Readonly<Record<string, unknown>> };

/** What is told about one life afterwards; nothing is decided by it. */
export type BootStory = {
  /** When the first platform listened, and when the last one let go: between two lives lies the blackout. */
  readonly listeningAt?: Instant;
  readonly silentAt?: Instant;
  readonly tookOver?: { readonly turns: number; readonly items: number };
  readonly phases?: readonly Phase[];
  readonly exitCode?: number;
  /** How it died, as far as the next life could find out. */
  readonly evidence?: readonly string[];
  /** The last step of a turn that it stored, where it died without a stop. */
  readonly lastStep?: LastStep;
};

export type LastStep = { readonly at: Instant; readonly turn: TurnId; readonly what: string };

/** The last moment at which it surely lived: a heartbeat, or a step that it stored. */
export function lastSeen({ beatAt, story }: Pick<Boot, "beatAt" | "story">): Instant {
  return Math.max(beatAt, story.lastStep?.at ?? 0) as Instant;
}

export type Boot = {
  readonly id: BootId;
  readonly pid: number;
  readonly host: string;
  /** Changes with every start of the machine: a power cut accuses nobody. */
  readonly machine: string;
  readonly version: string;
  /** A hash of the configuration it ran with: another one deserves another try. */
  readonly config: string;
  readonly startedAt: Instant;
  readonly beatAt: Instant;
  /** When it accepted and answered messages; null if it never did. */
  readonly readyAt: Instant | null;
  readonly stop: StopFacts | null;
  readonly story: BootStory;
};

/** A life that begins; the rest is noted while it lasts. */
export function newBoot(facts: Omit<Boot, "beatAt" | "readyAt" | "stop" | "story">): Boot {
  return { ...facts, beatAt: facts.startedAt, readyAt: null, stop: null, story: {} };
}

/** A turn that a dead boot was running. */
export type HeldTurn = {
  readonly turn: Turn;
  readonly boot: Boot;
  readonly progressed: boolean;
  /** It stands in a call that goes on without us: a stop that was asked for cost it nothing. */
  readonly follows: boolean;
  readonly strikes: number;
  /** How often a stop has interrupted its conversation since a turn there ended well. */
  readonly interruptions: number;
  /** The boot's own stop has marked and counted it. */
  readonly marked: boolean;
  /** Its session is suspended whatever the turn did: the owner wants that after a crash. */
  readonly suspend: boolean;
};

/** `suspended`: the turn is as it was found; it ends with the suspension of its session. */
export type TurnVerdict =
  | ({ readonly type: "parked"; readonly turn: Turn; readonly reason: ResumeReason } & InterruptionCounts)
  | ({ readonly type: "convicted"; readonly turn: Turn } & InterruptionCounts)
  | ({ readonly type: "suspended"; readonly turn: Turn; readonly cause: SuspendCause } & InterruptionCounts);

/** Why a session is suspended: too many interruptions without progress, too many at all, or active when the process died. */
export type SuspendCause = "strikes" | "interruptions" | "crash";

/** The counter row of a conversation. Only a turn that ends well, or a decision to start over, deletes it. */
export type InterruptionCounts = {
  /** Deaths and interruptions without progress. */
  readonly strikes: number;
  /** Interruptions by a stop, with or without progress. */
  readonly interruptions: number;
};

/** What a stop interrupts. `follows`: the turn only waits for a call that continues without the gateway. */
export type Interrupted = {
  readonly stop: StopClass;
  readonly progressed: boolean;
  readonly follows: boolean;
  /** How often the turn was started. */
  readonly attempt: number;
};

/**
 * Counts one interruption by a stop. An internal error counts as a death instead, and a turn that only follows a call
 * loses nothing. Progress saves a turn from a strike, but not from the bound on interruptions. A turn that was started
 * fewer than three times never adds the last strike: some of the others belong to an earlier turn that failed.
 */
export function countInterruption(before: InterruptionCounts, one: Interrupted): InterruptionCounts {
  if (one.stop === "fault" || one.follows) return before;
  const mayAdd = before.strikes + 1 < limits.strikesMax || one.attempt >= limits.strikesMax;
  const strikes = one.progressed || !mayAdd ? before.strikes : before.strikes + 1;
  return { strikes, interruptions: before.interruptions + 1 };
}

/** Why a conversation with these counts starts over; null while it may continue. */
export function decideSuspension({ strikes, interruptions }: InterruptionCounts): SuspendCause | null {
  if (strikes >= limits.strikesMax) return "strikes";
  return interruptions >= limits.interruptionsMax ? "interruptions" : null;
}

export type Verdicts = {
  readonly turns: readonly TurnVerdict[];
  /** The suspect whose guilt could not be settled: the next boot lets it run alone until it has a result. */
  readonly hold: TurnId | null;
};

/**
 * Parks what was running, and says why it was interrupted. First the interruptions by a stop that the boot did not live
 * to count: three of them without progress, or fifty at all, suspend the session. Then the deaths: three convict the
 * turn, but only when no other turn can have been the cause. Both need a turn that was started three times. The count belongs
 * to the conversation and outlives a failed turn, so the next turn there may meet strikes that it did not cause.
 */
export function decideTurns(held: readonly HeldTurn[], machine: string, now: Instant): Verdicts {
  const accused = held.filter((one) => !one.progressed && diedByItself(one.boot, machine));
  let hold: TurnId | null = null;
  const turns = held.map((one): TurnVerdict => {
    const counted = countStop(one);
    const suspended = decideSuspension(counted) ?? (one.suspend ? "crash" : null);
    if (suspended !== null) return { type: "suspended", turn: one.turn, ...counted, cause: suspended };
    const { strikes: before, interruptions } = counted;
    const counts = accused.includes(one);
    const strikes = counts ? before + 1 : before;
    const last = Math.min(strikes, one.turn.attempt) >= limits.strikesMax;
    const conclusive = accused.filter((other) => other.boot.id === one.boot.id).length === 1;
    if (counts && last && conclusive) {
      const why = `the gateway died ${strikes} times while working on this`;
      return {
        type: "convicted",
        turn: advanceTurn(one.turn, {
          type: "ended",
          outcome: "failed",
          why,
          failure: { code: "gateway-crash" },
          at: now,
        }),
        strikes,
        interruptions,
      };
    }
    const cause = one.boot.stop === null ? "crash" : "shutdown";
    const parked = advanceTurn(one.turn, { type: "parked", cause, at: now });
    if (counts && last) hold ??= parked.id;
    const reason = resumeReason(one.boot.stop);
    return { type: "parked", turn: parked, strikes: Math.min(strikes, limits.strikesMax - 1), interruptions, reason };
  });
  return { turns, hold };
}

/**
 * Whether the stop of a boot has marked the session, and so counted it: a mark that is as young as the stop, or one of its
 * kind whose moment cannot be read. What may have been counted is not counted again.
 */
export function wasMarked(resume: Resume | null, stop: StopFacts | null): boolean {
  if (stop === null || resume === null) return false;
  return resume.markedAt === null ? resume.reason === resumeReason(stop) : resume.markedAt >= stop.at;
}

/** The counts with the stop of the boot, unless it has counted itself. */
function countStop({ turn, boot, progressed, follows, marked, strikes, interruptions }: HeldTurn): InterruptionCounts {
  const before = { strikes, interruptions };
  return boot.stop === null || marked
    ? before
    : countInterruption(before, { stop: boot.stop.class, progressed, follows, attempt: turn.attempt });
}

/** A send cut short may have arrived: in doubt, then by key or policy due at once or held for the user. */
export function decideItem(item: OutboxItem, doubt: InDoubtPolicy, now: Instant): OutboxItem {
  const orphaned = item.now.state === "sending" ? advanceItem(item, { type: "orphaned", at: now }) : item;
  if (doubt === "hold" || orphaned.now.state !== "in-doubt") return orphaned;
  return { ...advanceItem(orphaned, { type: "repeated", at: now }), version: item.version + 1 };
}

/** A stop that a mistake of ours brought about counts as a death: whatever met it would meet it again at every start. */
function diedByItself(boot: Boot, machine: string): boolean {
  return (boot.stop === null || boot.stop.class === "fault") && boot.machine === machine;
}
