// Bounds how many requests one platform account has under way. A seat is taken before an item is stored as being sent, so
// that "being sent" never means "waiting for its turn".

import { limits } from "../../core/limits.ts";
import type { Address } from "../../core/message.ts";

/** Gives the seat back; to be called once. */
export type Seat = () => void;

export interface Seats {
  /** Null when all are taken. */
  take(to: Address): Seat | null;
  wait(to: Address): Promise<Seat>;
}

type Room = { free: number; readonly waiting: ((seat: Seat) => void)[] };

export function seats(): Seats {
  const rooms = new Map<string, Room>();

  function roomOf({ platform, account }: Address): Room {
    const key = JSON.stringify([platform, account]);
    let room = rooms.get(key);
    if (room === undefined) rooms.set(key, (room = { free: limits.sendsMax, waiting: [] }));
    return room;
  }

  function seatIn(room: Room): Seat {
    return () => {
      const next = room.waiting.shift();
      if (next === undefined) room.free++;
      else next(seatIn(room));
    };
  }

  function take(to: Address): Seat | null {
    const room = roomOf(to);
    if (room.free === 0) return null;
    room.free--;
    return seatIn(room);
  }

  return {
    take,
    wait: (to) => {
      const seat = take(to);
      if (seat !== null) return Promise.resolve(seat);
      return new Promise((resolve) => roomOf(to).waiting.push(resolve));
    },
  };
}
