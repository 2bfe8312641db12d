// The words everything else is written in: branded ids, moments, and the two ways to say "this cannot be".
// Ids are opaque strings; nobody parses them.

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** Milliseconds since the epoch. */
export type Instant = Brand<number, "Instant">;
/** One life of one process. */
export type BootId = Brand<string, "BootId">;
export type SessionId = Brand<string, "SessionId">;
export type TurnId = Brand<string, "TurnId">;
/** Also the idempotency key of a send. */
export type ItemId = Brand<string, "ItemId">;

/** A mistake of ours. It stops the process; recovery does the rest. */
export class Bug extends Error {
  override name = "Bug";
}

export function unreachable(value: never): never {
  throw new Bug(`unreachable case: ${JSON.stringify(value)}`);
}

export function later(at: Instant, ms: number): Instant {
  return (at + ms) as Instant;
}

/** For people, as 2026-11-15 14:03 UTC. */
export function shortTime(at: Instant): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** A span in its largest whole unit. */
export function lasting(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
