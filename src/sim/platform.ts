// A chat platform outside the process: it keeps a message until it is acknowledged, delivers it again when in doubt, and
// answers sends well, late, with a refusal for now, or never. What its users see is the oracle of every story.

import { Fault } from "../core/fault.ts";
import type { Address, Inbound } from "../core/message.ts";
import type { OutboxItem, SendResult } from "../core/outbox.ts";
import type { Pace, Platform } from "../ports/platform.ts";
import { counting } from "./outbound/counting.ts";
import { type Growing, type GrowingNews, type Request, growing } from "./outbound/growing.ts";
import type { Life } from "./life.ts";
import type { FullStore } from "./power.ts";
import { type Dice, type Time, dice, epoch } from "./time.ts";

export type Habits = {
  /** How many messages it delivers at the same time; with more than one it keeps no order itself. */
  readonly parallel: number;
  readonly keyedSend: boolean;
  /** How likely a message comes again although it was acknowledged. */
  readonly repeats: number;
  /** How likely a send is refused for now, answered without saying what happened, or never answered. */
  readonly refuses: number;
  readonly forgets: number;
  readonly hangs: number;
  /** Answers grow in messages of their own. */
  readonly drafts?: true;
  readonly pace?: Pace;
  /** How likely it asks for a pause, in one chat or in all. */
  readonly tires?: number;
  /** Times since the beginning in which no request is answered; it may arrive all the same. */
  readonly breaks?: readonly { readonly from: number; readonly to: number }[];
  /** How likely all sends of an item stay without an answer, although probes succeed, until so long after the beginning. */
  readonly poison?: { readonly share: number; readonly until: number };
};

export const wellBehaved: Habits = { parallel: 1, keyedSend: true, repeats: 0, refuses: 0, forgets: 0, hangs: 0 };

/** How often one message is delivered again at most. */
const repeatsMax = 3;

export type Seen = {
  readonly chat: string;
  readonly text: string;
  readonly item: string;
  readonly at: number;
  /** Which life of the gateway sent it. */
  readonly life: number;
};

export interface Server {
  readonly name: string;
  readonly habits: Habits;
  /** A user writes. */
  say(inbound: Inbound): void;
  /** What users have seen, in order. */
  readonly seen: readonly Seen[];
  /** Sends whose fate the gateway could not know. */
  doubts: number;
  /** The same for one item. */
  doubtsOf(item: string): number;
  /** Messages the platform may forget. */
  readonly acknowledged: ReadonlySet<string>;
  unacknowledged(): number;
  /** The messages that grew; null where none do. */
  readonly growing: Growing | null;
  connect(life: Life, store: FullStore): Platform;
}

export type ServerNews = GrowingNews & { readonly onSeen: (seen: Seen, item: OutboxItem) => void };

export function server(name: string, habits: Habits, time: Time, chances: Dice, news: ServerNews): Server {
  const waiting: Inbound[] = [];
  const acknowledged = new Set<string>();
  const seen: Seen[] = [];
  const keys = new Set<string>();
  const doubtful = new Map<string, number>();
  const repeated = new Map<string, number>();
  let position = 0;
  /** A frozen life may still listen beside its successor. */
  const listeners = new Set<() => void>();

  function wakeListeners(): void {
    for (const wake of listeners) wake();
  }

  const ledger = counting(habits.pace ?? null, habits.tires ?? 0, time, chances, news.onBreach);
  const grown = habits.drafts === undefined ? null : growing(name, habits.keyedSend, chances, answering, news);

  function show(item: OutboxItem, life: Life): void {
    if (item.edits !== undefined && grown?.finish(item, item.edits) === false) return;
    if (habits.keyedSend && keys.has(item.id)) return;
    keys.add(item.id);
    const one = { chat: item.to.chat, text: item.text, item: item.id, at: time.now(), life: life.number };
    seen.push(one);
    news.onSeen(one, item);
  }

  const self: Server = {
    name,
    habits,
    seen,
    doubts: 0,
    doubtsOf: (item) => doubtful.get(item) ?? 0,
    acknowledged,
    unacknowledged: () => waiting.length,
    growing: grown,
    say(inbound) {
      waiting.push(inbound);
      wakeListeners();
    },
    connect: (life, store) => ({
      name,
      account: "sim",
      can: {
        keyedSend: habits.keyedSend,
        draftEveryMs: 20,
        ...(habits.pace === undefined ? {} : { pace: habits.pace }),
      },
      parts: (text) => text.split("||"),
      async listen({ accept, up }, _from, signal) {
        await life.pass(chances.between(1, 20));
        up();
        const inHand = new Set<Inbound>();
        const deliver = async () => {
          while (!signal.aborted) {
            const next = waiting.find((one) => !inHand.has(one));
            if (next === undefined) {
              await nextMessage(signal);
              continue;
            }
            inHand.add(next);
            await life.pass(chances.between(0, 3));
            await accept(next, String(++position));
            await acknowledge(next, life, store);
            inHand.delete(next);
          }
        };
        await Promise.all(Array.from({ length: habits.parallel }, deliver));
      },
      send: (item, signal) => deliver(item, life, signal),
      async ping() {
        await life.pass(chances.between(1, 20));
        if (isBroken()) throw new Fault("not-possible", "there is no connection");
      },
      draft: (_to: Address, _text: string | null) => undefined,
      ...(grown === null ? {} : { drafts: grown.connect(life), typing: () => undefined }),
    }),
  };

  function isBroken(): boolean {
    const now = time.now() - epoch;
    return (habits.breaks ?? []).some(({ from, to }) => now >= from && now < to);
  }

  function nextMessage(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wake = () => {
        listeners.delete(wake);
        resolve();
      };
      listeners.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  async function acknowledge(inbound: Inbound, life: Life, store: FullStore): Promise<void> {
    await checkStored(inbound, store);
    await life.pass(chances.between(0, 2));
    const place = waiting.indexOf(inbound);
    if (place !== -1) waiting.splice(place, 1);
    acknowledged.add(inbound.key);
    const times = repeated.get(inbound.key) ?? 0;
    if (times < repeatsMax && chances.chance(habits.repeats)) {
      repeated.set(inbound.key, times + 1);
      time.at(time.now() + chances.between(1, 5_000), () => {
        waiting.push(inbound);
        wakeListeners();
      });
    }
  }

  /** At the moment of the acknowledgement the message must be in the store. */
  async function checkStored(inbound: Inbound, store: FullStore): Promise<void> {
    const lines = await store.messagesAfter(inbound.from, 0, 10_000);
    if (!lines.some((line) => line.key === inbound.key))
      news.onBreach(`${inbound.key} was acknowledged before it was stored`);
  }

  function deliver(item: OutboxItem, life: Life, signal: AbortSignal): Promise<SendResult> {
    const done = (): SendResult => {
      show(item, life);
      return { type: "accepted", remoteId: `r-${item.id}` };
    };
    const kind = item.id.startsWith("notice-") ? "uncounted" : "send";
    return answering({ chat: item.to.chat, life, signal, kind, item: item.id }, done);
  }

  /** Decided by the name of the item alone, so that every attempt meets the same. */
  function isPoisoned(item: string): boolean {
    const { share, until } = habits.poison ?? { share: 0, until: 0 };
    return time.now() - epoch < until && dice(numberOf(item)).chance(share);
  }

  function uncertain(item: string | undefined, share: number, done: () => SendResult): void {
    self.doubts++;
    if (item !== undefined) doubtful.set(item, self.doubtsOf(item) + 1);
    if (chances.chance(share)) done();
  }

  async function answering(request: Request, done: () => SendResult): Promise<SendResult> {
    const { chat, life, signal, kind, lagMs = 0, item } = request;
    const pause = kind === "uncounted" ? null : ledger.count(chat, life, kind);
    if (pause !== null) return pause;
    await life.pass(lagMs + chances.between(1, 40));
    if (isBroken()) {
      uncertain(item, 0.3, done);
      return { type: "unknown", why: "the connection was reset" };
    }
    if (item !== undefined && isPoisoned(item)) {
      uncertain(item, 0.2, done);
      return { type: "unknown", why: "something on the way drops it" };
    }
    if (chances.chance(habits.refuses))
      return { type: "retry", afterMs: chances.between(0, 3_000), why: "come back later" };
    if (chances.chance(habits.hangs)) {
      uncertain(item, 0.5, done);
      return new Promise<SendResult>((resolve) => {
        signal.addEventListener("abort", () => resolve({ type: "unknown", why: "hung" }), { once: true });
      });
    }
    if (chances.chance(habits.forgets)) {
      uncertain(item, 0.5, done);
      return { type: "unknown", why: "the line went dead" };
    }
    const result = done();
    await life.pass(chances.between(0, 20));
    return result;
  }

  return self;
}

/** Different for different names (FNV-1a). */
function numberOf(name: string): number {
  return Buffer.from(name).reduce((hash, byte) => Math.imul(hash ^ byte, 0x0100_0193) >>> 0, 0x811c_9dc5);
}
