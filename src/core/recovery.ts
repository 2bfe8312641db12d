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
};

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
  /** The boot's own stop has marked and counted it. */
  readonly marked: boolean;
  /** Its session is suspended whatever the turn did: the owner wants that after a crash. */
  readonly suspend: boolean;
};

/** `suspended`: the turn is as it was found; it ends with the suspension of its session. */
export type TurnVerdict =
  | { readonly type: "parked"; readonly turn: Turn; readonly strikes: number; readonly reason: ResumeReason }
  | { readonly type: "convicted"; readonly turn: Turn; readonly strikes: number }
  | { readonly type: "suspended"; readonly turn: Turn; readonly strikes: number; readonly cause: SuspendCause };

/** Why a session is suspended: interrupted too often without getting anywhere, or active when the process died. */
export type SuspendCause = "strikes" | "crash";

export type Verdicts = {
  readonly turns: readonly TurnVerdict[];
  /** The suspect whose guilt could not be settled: the next boot lets it run alone until it has a result. */
  readonly hold: TurnId | null;
};

/**
 * Parks what was running, and says why it was interrupted. First the interruptions by a stop that the boot did not live
 * to count: three of them without progress suspend the session. Then the deaths: three convict the turn, but only when
 * nobody else could have done it.
 */
export function decideTurns(held: readonly HeldTurn[], machine: string, now: Instant): Verdicts {
  const accused = held.filter((one) => !one.progressed && diedByItself(one.boot, machine));
  let hold: TurnId | null = null;
  const turns = held.map((one): TurnVerdict => {
    const before = one.strikes + (wasStopped(one) ? 1 : 0);
    if (before >= limits.strikesMax) return { type: "suspended", turn: one.turn, strikes: before, cause: "strikes" };
    if (one.suspend) return { type: "suspended", turn: one.turn, strikes: before, cause: "crash" };
    const counts = accused.includes(one);
    const strikes = counts ? before + 1 : before;
    const last = strikes >= limits.strikesMax;
    const conclusive = accused.filter((other) => other.boot.id === one.boot.id).length === 1;
    if (counts && last && conclusive) {
      const why = `the gateway died ${strikes} times while working on this`;
      return {
        type: "convicted",
        turn: advanceTurn(one.turn, { type: "ended", outcome: "failed", why, at: now }),
        strikes,
      };
    }
    const cause = one.boot.stop === null ? "crash" : "shutdown";
    const parked = advanceTurn(one.turn, { type: "parked", cause, at: now });
    if (counts && last) hold ??= parked.id;
    const reason = resumeReason(one.boot.stop);
    return { type: "parked", turn: parked, strikes: Math.min(strikes, limits.strikesMax - 1), reason };
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

/** An interruption without progress by a stop that was asked for, and not counted yet. */
function wasStopped({ boot, progressed, follows, marked }: HeldTurn): boolean {
  return boot.stop !== null && boot.stop.class !== "fault" && !progressed && !follows && !marked;
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
