// What a command in a chat comes to: an answer, changes of the very commit that accepts it, and what follows in memory.

import type { Change } from "../../core/change.ts";
import type { Inbound } from "../../core/message.ts";
import type { CommandName } from "../../core/route.ts";

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

/** For somebody who may speak and not change the gateway. */
export function refusedText(name: CommandName, { sender, from }: Inbound): string {
  return `Only admins of ${from.platform} may use /${name}, and ${sender} is not one of them. Ask the person who runs me.`;
}
