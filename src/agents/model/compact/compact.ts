// Makes room: one model call that writes a summary of the oldest part of the conversation, as a step of its own. The
// originals stay where they are. When nothing is left that could be summarised, it says so.

import type { Entry } from "../../../core/journal.ts";
import { limits } from "../../../core/limits.ts";
import type { AgentJob, Step } from "../../../ports/agent.ts";
import type { Gathered } from "../context/gather.ts";
import { hidePrompt } from "../context/hide.ts";
import type { Layout } from "../context/request.ts";
import { promptTokens } from "../context/tokens.ts";
import { outcome } from "../errors/last.ts";
import type { ModelOptions } from "../options.ts";
import { abilitiesOf } from "../providers/abilities.ts";
import { type Caller, askChain } from "../step/chain.ts";
import { textOf } from "../step/collect.ts";
import { endMarked } from "../step/said.ts";
import { type CompactPlan, planCompaction, summaryTokens, targetOf, triesOf } from "./plan.ts";
import { summaryPrompt } from "./transcript.ts";

/** Characters of conversation to a token, on the safe side. */
const charsPerToken = 3;
/** Of our own words. */
const wordsTokens = 400;
/** A provider may think its window smaller than we do: each refusal takes away from what it is given to read. */
const shares = [1, 0.5, 0.2] as const;

/** What is to be made room in, and why. */
export type Full = {
  /** The model whose window is full. */
  readonly model: string;
  readonly gathered: Gathered;
  readonly layout: Layout;
  readonly why: string;
  /** The provider has refused it: it was too long, whatever our tables say. */
  readonly refused: boolean;
};

function believedWindow({ model, layout, refused }: Full, options: ModelOptions): number {
  const { window } = abilitiesOf(model, options);
  return refused ? Math.min(window, layout.tokens) : window;
}

/** Null when nothing is left that could be summarised. */
export function planFor(full: Full, options: ModelOptions, journal: readonly Entry[]): CompactPlan | null {
  const { summary, before: lastBefore } = full.gathered;
  const tries = triesOf(journal);
  // One more would be paid for, and the turn ended all the same.
  if (tries >= limits.compactionsMax) return null;
  const before = { entries: summary?.entries ?? 0, upTo: summary?.upTo ?? 0, lastBefore };
  const target = targetOf(believedWindow(full, options), tries);
  // A transcript of very many messages has to become shorter, however small they are.
  const { layout } = full;
  const fixed = layout.fixedTokens * layout.ratio;
  const { stays } = full.gathered;
  const most = stays < 1 ? fixed + (layout.tokens - fixed) * stays : target;
  return planCompaction(layout, Math.min(target, most), before);
}

export async function compact(
  caller: Caller & { readonly options: ModelOptions },
  models: readonly string[],
  full: Full,
  plan: CompactPlan | null,
  job: Pick<AgentJob, "now">,
  signal: AbortSignal,
): Promise<Step> {
  const { model, layout, why, gathered } = full;
  const { options } = caller;
  if (plan === null) {
    const advice = "Start over with /new, send less at once, or choose a model with a larger window with /model.";
    return {
      type: "failed",
      retry: "never",
      why: `${why} Nothing more of it can be summarised. ${advice}`,
      failure: { code: "context-length" },
    };
  }
  const order = [model, ...models.filter((one) => one !== model)];
  const window = believedWindow(full, options);
  const maxOutputTokens = Math.min(summaryTokens * 2, Math.floor(window / 4));
  const room = Math.max(500, (window / layout.ratio - maxOutputTokens - wordsTokens) * charsPerToken);
  for (const share of shares) {
    const prompt = hidePrompt(
      summaryPrompt(gathered.summary?.text ?? null, plan.messages, Math.floor(room * share)),
      options.hide,
    );
    const request = { prompt, maxOutputTokens };
    const requestFor = () => ({ request, estimated: promptTokens(prompt), tooLong: null });
    const asked = await askChain(caller, order, requestFor, { draft: () => undefined, now: job.now }, signal);
    if (asked.type === "failed") return outcome(asked.failures);
    if (asked.type === "too-long") continue;
    const { collected, usage } = asked.answer;
    const { entries, upTo } = plan;
    const summary = endMarked(textOf(collected.parts).trim(), collected, "summary");
    return { type: "compacted", summary, entries, upTo, usage };
  }
  return {
    type: "failed",
    retry: "never",
    why: `${why} Even a part of it is too long to be summarised. Start over with /new.`,
    failure: { code: "context-length" },
  };
}
