// A simulated platform that counts: what comes faster than it may is a breach, and so is whatever comes while it has asked
// for silence. Each life of the gateway is counted for itself; a new one cannot know what the one before has sent.

import type { SendResult } from "../../core/outbox.ts";
import type { Pace } from "../../ports/platform.ts";
import type { Life } from "../life.ts";
import type { Dice, Time } from "../time.ts";

export interface Counting {
  /** A request comes in; the answer is a pause, where the platform wants one. */
  count(chat: string, life: Life, kind: "send" | "preview"): SendResult | null;
}

type Request = { readonly at: number; readonly chat: string; readonly life: number };

/** What was let through already when a pause was asked for may still come. */
const inHandMs = 20;

export function counting(
  pace: Pace | null,
  tires: number,
  time: Time,
  chances: Dice,
  onBreach: (what: string) => void,
): Counting {
  const requests: Request[] = [];
  const rests: {
    readonly from: number;
    readonly until: number;
    readonly chat: string | null;
    readonly life: number;
  }[] = [];

  function tooFast(one: Request, { perSecond, chatEveryMs }: Pace): void {
    const mine = requests.filter(({ life, at }) => life === one.life && at > one.at - 1_000);
    if (mine.length > perSecond) onBreach(`${mine.length} requests in a second, more than ${perSecond}`);
    const there = requests.filter(
      ({ life, chat, at }) => life === one.life && chat === one.chat && at > one.at - chatEveryMs,
    );
    if (there.length > 1) onBreach(`${there.length} requests in ${one.chat} within ${chatEveryMs} ms`);
  }

  function tooSoon(one: Request, kind: "send" | "preview"): void {
    const slack = kind === "preview" ? 0 : inHandMs;
    for (const { from, until, chat, life } of rests) {
      if (life !== one.life || (chat !== null && chat !== one.chat)) continue;
      if (one.at > from + slack && one.at < until)
        onBreach(`a ${kind} to ${one.chat} came ${until - one.at} ms too soon`);
    }
  }

  return {
    count(chat, { number: life }, kind) {
      const one: Request = { at: time.now(), chat, life };
      requests.push(one);
      if (pace !== null) tooFast(one, pace);
      tooSoon(one, kind);
      if (!chances.chance(tires)) return null;
      const afterMs = chances.between(200, 8_000);
      const all = chances.chance(0.5);
      rests.push({ from: one.at, until: one.at + afterMs, chat: all ? null : chat, life });
      return { type: "retry", afterMs, why: "too many requests", ...(all ? { all } : {}) };
    },
  };
}
