// Who waits where. A request that waits for its answer sits in the room of its conversation and is woken when something was
// said there, when the draft has grown, when a while has passed or when the gateway stops. Nothing here is durable: what is
// true stands in the store, and whoever is woken looks there.

import type { Address } from "../../../core/message.ts";
import { formatAddress } from "../../../core/message.ts";

export type Woken = "news" | "quiet" | "closing" | "left";

export type Seat = {
  /** Resolves when there is a reason to look again, or after so long; at once when there was one since the last time. */
  next(ms?: number): Promise<Woken>;
  draft(): string | null;
  leave(): void;
};

export type Rooms = {
  enter(address: Address): Seat;
  isBusy(address: Address): boolean;
  /** Something was said there. */
  wake(address: Address): void;
  draft(address: Address, text: string | null): void;
  /** Whoever waits is told to come back, until it is opened again. */
  close(): void;
  open(): void;
  readonly size: number;
};

type Room = { readonly seats: Set<(why: Woken) => void>; draft: string | null };

export function rooms(pingMs: number): Rooms {
  const all = new Map<string, Room>();
  let size = 0;
  let closed = false;
  let timer: NodeJS.Timeout | null = null;

  function roomOf(key: string): Room {
    const known = all.get(key);
    if (known !== undefined) return known;
    const room: Room = { seats: new Set(), draft: null };
    all.set(key, room);
    return room;
  }

  function tidy(key: string, room: Room): void {
    if (room.seats.size === 0) all.delete(key);
    if (size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  const everybody = (why: Woken): void => {
    for (const room of all.values()) for (const wake of room.seats) wake(why);
  };

  return {
    enter(address) {
      const key = formatAddress(address);
      const room = roomOf(key);
      let pending: Woken | null = closed ? "closing" : null;
      let resolve: ((why: Woken) => void) | null = null;
      const wake = (why: Woken): void => {
        if (resolve === null) pending = rank[why] > rank[pending ?? "quiet"] || pending === null ? why : pending;
        else resolve(why);
        resolve = null;
      };
      room.seats.add(wake);
      size++;
      timer ??= setInterval(everybody, pingMs, "quiet").unref();
      return {
        next(ms = Number.POSITIVE_INFINITY) {
          if (pending === null) {
            return new Promise((found) => {
              const timer = ms > timerMax ? null : setTimeout(wake, ms, "news").unref();
              resolve = (why) => {
                if (timer !== null) clearTimeout(timer);
                found(why);
              };
            });
          }
          const why = pending;
          pending = null;
          return Promise.resolve(why);
        },
        draft: () => room.draft,
        leave() {
          if (!room.seats.delete(wake)) return;
          size--;
          tidy(key, room);
          wake("left");
        },
      };
    },
    isBusy: (address) => all.has(formatAddress(address)),
    wake(address) {
      for (const wake of all.get(formatAddress(address))?.seats ?? []) wake("news");
    },
    draft(address, text) {
      // Nobody reads a draft later, so without readers it is nothing.
      const room = all.get(formatAddress(address));
      if (room === undefined) return;
      room.draft = text;
      for (const wake of room.seats) wake("news");
    },
    close() {
      closed = true;
      everybody("closing");
    },
    open() {
      closed = false;
    },
    get size() {
      return size;
    },
  };
}

/** Longer waits end by the regular signs. */
const timerMax = 3_600_000;

/** What counts more when several things happened. */
const rank: Readonly<Record<Woken, number>> = { quiet: 0, news: 1, closing: 2, left: 3 };
