// The model of the open conversation and what it has used, in a few quiet words, and whether it still works: something may
// be said in the middle of a turn. Asked again after each answer.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Client } from "../net/client.ts";
import type { Message, Used } from "../net/wire.ts";

export type Usage = {
  readonly words: ReadonlySignal<string>;
  /** The message behind which the turn is known to go on; null when it does not. Anything newer may have been the end. */
  readonly workingAfter: ReadonlySignal<number | null>;
  /** The conversation shows these messages now. */
  look(messages: readonly Message[]): Promise<void>;
};

export function usage(client: Pick<Client, "used">): Usage {
  const words = signal("");
  const workingAfter = signal<number | null>(null);
  let last: Message | undefined;
  return {
    words,
    workingAfter,
    async look(messages) {
      const latest = messages.at(-1);
      if (latest?.session !== last?.session) words.value = "";
      last = latest;
      if (latest?.session === undefined) return;
      const answer = await client.used(latest.session);
      if (answer.type !== "got" || last?.session !== latest.session) return;
      words.value = usedWords(answer.value);
      workingAfter.value = answer.value.working ? latest.n : null;
    },
  };
}

/** Nothing where no model was asked and none was chosen. Pure. */
export function usedWords({ model, tokens, cost }: Omit<Used, "working">): string {
  const money = cost === null ? "" : `$${(cost / 1e6).toFixed(cost >= 1e6 || cost === 0 ? 2 : 4)}`;
  const parts = [model ?? "", tokens === 0 ? "" : `${countOf(tokens)} tokens so far`, tokens === 0 ? "" : money];
  return parts.filter((one) => one !== "").join(" · ");
}

function countOf(tokens: number): string {
  if (tokens < 10_000) return tokens.toLocaleString("en");
  return tokens < 1_000_000 ? `${Math.round(tokens / 1_000)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}
