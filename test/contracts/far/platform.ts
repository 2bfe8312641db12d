// A platform for the far side in memory, sound unless a fault is planted in it; and its driver.

import { Fault } from "../../../src/core/fault.ts";
import type { Instant } from "../../../src/core/ids.ts";
import type { Address, Inbound } from "../../../src/core/message.ts";
import type { SendResult } from "../../../src/core/outbox.ts";
import { toParts } from "../../../src/core/parts.ts";
import type { Inlet, Platform } from "../../../src/ports/platform.ts";
import type { OpenedPlatform } from "../../../src/testing/index.ts";
import { FarSide, type Offer, Refusal } from "./side.ts";

const home: Address = { platform: "far", account: "we", chat: "c1" };
const textMax = 300;

/** Mistakes that a platform may make; the suite must find each. */
export const faults = [
  "acks before it is stored",
  "stores several at once",
  "cursor from the end",
  "new key when it comes again",
  "forgets the thread",
  "keeps the mention",
  "hears itself",
  "an edit replaces nothing",
  "a press without its words",
  "doubt is retried",
  "rate without its pause",
  "a repeat is a new message",
  "finish sends anew",
  "gone draft is lost",
  "denied is tried again",
  "parts too large",
  "parts lose a letter",
  "throws",
] as const;
export type Planted = (typeof faults)[number] | null;

export function farPlatform(side: FarSide, planted: Planted): Platform {
  const is = (fault: Planted): boolean => planted === fault;
  let repeats = 0;

  function inboundOf({ update }: Offer): Inbound {
    const { id, text, thread, called, replaces, press } = update;
    const mention = called === true && is("keeps the mention") ? "@us " : "";
    const answer = press && {
      kind: "answer" as const,
      ...press,
      ...(is("a press without its words") && { choice: "1" }),
    };
    return {
      key: is("new key when it comes again") ? `${id}:${repeats++}` : `${id}`,
      from: thread === undefined || is("forgets the thread") ? home : { ...home, thread },
      sender: "u1",
      body: answer ?? { kind: "text", text: mention + text, files: [] },
      sentAt: 1 as Instant,
      ...(called === undefined ? {} : { group: { called } }),
      ...(replaces === undefined || is("an edit replaces nothing") ? {} : { replaces: `${replaces}` }),
    };
  }

  async function take(offer: Offer, inlet: Inlet, signal: AbortSignal): Promise<void> {
    if (is("acks before it is stored")) side.ack(offer.place);
    const cursor = `${is("cursor from the end") ? side.offers.length : offer.place}`;
    if (offer.update.isSelf && !is("hears itself")) await inlet.moved(cursor);
    else await Promise.race([inlet.accept(inboundOf(offer), cursor), aborted(signal)]);
    if (!signal.aborted) side.ack(offer.place);
  }

  async function listen(inlet: Inlet, from: string | null, signal: AbortSignal): Promise<void> {
    let place = Number(from ?? 0);
    if (side.isDenied && !is("denied is tried again")) throw new Fault("denied", "The token is not known.");
    let wake = Promise.withResolvers<void>();
    const leave = new AbortController();
    side.listener = { wake: () => wake.resolve(), leave: () => leave.abort() };
    const ends = AbortSignal.any([signal, leave.signal]);
    ends.addEventListener("abort", () => wake.resolve());
    try {
      if (side.isDown || side.isDenied) throw new Error("nobody is there");
      if (!signal.aborted) inlet.up();
      while (!ends.aborted) {
        wake = Promise.withResolvers();
        const news = side.offers.slice(place);
        if (news.length === 0) await Promise.race([wake.promise, aborted(ends)]);
        if (is("stores several at once")) await Promise.all(news.map((offer) => take(offer, inlet, signal)));
        else for (const offer of news) if (!ends.aborted) await take(offer, inlet, signal);
        place += news.length;
      }
    } finally {
      side.left();
    }
    if (!signal.aborted) throw new Error("the connection broke");
  }

  async function answer(signal: AbortSignal, effect: () => number): Promise<SendResult> {
    if (signal.aborted) return { type: "retry", afterMs: 0, why: "its time is over" };
    try {
      return { type: "accepted", remoteId: `${await side.request(effect)}` };
    } catch (error) {
      if (!(error instanceof Refusal) || is("throws")) throw error;
      const why = error.message;
      if (error.kind === "rate") return { type: "retry", afterMs: is("rate without its pause") ? 0 : 2_000, why };
      if (["denied", "down"].includes(error.kind) || is("doubt is retried")) return { type: "retry", afterMs: 1, why };
      return error.kind === "gone" ? { type: "refused", why } : { type: "unknown", why };
    }
  }

  function edit(id: string, text: string): number {
    const one = side.shown.find((shown) => shown.id === Number(id));
    if (one === undefined) throw new Refusal("gone");
    one.text = text;
    return one.id;
  }

  const keyed = planted !== "doubt is retried";
  return {
    name: "far",
    account: "we",
    can: { keyedSend: keyed, draftEveryMs: 100 },
    parts(text) {
      const parts = toParts(text, is("parts too large") ? textMax + 1 : textMax);
      return is("parts lose a letter") && parts.length > 3 ? parts.map((part) => part.slice(0, -1)) : parts;
    },
    listen,
    async send({ id, to, text, question, edits }, signal) {
      const show = (): number =>
        side.show(is("a repeat is a new message") || !keyed ? null : id, to.thread, text, question);
      if (edits === undefined || is("finish sends anew")) return answer(signal, show);
      const result = await answer(signal, () => edit(edits, text));
      return result.type === "refused" && !is("gone draft is lost") ? answer(signal, show) : result;
    },
    draft: () => undefined,
    drafts: {
      place: (to, _, signal) => answer(signal, () => side.show(null, to.thread, "…")),
      fill: (_, id, text, signal) => answer(signal, () => edit(id, text)),
      remove: (_, id, signal) =>
        answer(signal, () => {
          side.shown = side.shown.filter((one) => one.id !== Number(id));
          return Number(id);
        }),
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

export function openFar(planted: Planted): OpenedPlatform {
  const side = new FarSide();
  const platform = farPlatform(side, planted);
  const write = (text: string, more = {}) => side.write({ text, ...more });
  const seenIn = async (thread?: string) => side.shown.filter((one) => one.thread === thread).map(({ text }) => text);
  return {
    platform,
    home,
    say: write,
    redeliver() {
      const last = side.offers.at(-1);
      if (last === undefined) throw new Error("nothing was said");
      return last.place > side.acked ? side.receiptOf(last.place, true) : side.offer(last.update);
    },
    stored: async () => undefined,
    seen: () => seenIn(),
    close: async () => undefined,
    limit: { max: textMax, measure: (part) => part.length },
    reopen: async () => farPlatform(side, planted),
    hasBacklog: true,
    sayIn: (thread, text) => write(text, { thread }),
    seenIn,
    sayInGroup: (text, called) => write(text, { called }),
    sayAsSelf: (text) => write(text, { isSelf: true }),
    edit: (text) =>
      write(text, { replaces: side.offers.find(({ update }) => update.replaces === undefined)?.update.id }),
    press(choice) {
      const question = side.shown.at(-1)?.question;
      if (question === undefined || !question.choices.includes(choice)) throw new Error("there is no such button");
      return write("", { press: { question: question.id, choice } });
    },
    failNext(kind) {
      if (kind === "denied") side.isDenied = true;
      else side.fail = kind;
    },
    async goDown() {
      side.isDown = true;
      side.listener?.leave();
      while (side.listener !== null) await new Promise((resolve) => setImmediate(resolve));
    },
    comeBack: async () => void (side.isDown = false),
  };
}
