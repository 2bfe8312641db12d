// The lives of the gateway in plain words: how each one ended, who wanted it, what it cost, and how long nobody listened.
// Pure: made from the rows that the store keeps about boots. Nothing that a row may lack is taken for granted.

import { type Boot, type BootStory, type StopFacts, lastSeen } from "../core/recovery.ts";
import { lasting, oneLine, when } from "./print.ts";
import { type Around, type End, backFacts, endFacts, isAnotherMachineLife, purpose, signalIn } from "./story-facts.ts";

export type Life = {
  readonly boot: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: number;
  readonly readyAt: number | null;
  readonly end: End;
  readonly class: StopFacts["class"] | null;
  /** When it was asked to stop, or its last sign of life. */
  readonly at: number;
  readonly exitCode: number | null;
  /** From the last moment somebody listened to the first one after it; null where one of them is not known. */
  readonly awayMs: number | null;
  /** One sentence that says it all. */
  readonly headline: string;
  /** What else is known, as names and sentences. */
  readonly facts: readonly (readonly [string, string])[];
};

/** One life for each boot, the newest first, as the rows are. */
export function livesOf(boots: readonly Boot[], around: Around): readonly Life[] {
  return boots.map((boot, i) => lifeOf(boot, boots[i - 1] ?? null, around));
}

/** Those that somebody who asks "why" wants to hear of: the last end, and the unclean deaths before it. */
export function worthTelling(lives: readonly Life[], deathsMax: number): readonly Life[] {
  const ended = lives.filter((one) => one.end !== "running");
  const deaths = ended.slice(1).filter((one) => one.end !== "stopped" || one.class === "fault");
  return [...ended.slice(0, 1), ...deaths.slice(0, deathsMax)];
}

function lifeOf(boot: Boot, next: Boot | null, around: Around): Life {
  const end = endOf(boot, around);
  const at = boot.stop?.at ?? lastSeen(boot);
  const awayMs = awayBetween(boot.story, next?.story ?? {});
  const facts = [
    ...(end === "running" ? [] : endFacts(boot, next, end, around)),
    ...backFacts(boot, next, awayMs, around),
  ];
  return {
    boot: boot.id,
    pid: boot.pid,
    version: boot.version,
    startedAt: boot.startedAt,
    readyAt: boot.readyAt,
    end,
    class: boot.stop?.class ?? null,
    at,
    exitCode: boot.story.exitCode ?? null,
    awayMs,
    headline: headlineOf(boot, next, end, around),
    facts,
  };
}

function endOf({ id, stop, story }: Boot, { alive }: Around): End {
  if (id === alive) return "running";
  if (stop === null) return "died";
  const isDone = stop.clean || story.exitCode !== undefined || story.phases !== undefined;
  return isDone ? "stopped" : "cut-short";
}

function awayBetween(before: BootStory, after: BootStory): number | null {
  if (before.silentAt === undefined || after.listeningAt === undefined) return null;
  return Math.max(0, after.listeningAt - before.silentAt);
}

function headlineOf(boot: Boot, next: Boot | null, end: End, around: Around): string {
  const { stop } = boot;
  const lived = `after ${lasting(Math.max(0, (stop?.at ?? lastSeen(boot)) - boot.startedAt))}`;
  if (end === "running")
    return `${stop === null ? "Runs" : "Is stopping, after it ran"} since ${when(boot.startedAt, around.now)}.`;
  if (stop === null) return deathLine(boot, next, lived, around);
  const moment = when(stop.at, around.now);
  if (end === "cut-short")
    return `Died ${moment}, ${lived}, in the middle of a stop: ${purpose(stop)}, and it ended before it was done.`;
  switch (stop.class) {
    case "planned":
      return `Stopped on purpose ${moment}, ${lived}: ${purpose(stop)}.`;
    case "take-over":
      return `Replaced ${moment}, ${lived}: another gateway took over${next === null ? "" : ` (pid ${next.pid})`}.`;
    case "restart":
      return `Restarted ${moment}, ${lived}: ${purpose(stop)}.`;
    case "unexpected":
      return `Ended ${moment}, ${lived}, by ${signalIn(stop) ?? "a signal"} that nobody had announced.`;
    case "fault":
      return `Stopped ${moment}, ${lived}, because of a fault: ${oneLine(stop.reason) || "no reason is on record"}.`;
  }
}

function deathLine(boot: Boot, next: Boot | null, lived: string, around: Around): string {
  // One is written at the start and then every half minute.
  const age = lastSeen(boot) - boot.startedAt < 1_000 ? "at its start" : lived;
  const seen = `its last sign of life was ${when(lastSeen(boot), around.now)}, ${age}`;
  if (isAnotherMachineLife(boot, next, around))
    return `Died without a word because the machine stopped (power cut, reset or reboot); ${seen}.`;
  const { lastWord = null } = around;
  if (next === null && lastWord?.pid === boot.pid) return `Died: ${oneLine(lastWord.reason)}; ${seen}.`;
  const early = boot.readyAt === null ? " before it was ready" : "";
  return `Died without a word${early}; ${seen}.`;
}
