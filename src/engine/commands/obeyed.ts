// What a command in a chat comes to: an answer, changes of the very commit that accepts it, and what follows in memory.

import type { Change } from "../../core/change.ts";

export type Obeyed = {
  readonly text: string;
  readonly changes: readonly Change[];
  /** What follows in memory once the commit stands. */
  readonly stored: () => void;
};

export const nothing = () => undefined;

export function only(text: string): Obeyed {
  return { text, changes: [], stored: nothing };
}
