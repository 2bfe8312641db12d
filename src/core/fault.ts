// The broken outside world: a code to decide by, a sentence to read, the cause to dig in.
// A message says what happened, to what, and what to do.

export type FaultCode =
  | "store-full" // no room on the disk; comes back by itself
  | "store-failed" // the disk or the file answered with an error
  | "store-refused" // a row that may not be; a mistake of ours
  | "store-broken" // the writer is gone; only a new start helps
  | "store-newer" // written by a newer version
  | "store-foreign" // not ours, or damaged
  | "store-unsuitable" // network file system, too old SQLite
  | "store-closed"
  | "home-unusable"
  | "already-running"
  | "config-wrong"
  | "busy" // too much at once; try again
  | "too-large"
  | "empty"
  | "not-found"
  | "not-possible"
  | "denied" // a password or token that is wrong; only another configuration helps
  | "port-unusable"
  | "stopping";

export class Fault extends Error {
  override name = "Fault";
  readonly code: FaultCode;
  constructor(code: FaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** The sentence of anything thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
