// The real world: the system's clock and timers, ids, chance. Ids are ordered by time and strictly increasing within one
// process, whatever the clock does; the random part keeps two processes apart.

import { randomBytes } from "node:crypto";
import type { Instant } from "./core/ids.ts";
import type { World } from "./ports/world.ts";

/** Slept at most at once, so that a machine that was suspended notices soon that its time is over. */
const napMaxMs = 30_000;

export function realWorld(log: World["log"]): World {
  const nextId = idsFrom(Date.now, randomBytes);
  return {
    now: () => Date.now() as Instant,
    monotonic: () => performance.now(),
    sleep,
    id: nextId,
    chance: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
    log,
  };
}

async function sleep(until: Instant, signal: AbortSignal): Promise<void> {
  const endsAt = performance.now() + until - Date.now();
  while (!signal.aborted) {
    // A timer may fire a moment early, and then the clock decides.
    const left = Math.min(until - Date.now(), Math.ceil(endsAt - performance.now()));
    if (left <= 0) return;
    await nap(Math.min(left, napMaxMs), signal);
  }
}

function nap(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** 32 letters and digits that sort like their numbers and cannot be misread for one another. */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";
const timeDigits = 9;
const randomDigits = 6;
const countDigits = 5;
const countMax = 32 ** countDigits;

/** Milliseconds, then what keeps two processes apart, then a count within the same millisecond. */
export function idsFrom(now: () => number, random: (size: number) => Buffer): () => string {
  let time = 0;
  let count = 0;
  let prefix = "";

  function begin(at: number): void {
    time = at;
    count = 0;
    prefix = encode(at, timeDigits) + encode(random(4).readUInt32BE() % 32 ** randomDigits, randomDigits);
  }

  return () => {
    const at = now();
    if (at > time) begin(at);
    else if (count === countMax) begin(time + 1);
    return prefix + encode(count++, countDigits);
  };
}

function encode(value: number, length: number): string {
  let text = "";
  for (let left = value, i = 0; i < length; i++, left = Math.floor(left / 32)) text = `${digits[left % 32]}${text}`;
  return text;
}
