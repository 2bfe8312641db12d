// Why the agent cannot be used, and whether trying again may help.

export class AcpTrouble extends Error {
  override name = "AcpTrouble";
  readonly retry: "later" | "never";
  /** Not sooner than that. */
  readonly afterMs: number;
  constructor(retry: "later" | "never", why: string, afterMs = 0) {
    super(why);
    this.retry = retry;
    this.afterMs = afterMs;
  }
}
