// The model of the open conversation and what it has used, in a few quiet words. Asked again after each answer.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Client } from "../net/client.ts";
import type { Message, Used } from "../net/wire.ts";

export type Usage = {
  readonly words: ReadonlySignal<string>;
  /** The conversation shows these messages now. */
  look(messages: readonly Message[]): Promise<void>;
};

export function usage(client: Pick<Client, "used">): Usage {
  const words = signal("");
  let session: string | undefined;
  return {
    words,
    async look(messages) {
      const here = messages.at(-1)?.session;
      if (here !== session) words.value = "";
      session = here;
      if (here === undefined) return;
      const answer = await client.used(here);
      if (answer.type === "got" && session === here) words.value = usedWords(answer.value);
    },
  };
}

/** Nothing where no model was asked and none was chosen. Pure. */
export function usedWords({ model, tokens, cost }: Used): string {
  const money = cost === null ? "" : `$${(cost / 1e6).toFixed(cost >= 1e6 || cost === 0 ? 2 : 4)}`;
  const parts = [model ?? "", tokens === 0 ? "" : `${countOf(tokens)} tokens`, tokens === 0 ? "" : money];
  return parts.filter((one) => one !== "").join(" · ");
}

function countOf(tokens: number): string {
  if (tokens < 10_000) return tokens.toLocaleString("en");
  return tokens < 1_000_000 ? `${Math.round(tokens / 1_000)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}
