// The last step of a turn that a boot stored, for the story of how it died. Pure.

import type { Instant } from "./ids.ts";
import type { Entry } from "./journal.ts";
import type { LastStep } from "./recovery.ts";
import type { Turn } from "./turn.ts";

export type TurnRecord = {
  readonly turn: Turn;
  readonly entries: readonly { readonly at: Instant; readonly entry: Entry }[];
};

/** Of what was stored from the start of the boot until the next one began. */
export function lastStepOf(records: readonly TurnRecord[], from: Instant, until: number): LastStep | null {
  const steps = records.flatMap(stepsOf).filter(({ at }) => at >= from && at < until);
  return steps.reduce<LastStep | null>((last, step) => (last !== null && last.at > step.at ? last : step), null);
}

function stepsOf({ turn, entries }: TurnRecord): readonly LastStep[] {
  const journal = entries.map(({ entry }) => entry);
  const { id, acceptedAt, now } = turn;
  return [
    { at: acceptedAt, turn: id, what: "message accepted" },
    ...entries.map(({ at, entry }) => ({ at, turn: id, what: stepName(entry, journal) })),
    ...(now.state === "done" ? [{ at: now.doneAt, turn: id, what: `turn ended (${now.outcome})` }] : []),
  ];
}

function stepName(entry: Entry, journal: readonly Entry[]): string {
  switch (entry.type) {
    case "said":
      return entry.final ? "answer stored" : "step of the model stored";
    case "tool-begun":
      return `${toolOf(entry.call, journal)} begun`;
    case "tool-ended":
      return `result of ${toolOf(entry.call, journal)} stored`;
    case "asked":
    case "call-asked":
      return entry.kind === "approval" ? "approval requested" : "question asked";
    case "answered":
      return "question answered";
    case "heard":
      return "voice message transcribed";
    case "compacted":
      return "conversation summarized";
    case "joined":
      return "joined by another message";
    case "resumed":
      return "turn started";
  }
}

function toolOf(call: string, journal: readonly Entry[]): string {
  const calls = journal.flatMap((entry) => (entry.type === "said" ? entry.calls : []));
  return calls.find((one) => one.call === call)?.tool ?? "a tool";
}
