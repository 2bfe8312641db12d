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
    sleep,
    id: nextId,
    chance: () => randomBytes(4).readUInt32BE() / 2 ** 32,
    log,
  };
}

async function sleep(until: Instant, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const left = until - Date.now();
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
const restDigits = 11;

/** `time` in milliseconds, then a number that starts at random and grows by one within the same millisecond. */
export function idsFrom(now: () => number, random: (size: number) => Buffer): () => string {
  let time = 0;
  let rest = 0n;
  const restMax = 1n << BigInt(restDigits * 5);
  return () => {
    const at = now();
    if (at > time) {
      time = at;
      // The top bit is free, so that there is always room to count up.
      rest = BigInt(`0x${random(8).toString("hex")}`) % (restMax / 2n);
    } else {
      rest += 1n;
    }
    if (rest >= restMax) {
      time += 1;
      rest = 0n;
    }
    return encode(BigInt(time), timeDigits) + encode(rest, restDigits);
  };
}

function encode(value: bigint, length: number): string {
  let text = "";
  for (let left = value, i = 0; i < length; i++, left /= 32n) text = `${digits[Number(left % 32n)]}${text}`;
  return text;
}
