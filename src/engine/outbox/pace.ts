// Lets requests through to one platform account: no more at a time than there are seats, no faster than the account may
// send. A seat is taken before an item is stored as being sent, so that "being sent" never means "waiting for its turn".
// Who waits is let through in order; one whose chat must rest holds up nobody else. Previews never wait here.

import { type Instant, later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import { type Learning, nothingLearned, study } from "../../core/learned-pace.ts";
import type { Address } from "../../core/message.ts";
import type { SendResult } from "../../core/outbox.ts";
import {
  type PaceRequest,
  type PaceVerdict,
  type Sent,
  answeredAt,
  decidePace,
  exhausted,
  isForgotten,
  leftNow,
  letThrough,
  notYet,
  nothingSent,
  rested,
} from "../../core/pace.ts";
import type { Pace, Platform } from "../../ports/platform.ts";
import { over } from "../abort.ts";
import { type Parts, platformOf } from "../parts.ts";

/** One request may leave. */
export interface Seat {
  /** It leaves now. */
  begin(): void;
  /** What the platform said: its time counts from here, and it may have asked for a pause. */
  answered(result: SendResult): void;
  /** Gives the seat back; to be called once, also when nothing left. */
  leave(): void;
}

export interface Gate {
  /** Null when it cannot go at once. */
  take(to: Address, isEdit: boolean): Seat | null;
  /** Resolves when it may go; null when everything closes. */
  wait(to: Address, isEdit: boolean): Promise<Seat | null>;
  /** Null when a preview may not leave now; it needs no seat, only room. */
  preview(to: Address): Pick<Seat, "answered"> | null;
  /** The platform wants to hear nothing at all. */
  rests(to: Address): boolean;
  /** Whether the connection of this account stands now. Where sends need it, they wait for it: it is no attempt. */
  stands(platform: Pick<Platform, "name" | "account">, isUp: boolean): void;
  /** Whether the far side can be reached, as probes say; until then every send waits. */
  reaches(platform: Pick<Platform, "name" | "account">, isReached: boolean): void;
}

type Waiting = { readonly to: Address; readonly isEdit: boolean; readonly resolve: (seat: Seat | null) => void };

type Room = {
  readonly rule: Pace | null;
  /** There is no connection to send over. */
  isDown: boolean;
  /** Probes fail. */
  isBroken: boolean;
  free: number;
  account: Sent;
  edits: Sent;
  learning: Learning;
  /** Until then previews leave the account alone. */
  quietUntil: Instant;
  readonly chats: Map<string, Sent>;
  readonly waiting: Waiting[];
  /** Somebody waits, and nobody may go before them. */
  isFull: boolean;
  nap: AbortController | null;
};

/** Chats that rest are looked through when there are this many more of them than before. */
const forgetEvery = 1_000;

export function gate(parts: Parts, closing: AbortSignal): Gate {
  const { world } = parts;
  const rooms = new Map<string, Room>();
  // A clock that is set back must not make a chat wait until it has caught up.
  const time = (): Instant => world.monotonic() as Instant;

  function roomOf(to: Pick<Address, "platform" | "account">): Room {
    const key = JSON.stringify([to.platform, to.account]);
    const found = rooms.get(key);
    if (found !== undefined) return found;
    const can = platformOf(parts, to)?.can;
    const rule = can?.pace ?? null;
    const quietUntil = 0 as Instant;
    const fresh = {
      account: nothingSent,
      edits: nothingSent,
      learning: nothingLearned,
      quietUntil,
      chats: new Map(),
      waiting: [],
      isFull: false,
      nap: null,
    };
    const isDown = can?.sendsByLink === true;
    const made: Room = { rule, isDown, isBroken: false, free: rule?.atOnce ?? limits.sendsMax, ...fresh };
    rooms.set(key, made);
    return made;
  }

  function decide(room: Room, to: Address, kind: PaceRequest["kind"], isEdit: boolean, at: Instant): PaceVerdict {
    const isGroup = room.rule?.isGroup?.(to) ?? false;
    const chat = room.chats.get(chatOf(room, to)) ?? nothingSent;
    const { rule, learning } = room;
    const known = rule === null || learning.pace === null ? rule : { ...rule, learned: learning.pace };
    return decidePace(known, room.account, chat, { kind, isGroup, isEdit, at }, room.edits);
  }

  function change(room: Room, to: Address, by: (before: Sent) => Sent): void {
    const name = chatOf(room, to);
    const before = room.chats.get(name) ?? nothingSent;
    const after = by(before);
    if (after === before) return;
    room.chats.set(name, after);
    if (room.chats.size % forgetEvery !== 0) return;
    for (const [chat, sent] of room.chats) if (isForgotten(sent, time())) room.chats.delete(chat);
  }

  /** What is done to the count of a chat is done to that of the account. Where nobody counts, nothing is kept. */
  function count(room: Room, to: Address, isEdit: boolean, by: (before: Sent, rule: Pace) => Sent): void {
    const { rule } = room;
    if (rule === null) return;
    room.account = by(room.account, rule);
    if (isEdit) room.edits = by(room.edits, rule);
    change(room, to, (before) => by(before, rule));
  }

  /** A request that is counted from here on, whenever it leaves. */
  function counted(
    room: Room,
    to: Address,
    isEdit: boolean,
    leaves: number,
  ): Omit<Seat, "leave"> & { withdraw(): void } {
    let left = leaves;
    let isOpen = true;
    function close(at: Instant | null): void {
      if (!isOpen) return;
      isOpen = false;
      const { rule, account, learning } = room;
      count(room, to, isEdit, (before, known) => answeredAt(known, before, left, at));
      // The pause of a chat is none of the account: it owes only the rate that was learned.
      if (rule !== null) room.account = answeredAt(rule, account, left, at, learning.pace?.everyMs ?? 0);
    }
    count(room, to, isEdit, (before) => letThrough(before, leaves));
    return {
      begin() {
        const now = time();
        count(room, to, isEdit, (before) => leftNow(before, left, now));
        left = now;
      },
      answered(result) {
        close(time());
        learn(room, result);
        if (result.type === "retry") rest(room, to, result.afterMs, result.all === true);
        if (room.waiting.length > 0) admit(room);
      },
      withdraw: () => close(null),
    };
  }

  function learn(room: Room, result: SendResult): void {
    if (room.rule?.learns !== true) return;
    const now = time();
    const before = room.learning;
    room.learning = study(before, result, now, room.account.restsUntil > now);
    const { pace } = room.learning;
    if (result.type === "retry" && pace !== null && pace !== before.pace)
      room.account = exhausted(room.account, pace, later(now, result.afterMs));
  }

  function rest(room: Room, to: Address, afterMs: number, isAll: boolean): void {
    if (afterMs <= 0) return;
    const now = time();
    if (isAll) {
      room.account = rested(room.account, now, afterMs);
      room.quietUntil = later(now, afterMs + limits.previewQuietMs);
    } else change(room, to, (chat) => rested(chat, now, afterMs));
  }

  function seatIn(room: Room, to: Address, isEdit: boolean): Seat {
    room.free--;
    const { begin, answered, withdraw } = counted(room, to, isEdit, notYet);
    return {
      begin,
      answered,
      leave() {
        withdraw();
        room.free++;
        admit(room);
      },
    };
  }

  /** Lets through whoever may go, in order, and looks again when the next may. */
  function admit(room: Room): void {
    room.nap?.abort(over);
    room.nap = null;
    room.isFull = isShut(room);
    let next = Number.POSITIVE_INFINITY;
    const now = time();
    for (let i = 0; i < room.waiting.length && !room.isFull; ) {
      const { to, isEdit, resolve } = room.waiting[i] as Waiting;
      const verdict = decide(room, to, "final", isEdit, now);
      if (verdict.type === "now" && room.free > 0) {
        room.waiting.splice(i, 1);
        resolve(seatIn(room, to, isEdit));
        continue;
      }
      if (verdict.type === "wait") next = Math.min(next, verdict.until);
      room.isFull = verdict.type === "now" || (verdict.type === "wait" && verdict.all);
      i++;
    }
    if (next < Number.POSITIVE_INFINITY) lookAgain(room, next as Instant);
  }

  function lookAgain(room: Room, at: Instant): void {
    const nap = new AbortController();
    room.nap = nap;
    void world.sleep(later(world.now(), Math.ceil(at - time())), nap.signal).then(() => {
      if (!nap.signal.aborted) admit(room);
    });
  }

  function take(to: Address, isEdit: boolean): Seat | null {
    const room = roomOf(to);
    if (room.waiting.length > 0) admit(room);
    if (isShut(room) || room.isFull || room.free === 0) return null;
    return decide(room, to, "final", isEdit, time()).type === "now" ? seatIn(room, to, isEdit) : null;
  }

  closing.addEventListener("abort", () => {
    for (const room of rooms.values()) {
      room.nap?.abort(over);
      for (const { resolve } of room.waiting.splice(0)) resolve(null);
    }
  });

  return {
    take,
    wait: (to, isEdit) => {
      const seat = take(to, isEdit);
      if (seat !== null || closing.aborted) return Promise.resolve(seat);
      return new Promise((resolve) => {
        const room = roomOf(to);
        room.waiting.push({ to, isEdit, resolve });
        admit(room);
      });
    },
    preview(to) {
      const room = roomOf(to);
      if (room.waiting.length > 0) admit(room);
      if (isShut(room) || room.isFull || room.waiting.some((one) => chatOf(room, one.to) === chatOf(room, to)))
        return null;
      const now = time();
      if (room.quietUntil > now) return null;
      return decide(room, to, "preview", true, now).type === "now" ? counted(room, to, true, now) : null;
    },
    rests: (to) => roomOf(to).account.restsUntil > time(),
    stands({ name, account }, isUp) {
      const room = roomOf({ platform: name, account });
      room.isDown = !isUp && platformOf(parts, { platform: name, account })?.can.sendsByLink === true;
      admit(room);
    },
    reaches({ name, account }, isReached) {
      const room = roomOf({ platform: name, account });
      room.isBroken = !isReached;
      admit(room);
    },
  };
}

function isShut({ isDown, isBroken }: Room): boolean {
  return isDown || isBroken;
}

/** What counts as one chat. */
function chatOf({ rule }: Room, { chat, thread }: Address): string {
  return rule?.threadsApart === true && thread !== undefined ? JSON.stringify([chat, thread]) : chat;
}
