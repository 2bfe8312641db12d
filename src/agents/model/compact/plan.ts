// Which part of a conversation is summarised when its request grows too large: the oldest, as much as it takes, and never
// the message that is being answered. Pure.

import type { Entry } from "../../../core/journal.ts";
import type { Layout } from "../context/request.ts";
import type { Message } from "../context/turn.ts";

/** A request larger than this part of the window is compacted before it is sent. */
export const fullShare = 0.8;
/** A request larger than this part leaves no room for an answer. */
export const brimShare = 0.95;

export type CompactPlan = {
  /** What the summary takes up beside the one before it, oldest first. */
  readonly messages: readonly Message[];
  readonly entries: number;
  readonly upTo: number;
};

/** Less than this is not worth a summary. */
const worthTokens = 400;
/** What a summary takes. */
export const summaryTokens = 1_500;

/** How much may stay, in the provider's tokens: the more often it was not enough, the less. */
export function targetOf(window: number, tries: number): number {
  return Math.floor((window * 0.45) / 2 ** tries);
}

/** How often it was compacted since the model last said something. */
export function triesOf(journal: readonly Entry[]): number {
  const at = journal.findLastIndex(({ type }) => type === "said" || type === "asked");
  return journal.slice(at + 1).filter(({ type }) => type === "compacted").length;
}

/** Null when there is nothing left that could be summarised. */
export function planCompaction(
  layout: Pick<Layout, "earlier" | "steps" | "fixedTokens" | "ratio">,
  target: number,
  before: { readonly entries: number; readonly upTo: number; readonly lastBefore: number },
): CompactPlan | null {
  const { earlier, steps, fixedTokens, ratio } = layout;
  const pieces = [
    ...earlier.map((piece) => ({ ...piece, entries: before.entries })),
    ...steps.map((piece) => ({ ...piece, from: before.lastBefore + 1, upTo: before.lastBefore })),
  ];
  let left = target / ratio - fixedTokens - Math.min(summaryTokens, target / 4);
  let from = pieces.length;
  while (from > 0 && (pieces[from - 1]?.tokens ?? 0) <= left) left -= pieces[--from]?.tokens ?? 0;
  const removed = pieces.slice(0, from);
  const last = removed.at(-1);
  if (last === undefined || removed.reduce((sum, { tokens }) => sum + tokens, 0) < worthTokens) return null;
  return {
    messages: removed.flatMap(({ messages }) => messages),
    entries: last.entries,
    // Turns may overlap: no message of one that stays may be counted as told.
    upTo: Math.max(
      before.upTo,
      Math.min(last.upTo, before.lastBefore, (pieces[from]?.from ?? Number.POSITIVE_INFINITY) - 1),
    ),
  };
}
