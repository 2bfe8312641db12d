// What a command in a chat comes to: an answer, changes of the very commit that accepts it, and what follows in memory.

import type { Change } from "../../core/change.ts";

export type Obeyed = {
  readonly text: string;
  readonly changes: readonly Change[];
  /** What stands in the transcript before the command. */
  readonly before?: readonly Change[];
  /** What follows in memory once the commit stands. */
  readonly stored: () => void;
};

export const nothing = () => undefined;

/** Somebody wrote more behind /approve than it takes; whatever it was, it is not leave. */
export function unclearText(rest: string): string {
  const said = rest.trim().slice(0, 80).toWellFormed();
  return `Nothing was decided, because I do not know what "/approve ${said}" means. Send /approve, /approve always, or /deny with your reason.`;
}

export function only(text: string): Obeyed {
  return { text, changes: [], stored: nothing };
}
