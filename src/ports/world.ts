// The only doors to time, chance and the log. Core and engine reach none of them any other way, so a test owns them all.

import type { Instant } from "../core/ids.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type Facts = Readonly<Record<string, unknown>>;

export interface World {
  /** The machine's clock, which can be set back or ahead at any moment. */
  now(): Instant;
  /** Milliseconds since an arbitrary moment, for durations inside one process: it never goes back and never jumps. */
  monotonic(): number;
  /**
   * Resolves at `until`, or at once when the signal aborts. Never rejects. When the clock is set back meanwhile, it resolves
   * after the time that `until` was away, so that a pause never grows.
   */
  sleep(until: Instant, signal: AbortSignal): Promise<void>;
  /** A new id, greater than all before it in this process. */
  id(): string;
  /** Between 0 and 1, and nobody outside can tell what comes next: codes are made of it, too. */
  chance(): number;
  log(level: LogLevel, what: string, facts?: Facts): void;
}
