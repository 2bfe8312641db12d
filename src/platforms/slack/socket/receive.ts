// The way in, for one call of listen: every conversation is a queue, in which what was missed comes first. A message is
// acknowledged after it is stored; one that could not be stored keeps the stored place behind it, and is looked for again.

import { sentenceOf } from "../../../core/fault.ts";
import { later } from "../../../core/ids.ts";
import type { Inlet } from "../../../ports/platform.ts";
import { missedIn, ourConversations } from "./backfill.ts";
import type { Conversation } from "../api.ts";
import { type Place, heard as heardAt, isOurs, moved, threadName, writePlace } from "../cursor.ts";
import type { Desk } from "../desk.ts";
import { fetchFiles } from "../files.ts";
import { type Envelope, type Heard, type Self, heardIn, inMessage, peopleIn, toInbound } from "../inbound.ts";
import { answered } from "../outbound.ts";

/** So much may wait to be stored; the rest is not acknowledged, and looked for again. */
const waitingMax = 1_000;
/** Slack itself tries again after a minute; then we look for what could not be stored. */
const againMs = 90_000;

export type Offered = Envelope & { readonly ack: () => Promise<void> };

export interface Receiver {
  /** Through the socket. Never throws. */
  offer(envelope: Offered): void;
  /**
   * Something may have been missed: from now on messages wait until the past of their conversation was read. Whoever still
   * reads since an earlier gap stops.
   */
  gap(): void;
  /** After a gap, once the socket stands: reads what was missed, everywhere. Ends with the next gap. */
  catchUp(): Promise<void>;
}

/** What is read since one gap. It counts for nothing after the next. */
type Reading = {
  readonly over: AbortController;
  /** When the socket stands, or it is over. What is read before that misses what is said meanwhile. */
  readonly begun: PromiseWithResolvers<void>;
  /** By conversation. */
  readonly pasts: Map<string, Promise<void>>;
};

export function receiver(desk: Desk, self: Self, inlet: Inlet, begun: Place, signal: AbortSignal): Receiver {
  const { api, world } = desk;
  let place = begun;
  let seen = begun.at;
  /** Null when nothing was missed. */
  let reading: Reading | null = null;
  let waiting = 0;
  const titles = new Map<string, string>();
  const queues = new Map<string, Promise<void>>();
  /** Seen and not stored, by key. */
  const open = new Map<string, string>();
  const again = new Set<string>();

  /** The place that is stored with this message: everything up to it is stored then. */
  function placeWith(heard: Heard): string {
    const isMeant = heard.isCalled && heard.isRoot && heard.what.kind === "words";
    const { conversation, thread, ts, key } = heard;
    place = heardAt(place, { conversation, ...(thread === undefined ? {} : { thread, isOurs: isMeant }) });
    if (ts !== undefined && ts > seen) seen = ts;
    const others = [...open].filter(([one]) => one !== key).map(([, moment]) => moment);
    return writePlace(reading === null ? moved(place, seen, others) : place);
  }

  /** Not after the end of `allowed`, however long it took to fetch what belongs to it. */
  async function store(heard: Heard, allowed: AbortSignal): Promise<void> {
    const ours = heard.thread !== undefined && isOurs(place, threadName(heard.conversation, heard.thread));
    const { what } = heard;
    const names = await desk.namesOf(peopleIn(heard), allowed);
    const title = titles.get(heard.conversation);
    const known = { names, ...(title === undefined ? {} : { title }) };
    const none = { files: [], lost: [] };
    // Whoever is allowed by name is heard only with it.
    const isWanted =
      what.kind === "words" &&
      what.files.length > 0 &&
      (await inlet.hears(toInbound(heard, desk.account, self, ours, { ...known, ...none })));
    const fetched = isWanted ? await fetchFiles(what.files, desk, allowed) : none;
    const inbound = toInbound(heard, desk.account, self, ours, { ...known, ...fetched });
    allowed.throwIfAborted();
    const cursor = placeWith(heard);
    const receipt = await inlet.accept(inbound, cursor);
    desk.remember(heard.key);
    settle(heard);
    if (what.kind === "press" && receipt === "accepted") void showChoice(heard);
  }

  /** It is stored, and holds the place no longer. */
  function settle({ key }: Heard): void {
    open.delete(key);
    if (reading === null) place = moved(place, seen, open.values());
  }

  /** Courtesy: whoever looks later sees what was chosen, and no button to press twice. */
  async function showChoice({ conversation, sender, what }: Heard): Promise<void> {
    if (what.kind !== "press") return;
    const content = answered(what.message, what.choice, sender);
    await api
      .update({ channel: conversation, ts: what.message.ts, ...content }, signal)
      .catch((error: unknown) => world.log("debug", "Slack: a question could not be marked as answered", { error }));
  }

  /** Where the socket is gone, Slack sends it again, and its key is known. */
  async function acknowledge({ ack }: Offered): Promise<void> {
    await ack().catch((error: unknown) => world.log("debug", "Slack: a receipt did not leave", { error }));
  }

  async function live(envelope: Offered, heard: Heard): Promise<void> {
    const { conversation, isDirect } = heard;
    await caughtUp(conversation, isDirect);
    // What could not be stored there comes first.
    if (again.has(conversation)) await readPast(conversation, isDirect, signal);
    if (signal.aborted) return;
    if (heard.isEcho && desk.isKnown(heard.key)) settle(heard);
    else await store(heard, signal);
    if (signal.aborted) return;
    await acknowledge(envelope);
  }

  /** However many gaps there are meanwhile. */
  async function caughtUp(id: string, isDirect: boolean): Promise<void> {
    while (reading !== null && !signal.aborted) {
      const current: Reading = reading;
      await current.begun.promise;
      await readSince(current, id, isDirect);
      if (!current.over.signal.aborted) return;
    }
  }

  /** Each past once. Whether that counts is seen by whether it is over. */
  async function readSince({ over, pasts }: Reading, id: string, isDirect: boolean): Promise<void> {
    if (over.signal.aborted) return;
    const past = pasts.get(id) ?? readPast(id, isDirect, AbortSignal.any([signal, over.signal]));
    pasts.set(id, past);
    try {
      await past;
    } catch (error) {
      if (!over.signal.aborted) throw error;
    }
  }

  async function readPast(id: string, isDirect: boolean, allowed: AbortSignal): Promise<void> {
    for (const message of await missedIn({ api, world, signal: allowed }, id, place)) {
      const heard = inMessage(message, { conversation: id, isDirect }, self);
      allowed.throwIfAborted();
      if (heard !== null && !desk.isKnown(heard.key)) await store(heard, allowed);
    }
  }

  /** Once more, when it may succeed: what is open there keeps the place. */
  async function lookAgain(id: string, isDirect: boolean): Promise<void> {
    if (again.has(id)) return;
    again.add(id);
    await world.sleep(later(world.now(), againMs), signal);
    again.delete(id);
    const owed = [...open.keys()].filter((key) => key.startsWith(`${id}:`));
    if (signal.aborted || owed.length === 0) return;
    const read = async (): Promise<void> => {
      await readPast(id, isDirect, signal);
      // What is in nobody's past any more was taken back by whoever wrote it.
      for (const key of owed) open.delete(key);
    };
    await queue(id, read, isDirect);
  }

  function queue(id: string, work: () => Promise<void>, isDirect: boolean): Promise<void> {
    const before = queues.get(id) ?? Promise.resolve();
    const done = before.then(work).catch((error: unknown) => {
      if (signal.aborted) return;
      world.log("warn", `Slack: a message was not stored and is taken up later: ${sentenceOf(error)}`);
      void lookAgain(id, isDirect);
    });
    queues.set(id, done);
    return done.finally(() => {
      if (queues.get(id) === done) queues.delete(id);
    });
  }

  return {
    offer(envelope) {
      if (signal.aborted) return;
      const heard = heardIn(envelope, self, world.now());
      if (heard === null) return void acknowledge(envelope);
      if (heard.ts !== undefined) open.set(heard.key, heard.ts);
      if (waiting >= waitingMax) return void lookAgain(heard.conversation, heard.isDirect);
      waiting += 1;
      void queue(heard.conversation, () => live(envelope, heard), heard.isDirect).finally(() => (waiting -= 1));
    },
    gap() {
      reading?.over.abort();
      reading?.begun.resolve();
      reading = { over: new AbortController(), begun: Promise.withResolvers(), pasts: new Map() };
    },
    async catchUp() {
      const current = reading;
      if (current === null) return;
      current.begun.resolve();
      const allowed = AbortSignal.any([signal, current.over.signal]);
      const all: readonly Conversation[] = await ourConversations({ api, world, signal: allowed }, place);
      for (const { id, name } of all) if (name !== undefined) titles.set(id, name);
      for (const { id, is_im: isDirect = id.startsWith("D") } of all) {
        if (allowed.aborted) return;
        await readSince(current, id, isDirect);
      }
      if (allowed.aborted) return;
      reading = null;
      place = moved(place, seen, open.values());
      await inlet.moved(writePlace(place));
    },
  };
}
