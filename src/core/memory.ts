// What an agent was told to remember, beyond any one conversation. Pure.

import type { Instant } from "./ids.ts";
import type { Address } from "./message.ts";

export type Memory = { readonly id: string; readonly scope: string; readonly text: string; readonly at: Instant };

/** What was found for some words: remembered, or said in a conversation of the same people. */
export type Recalled = {
  readonly from: "memory" | "conversation";
  readonly id: string;
  readonly text: string;
  readonly at: Instant;
  /** Strangers' words are in it. */
  readonly outside?: true;
};

/** Where a conversation with text from outside leaves what it remembers. It is found by searching, never told unasked. */
export function outsideScope(scope: string): string {
  return `outside:${scope}`;
}

/**
 * Whose memory it is: nothing told in one chat may come up in a stranger's. Whoever is let in by our own clients is the
 * owner, wherever they write.
 */
export function memoryScope({ platform, account, chat }: Address): string {
  return platform === "web" || platform === "terminal" ? "owner" : JSON.stringify([platform, account, chat]);
}
