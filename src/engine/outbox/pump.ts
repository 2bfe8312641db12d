// From the outbox to the platforms: in order within a session, side by side across sessions. What is about to be sent is
// stored as such before the request leaves; only the platform's answer moves it on. Waiting for a retry is not work.

import { sentenceOf } from "../../core/fault.ts";
import { Bug, type Instant, type SessionId, later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import type { Address } from "../../core/message.ts";
import { type OutboxItem, type SendResult, advanceItem, decideInDoubt, retryPauseMs } from "../../core/outbox.ts";
import { childOf, over } from "../abort.ts";
import { type Parts, platformOf, settingsOf } from "../parts.ts";
import { type Gate, type Seat, gate } from "./pace.ts";
import { type Previews, previews } from "./previews.ts";

/** The outbox of one session, kept for whoever writes to it. */
export type Slot = {
  /** Nothing else is being sent: the first new item may be stored as already taken. */
  readonly free: boolean;
  /** To be called once, after the commit: with the taken item, or null when there is none; `more` when others follow it. */
  send(item: OutboxItem | null, more: boolean): void;
};

export interface Outlet {
  /** `edits`: the message that the first item finishes. */
  reserve(session: SessionId, to: Address, edits?: string | null): Slot;
  /** Items of this session wait in the store, or one of them is due earlier than it was. */
  poke(session: SessionId): void;
  readonly previews: Previews;
}

export interface Pump extends Outlet {
  open(waiting: readonly SessionId[]): void;
  /** Whether the connection of this platform stands now. */
  readonly stands: Gate["stands"];
  /** No further send; resolves when those under way are answered. */
  close(): Promise<void>;
}

/** A session's outbox at work. `more`: items may wait in the store. `nap`: the sleep until a retry is due. */
type Line = { more: boolean; nap: AbortController | null };

/** An item stored as being sent, with the seat it is sent from. */
type Taken = { readonly item: OutboxItem; readonly seat: Seat };

export function pump(parts: Parts): Pump {
  const { store, world, ledger, boot, events } = parts;
  const lines = new Map<SessionId, Line>();
  const sends = new Set<Promise<unknown>>();
  const closing = new AbortController();
  const all = gate(parts, closing.signal);
  const growing = previews(parts, all, () => isOpen);
  let isOpen = false;

  function tell(item: OutboxItem): void {
    const { id, session, now } = item;
    const why = "why" in now && now.why !== undefined ? { why: now.why } : {};
    events.emit({ type: "item", item: id, session, state: now.state, ...why });
  }

  async function work(session: SessionId, line: Line, first: Taken | null): Promise<void> {
    let taken = first;
    for (;;) {
      if (taken !== null) await underWay(sendAndSettle(taken));
      taken = null;
      if (!line.more || !isOpen) break;
      line.more = false;
      const next = await store.nextItem(session);
      if (next === null) continue;
      line.more = true;
      taken = await take(next, line);
    }
    lines.delete(session);
  }

  /** Waits until the item may go, then stores that it is being sent; null when it must be looked up again. */
  async function take(item: OutboxItem, line: Line): Promise<Taken | null> {
    if (item.now.state !== "pending") throw new Bug(`item ${item.id} is ${item.now.state}, not pending`);
    if (item.now.dueAt > world.now()) {
      await rest(line, item.now.dueAt);
      return null;
    }
    // What is still being written into the message would overwrite its end.
    if (item.edits !== undefined) await growing.busy(item.to, item.edits);
    const seat = await all.wait(item.to, item.edits !== undefined);
    if (seat === null) return null;
    const sending = advanceItem(item, { type: "taken", boot });
    const result = isOpen ? await ledger.keep([{ put: "item", item: sending }]) : "conflict";
    if (result === "committed") return { item: sending, seat };
    seat.leave();
    await rest(line, later(world.now(), limits.storeRetryMinMs));
    return null;
  }

  async function rest(line: Line, until: Instant): Promise<void> {
    line.nap = childOf(closing.signal);
    await world.sleep(until, line.nap.signal);
    line.nap.abort(over);
    line.nap = null;
  }

  async function sendAndSettle({ item, seat }: Taken): Promise<void> {
    try {
      seat.begin();
      const result = await send(item);
      seat.answered(result);
      await settle(item, result);
    } finally {
      seat.leave();
    }
  }

  /** A stop waits for the answer and for its commit: an answer that is not stored would be asked for again. */
  async function underWay(work: Promise<void>): Promise<void> {
    sends.add(work);
    try {
      await work;
    } finally {
      sends.delete(work);
    }
  }

  async function send(item: OutboxItem): Promise<SendResult> {
    const platform = platformOf(parts, item.to);
    if (platform === null) {
      const why = `${item.to.platform} is not among the configured platforms`;
      return { type: "retry", afterMs: limits.retryMaxMs, why };
    }
    const own = childOf(parts.closing);
    const silence = world
      .sleep(later(world.now(), limits.sendMs), own.signal)
      .then((): SendResult => ({ type: "unknown", why: "the platform did not answer" }));
    try {
      return await Promise.race([platform.send(item, own.signal), silence]);
    } catch (error) {
      world.log("error", `${item.to.platform} broke while sending`, { item: item.id, why: sentenceOf(error) });
      return { type: "unknown", why: sentenceOf(error) };
    } finally {
      own.abort(over);
    }
  }

  async function settle(item: OutboxItem, result: SendResult): Promise<void> {
    const at = world.now();
    let answered = advanceItem(item, { type: "answered", result, at, chance: world.chance() });
    if (answered.now.state === "in-doubt") {
      const { attempts, doubts = 0 } = answered.now;
      const can = platformOf(parts, item.to)?.can ?? { keyedSend: false };
      if (decideInDoubt(item, can, settingsOf(parts, item.to.platform).inDoubt, doubts) === "resend") {
        const dueAt = later(at, retryPauseMs(attempts, world.chance()));
        answered = { ...advanceItem(answered, { type: "resent", at: dueAt }), version: item.version + 1 };
      }
    }
    if ((await ledger.keep([{ put: "item", item: answered }])) !== "committed") return;
    tell(answered);
    const line = lines.get(item.session);
    if (answered.now.state === "pending" && line !== undefined) line.more = true;
  }

  function start(session: SessionId, line: Line, first: Taken | null): void {
    work(session, line, first).catch(parts.broken);
  }

  function poke(session: SessionId): void {
    const line = lines.get(session);
    if (line !== undefined) {
      line.more = true;
      line.nap?.abort(over);
    } else if (isOpen) {
      const made: Line = { more: true, nap: null };
      lines.set(session, made);
      start(session, made, null);
    }
  }

  return {
    previews: growing,
    reserve(session, to, edits = null) {
      const isBusy = lines.has(session) || (edits !== null && growing.busy(to, edits) !== null);
      const seat = isBusy || !isOpen ? null : all.take(to, edits !== null);
      if (seat === null) return { free: false, send: () => poke(session) };
      const line: Line = { more: false, nap: null };
      lines.set(session, line);
      return {
        free: true,
        send(item, more) {
          line.more ||= more;
          if (item === null) seat.leave();
          start(session, line, item === null ? null : { item, seat });
        },
      };
    },
    poke,
    stands: all.stands,
    open(waiting) {
      isOpen = true;
      for (const session of waiting) poke(session);
    },
    async close() {
      isOpen = false;
      closing.abort(over);
      await Promise.allSettled([...sends, growing.settled()]);
    },
  };
}
