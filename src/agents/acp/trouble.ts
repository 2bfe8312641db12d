// Why the agent cannot be used, and whether trying again may help.

import type { TurnFailure } from "../../core/running/failure.ts";

export class AcpTrouble extends Error {
  override name = "AcpTrouble";
  readonly retry: "later" | "never";
  /** Not sooner than that. */
  readonly afterMs: number;
  readonly failure: TurnFailure | undefined;
  constructor(retry: "later" | "never", why: string, afterMs = 0, failure?: TurnFailure) {
    super(why);
    this.retry = retry;
    this.afterMs = afterMs;
    this.failure = failure;
  }
}
