// From the outbox to the platforms: in order at a place, side by side across places. Sessions that follow one another at a
// place share its line: what was written first goes first, whichever of them wrote it. What is about to be sent is stored as such before
// the request leaves; only the platform's answer moves it on. Waiting for a retry is not work.

import { Fault, sentenceOf } from "../../core/fault.ts";
import { isHeldNotice } from "../../core/held.ts";
import { Bug, type Instant, type SessionId, later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import type { Address } from "../../core/message.ts";
import { type OutboxItem, type SendResult, advanceItem, afterSend, isTooOld, pauseOf } from "../../core/outbox.ts";
import { type Session, sessionKey } from "../../core/session.ts";
import { childOf, over } from "../abort.ts";
import { type Parts, platformOf, settingsOf } from "../parts.ts";
import { holdReply, unreadNotices } from "./held.ts";
import { type Gate, type Seat, gate } from "./pace.ts";
import { type Previews, previews } from "./previews.ts";
import { reach } from "./reach.ts";

/** The outbox of one place, kept for whoever writes to it. */
export type Slot = {
  /** Nothing else is being sent: the first new item may be stored as already taken. */
  readonly free: boolean;
  /** To be called once, after the commit: with the taken item, or null when there is none; `more` when others follow it. */
  send(item: OutboxItem | null, more: boolean): void;
};

export interface Outlet {
  /** `edits`: the message that the first item finishes. */
  reserve(session: SessionId, to: Address, edits?: string | null): Slot;
  /** Items of this session wait in the store, or one of them is due earlier than it was. `to`: its place. */
  poke(session: SessionId, to: Address): void;
  readonly previews: Previews;
}

export interface Pump extends Outlet {
  /** `waiting`: the sessions with something to send, the longest waiting first. */
  open(waiting: readonly Pick<Session, "id" | "address">[]): void;
  /** Whether the connection of this platform stands now. */
  readonly stands: Gate["stands"];
  /** No further send; resolves when those under way are answered. */
  close(): Promise<void>;
}

/** The outbox of a place that somebody works on or is about to write to. */
type Line = {
  /** Whose items may wait in the store. */
  readonly sessions: Set<SessionId>;
  /** Reserved by so many whose commits are on their way: nobody passes them meanwhile. */
  reserved: number;
  /** Something is being sent or looked for, or will be as soon as it is stored. */
  isWorking: boolean;
  /** The sleep until a retry is due. */
  nap: AbortController | null;
};

/** An item stored, or about to be stored, as being sent, with the seat it is sent from. */
type Taken = { readonly item: OutboxItem; readonly seat: Seat };

export function pump(parts: Parts): Pump {
  const { store, world, ledger, boot, events } = parts;
  const lines = new Map<string, Line>();
  const sends = new Set<Promise<unknown>>();
  const closing = new AbortController();
  const all = gate(parts, closing.signal);
  const unread = unreadNotices(parts);
  const reached = reach(parts, all, closing.signal);
  const waits = (to: Address) => lines.has(sessionKey(to));
  const growing = previews(parts, all, { isOpen: () => isOpen, waits });
  let isOpen = false;

  function tell(item: OutboxItem): void {
    const { id, session, now } = item;
    const why = "why" in now && now.why !== undefined ? { why: now.why } : {};
    events.emit({ type: "item", item: id, session, state: now.state, ...why });
  }

  async function work(place: string, line: Line, first: Taken | null): Promise<void> {
    if (first !== null) await underWay(sendAndSettle(first, line));
    while (line.sessions.size > 0 && isOpen) {
      const asked = [...line.sessions];
      line.sessions.clear();
      // The oldest of all keeps its turn until it has arrived, also through its retries.
      const next = await store.nextItem(asked);
      if (next === null) continue;
      for (const session of asked) line.sessions.add(session);
      await sendNext(next, line);
    }
    line.isWorking = false;
    restIfDone(place, line);
  }

  function restIfDone(place: string, line: Line): void {
    if (!line.isWorking && line.reserved === 0) lines.delete(place);
  }

  /** Waits until the item may go, and sends it; does nothing when it must be looked up again. */
  async function sendNext(item: OutboxItem, line: Line): Promise<void> {
    if (item.now.state !== "pending") throw new Bug(`item ${item.id} is ${item.now.state}, not pending`);
    const pause = pauseOf(item.now, world.now());
    // A new item of another conversation may be older, and ends the pause early.
    if (pause > 0 && !(await rest(line, later(world.now(), pause)))) return;
    // What is still being written into the message would overwrite its end.
    if (item.edits !== undefined) await growing.busy(item.to, item.edits);
    const seat = await all.wait(item.to, item.edits !== undefined);
    if (seat === null) return;
    if ((await heldByAge(item)) || !isOpen) return seat.leave();
    const isTaken = await underWay(takeAndSend({ item: advanceItem(item, { type: "taken", boot }), seat }, line));
    if (!isTaken) await rest(line, later(world.now(), limits.storeRetryMinMs));
  }

  /** Stores that the item is being sent, then sends it. A stop in between waits for both, or it would be sent twice. */
  async function takeAndSend(taken: Taken, line: Line): Promise<boolean> {
    if ((await ledger.keep([{ put: "item", item: taken.item }])) !== "committed") {
      taken.seat.leave();
      return false;
    }
    await sendAndSettle(taken, line);
    return true;
  }

  /** What may have arrived is not repeated after days without a word; what surely did not is sent. */
  async function heldByAge(item: OutboxItem): Promise<boolean> {
    if (item.now.state !== "pending" || (item.now.doubts ?? 0) + (item.now.cuts ?? 0) === 0) return false;
    const at = world.now();
    if (!isTooOld(item, item.now, at)) return false;
    const why = `it could not be sent for too long: ${item.now.why ?? "the platform did not answer"}`;
    await stored(advanceItem(item, { type: "held", why, at }));
    return true;
  }

  /** True when it lasted its time, and not only until somebody ended it. */
  async function rest(line: Line, until: Instant): Promise<boolean> {
    const nap = childOf(closing.signal);
    line.nap = nap;
    await world.sleep(until, nap.signal);
    const isOver = !nap.signal.aborted;
    nap.abort(over);
    line.nap = null;
    return isOver;
  }

  async function sendAndSettle({ item, seat }: Taken, line: Line): Promise<void> {
    try {
      seat.begin();
      const sent = await send(item);
      seat.answered(sent.result);
      await settle(sent.item, sent.result, line);
    } finally {
      seat.leave();
    }
  }

  /** A stop waits for the answer and for its commit: an answer that is not stored would be asked for again. */
  async function underWay<T>(work: Promise<T>): Promise<T> {
    sends.add(work);
    try {
      return await work;
    } finally {
      sends.delete(work);
    }
  }

  /** The item as it is stored by then: visible messages that were confirmed meanwhile are noted in it. */
  async function send(item: OutboxItem): Promise<{ readonly item: OutboxItem; readonly result: SendResult }> {
    let latest = item;
    const platform = platformOf(parts, item.to);
    if (platform === null) {
      const why = `${item.to.platform} is not among the configured platforms`;
      return { item, result: { type: "retry", afterMs: limits.retryMaxMs, why } };
    }
    let receipt: Promise<void> = Promise.resolve();
    const storeReceipt = async (remoteId: string): Promise<void> => {
      own.signal.throwIfAborted();
      const confirmed = advanceItem(latest, { type: "confirmed", remoteId });
      if ((await ledger.keep([{ put: "item", item: confirmed }])) !== "committed")
        throw new Fault("not-possible", "A receipt could not be stored, so nothing more is sent.");
      latest = confirmed;
    };
    const confirm = (remoteId: string): Promise<void> => (receipt = storeReceipt(remoteId));
    const own = childOf(parts.closing);
    const silence = world
      .sleep(later(world.now(), limits.sendMs), own.signal)
      .then((): SendResult => ({ type: "unknown", why: "the platform did not answer" }));
    try {
      const result = await Promise.race([platform.send(item, own.signal, confirm), silence]);
      own.abort(over);
      // A receipt on its way to the disk is part of the item; what follows is written on top of it.
      await Promise.allSettled([receipt]);
      return { item: latest, result };
    } catch (error) {
      world.log("error", `${item.to.platform} broke while sending`, { item: item.id, why: sentenceOf(error) });
      return { item: latest, result: { type: "unknown", why: sentenceOf(error) } };
    } finally {
      own.abort(over);
    }
  }

  async function settle(item: OutboxItem, result: SendResult, line: Line): Promise<void> {
    const can = platformOf(parts, item.to)?.can ?? { keyedSend: false };
    const isUncertain = result.type === "unknown" || (result.type === "retry" && result.unreachable === true);
    const probe = isUncertain ? await reached.probe(item.to) : null;
    const told = { type: "answered", result, at: world.now(), chance: world.chance() } as const;
    const event = probe === null ? told : { ...told, probe };
    const answered = afterSend(item, event, can, settingsOf(parts, item.to.platform).inDoubt);
    if (!(await stored(answered))) return;
    if (answered.now.state === "pending" || answered.now.state === "in-doubt") line.sessions.add(item.session);
    if (answered.now.state === "delivered" && unread.isAt(item.to)) await repeatNotice(item.to, line);
  }

  async function repeatNotice(to: Address, line: Line): Promise<void> {
    const notice = await unread.take(to, world.now());
    if (notice === null || (await ledger.keep([{ put: "item", item: notice }])) !== "committed") return;
    line.sessions.add(notice.session);
  }

  /** With what is held beside it, where it is held. */
  async function stored(item: OutboxItem): Promise<boolean> {
    for (;;) {
      const held = item.now.state === "in-doubt" ? await holdReply(parts, item, world.now()) : [];
      const result = await ledger.keep([{ put: "item", item }, ...held]);
      if (result === "committed") break;
      // Another part of the reply may have been moved meanwhile; then it is looked at again.
      const isOwn = (await store.item(item.id))?.version === item.version - 1;
      if (result !== "conflict" || held.length === 0 || !isOwn) return false;
    }
    if (item.now.state === "in-doubt" && isHeldNotice(item)) unread.add(item.to);
    tell(item);
    return true;
  }

  function lineAt(place: string): Line {
    const found = lines.get(place);
    if (found !== undefined) return found;
    const made: Line = { sessions: new Set(), reserved: 0, isWorking: false, nap: null };
    lines.set(place, made);
    return made;
  }

  function start(place: string, line: Line, first: Taken | null): void {
    line.isWorking = true;
    work(place, line, first).catch(parts.broken);
  }

  function poke(session: SessionId, to: Address): void {
    if (!isOpen) return;
    const place = sessionKey(to);
    const line = lineAt(place);
    line.sessions.add(session);
    if (line.isWorking) line.nap?.abort(over);
    else start(place, line, null);
  }

  return {
    previews: growing,
    reserve(session, to, edits = null) {
      const place = sessionKey(to);
      const isBusy = lines.has(place) || (edits !== null && growing.busy(to, edits) !== null);
      const seat = isBusy || !isOpen ? null : all.take(to, edits !== null);
      const line = lineAt(place);
      line.reserved++;
      line.isWorking ||= seat !== null;
      // What is being stored as taken is sent, so a stop waits for it as well.
      const storing = Promise.withResolvers<void>();
      if (seat !== null) void underWay(storing.promise);
      return {
        free: seat !== null,
        send(item, more) {
          line.reserved--;
          if (seat === null) poke(session, to);
          else {
            if (more) line.sessions.add(session);
            if (item === null) seat.leave();
            start(place, line, item === null ? null : { item, seat });
          }
          storing.resolve();
          restIfDone(place, line);
        },
      };
    },
    poke,
    stands(platform, isUp) {
      all.stands(platform, isUp);
      if (isUp) reached.alive(platform);
    },
    open(waiting) {
      isOpen = true;
      unread.load().catch(parts.broken);
      for (const { id, address } of waiting) poke(id, address);
    },
    async close() {
      isOpen = false;
      closing.abort(over);
      while (sends.size > 0) await Promise.allSettled(sends);
      await growing.settled();
    },
  };
}
