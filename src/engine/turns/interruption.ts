// Why a running turn is broken off. The agent and its tools find it as the reason of their abort, and it is an Error,
// because that is what aborted work fails with: its message is for them, its `why` for us.

import { Bug } from "../../core/ids.ts";

/** `shutdown`: it goes on after the next start. `cancelled`: its end is stored already. `superseded`: a newer message took its place. */
export type Why = "shutdown" | "cancelled" | "superseded";

export class Interruption extends Error {
  override name = "Interruption";
  readonly why: Why;
  constructor(why: Why, text: string) {
    super(text);
    this.why = why;
  }
}

/** The interruption behind an abort; turns are aborted in no other way. */
export function interruptionOf(signal: AbortSignal): Interruption {
  const reason: unknown = signal.reason;
  if (reason instanceof Interruption) return reason;
  throw new Bug(`a turn was aborted by ${String(reason)}`);
}
