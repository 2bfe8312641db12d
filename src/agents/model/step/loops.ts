// Whether a model turns in circles: the same calls with the same results again and again, or calls that nobody can read.
// Told once it is noticed, stopped when that does not help. Pure, from the journal alone.

import type { Entry, Said } from "../../../core/journal.ts";
import { invalidWhy } from "./invalid.ts";

export type Circle =
  | { readonly type: "none" }
  /** Words for the model. */
  | { readonly type: "tell"; readonly text: string }
  /** Words for the user. */
  | { readonly type: "stop"; readonly why: string };

const tellAfter = 3;
const stopAfter = 5;

type Round = { readonly said: Said; readonly mark: string; readonly invalid: boolean };

export function circleIn(journal: readonly Entry[]): Circle {
  const rounds = roundsOf(journal);
  const invalid = rounds.length - 1 - rounds.findLastIndex((round) => !round.invalid);
  const last = rounds.at(-1);
  if (last === undefined) return { type: "none" };
  const names = [...new Set(last.said.calls.map(({ tool }) => tool))].join(", ");
  if (invalid >= stopAfter) {
    return {
      type: "stop",
      why: `The model called ${names} ${invalid} times in a row with arguments that cannot be read, so I stopped it. Try again with another model (/model).`,
    };
  }
  // Two or three steps that follow each other again and again are a circle too.
  const turns = Math.max(...[1, 2, 3].map((length) => repeats(rounds, length)));
  if (turns >= stopAfter) {
    return {
      type: "stop",
      why: `The model made the same call ${turns} times with the same result, so I stopped it: ${names} ${shown(last.said)}. Say what it should do differently, or try another model (/model).`,
    };
  }
  if (turns < tellAfter) return { type: "none" };
  return {
    type: "tell",
    text: `(You have made the same call ${turns} times and got the same result: ${names}. It will not change. Do something else, or answer with what you know and say what is in the way.)`,
  };
}

function roundsOf(journal: readonly Entry[]): readonly Round[] {
  const rounds: Round[] = [];
  for (const [at, entry] of journal.entries()) {
    // New words of the user change what a call is good for.
    if (entry.type === "joined" || entry.type === "answered") rounds.length = 0;
    if (entry.type !== "said" || entry.calls.length === 0) continue;
    const next = journal.findIndex(({ type }, n) => n > at && (type === "said" || type === "asked"));
    const since = journal.slice(at + 1, next === -1 ? journal.length : next);
    const marks = entry.calls.map(({ call, tool, input }) => {
      const ended = since.find((one) => one.type === "tool-ended" && one.call === call);
      return [tool, input, ended?.type === "tool-ended" ? ended.result : null];
    });
    const invalid = entry.calls.every(({ input }) => invalidWhy(input) !== null);
    rounds.push({ said: entry, mark: JSON.stringify(marks), invalid });
  }
  return rounds;
}

/** How often the last so many rounds stand one behind the other at the end. */
function repeats(rounds: readonly Round[], length: number): number {
  const mark = (from: number): string =>
    rounds
      .slice(from, from + length)
      .map((round) => round.mark)
      .join("\n");
  const lastAt = rounds.length - length;
  if (lastAt < 0) return 0;
  const wanted = mark(lastAt);
  let count = 0;
  for (let from = lastAt; from >= 0 && mark(from) === wanted; from -= length) count++;
  return count;
}

function shown({ calls }: Said): string {
  const text = JSON.stringify(calls[0]?.input ?? {});
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
