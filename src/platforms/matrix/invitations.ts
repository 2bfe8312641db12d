// Takes invitations, beside everything else: a room on a server that is slow, dead or hostile holds nobody up. Which ones are
// still open is stored with the place in the stream, because the server tells of each only once.

import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import { MatrixError } from "./api.ts";
import { type Following, limited } from "./following.ts";

export interface Invitations {
  add(rooms: readonly string[]): void;
  /** Those that may still be taken. */
  open(): readonly string[];
}

/** More are not waited for: whoever is invited to so many is being flooded. */
const openMax = 50;
const triesMax = 5;
const pauseMs = 10_000;
const pauseMaxMs = 10 * 60_000;

export function invitations(of: Following, from: readonly string[], signal: AbortSignal): Invitations {
  const { api, around } = of;
  const { world } = around;
  /** Rooms by how often they were tried. */
  const rooms = new Map(from.map((room) => [room, 0]));
  let isAtWork = false;

  /** How long to wait before the next try, or null when the room is done with. */
  async function attempt(room: string, tries: number): Promise<number | null> {
    try {
      await api.join(room, limited(signal));
      return null;
    } catch (error) {
      const isOver = error instanceof MatrixError && error.status < 500 && error.status !== 429;
      if (isOver || tries >= triesMax) {
        world.log("warn", "an invitation could not be taken", { room, why: sentenceOf(error) });
        return null;
      }
      const asked = error instanceof MatrixError ? error.retryAfterMs : null;
      return Math.min(asked ?? pauseMs * 2 ** (tries - 1), pauseMaxMs);
    }
  }

  /** One after another, each round through all of them. */
  async function work(): Promise<void> {
    isAtWork = true;
    while (rooms.size > 0 && !signal.aborted) {
      let pause = 0;
      for (const [room, tries] of rooms) {
        const wait = await attempt(room, tries + 1);
        if (signal.aborted) break;
        if (wait === null) rooms.delete(room);
        else rooms.set(room, tries + 1);
        pause = Math.max(pause, wait ?? 0);
      }
      if (rooms.size > 0) await world.sleep(later(world.now(), pause), signal);
    }
    isAtWork = false;
  }

  function begin(): void {
    if (!isAtWork && rooms.size > 0) void work();
  }

  begin();
  return {
    add(more) {
      for (const room of more) if (rooms.size < openMax && !rooms.has(room)) rooms.set(room, 0);
      begin();
    },
    open: () => [...rooms.keys()],
  };
}
