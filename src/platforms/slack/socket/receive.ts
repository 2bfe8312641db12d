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
  /** Something may have been missed: from now on messages wait until the past of their conversation was read. */
  gap(): void;
  /** After a gap, once the socket stands: reads what was missed, everywhere. */
  catchUp(): Promise<void>;
}

export function receiver(desk: Desk, self: Self, inlet: Inlet, begun: Place, signal: AbortSignal): Receiver {
  const { api, world } = desk;
  let place = begun;
  let seen = begun.at;
  let isCaughtUp = true;
  let caught = new Map<string, Promise<void>>();
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
    return writePlace(isCaughtUp ? moved(place, seen, others) : place);
  }

  async function store(heard: Heard): Promise<void> {
    const ours = heard.thread !== undefined && isOurs(place, threadName(heard.conversation, heard.thread));
    const { what } = heard;
    const none = { files: [], lost: [] };
    const isWanted =
      what.kind === "words" &&
      what.files.length > 0 &&
      (await inlet.hears(toInbound(heard, desk.account, self, ours, { ...none, names: new Map() })));
    const fetched = isWanted ? await fetchFiles(what.files, desk, signal) : none;
    const names = await desk.namesOf(peopleIn(heard), signal);
    const title = titles.get(heard.conversation);
    const more = { ...fetched, names, ...(title === undefined ? {} : { title }) };
    const inbound = toInbound(heard, desk.account, self, ours, more);
    const cursor = placeWith(heard);
    if (signal.aborted) throw new Error("listening has ended");
    const receipt = await inlet.accept(inbound, cursor);
    open.delete(heard.key);
    desk.remember(heard.key);
    if (isCaughtUp) place = moved(place, seen, open.values());
    if (what.kind === "press" && receipt === "accepted") void showChoice(heard);
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
    await caughtUp(heard.conversation, heard.isDirect);
    if (signal.aborted) return;
    if (!heard.isEcho || !desk.isKnown(heard.key)) await store(heard);
    if (signal.aborted) return;
    await acknowledge(envelope);
  }

  function caughtUp(id: string, isDirect: boolean): Promise<void> {
    if (isCaughtUp) return Promise.resolve();
    const known = caught.get(id);
    if (known !== undefined) return known;
    const work = readPast(id, isDirect);
    caught.set(id, work);
    return work;
  }

  async function readPast(id: string, isDirect: boolean): Promise<void> {
    for (const message of await missedIn({ api, world, signal }, id, place)) {
      const heard = inMessage(message, { conversation: id, isDirect }, self);
      if (heard === null || desk.isKnown(heard.key) || signal.aborted) continue;
      await store(heard);
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
      await readPast(id, isDirect);
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
      isCaughtUp = false;
      caught = new Map();
    },
    async catchUp() {
      const all: readonly Conversation[] = await ourConversations({ api, world, signal }, place);
      for (const { id, name } of all) if (name !== undefined) titles.set(id, name);
      for (const { id, is_im: isDirect = id.startsWith("D") } of all) {
        if (signal.aborted) return;
        await caughtUp(id, isDirect);
      }
      if (isCaughtUp) return;
      isCaughtUp = true;
      place = moved(place, seen, open.values());
      await inlet.moved(writePlace(place));
    },
  };
}
