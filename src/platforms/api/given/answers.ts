// An answer as it comes, whoever asks for it and how often: read from the store by the key of its message, watched through
// the room of its conversation. It is the same before and after a kill, because nothing of it is kept here.

import type { Address, Message } from "../../../core/message.ts";
import type { Turn } from "../../../core/turn.ts";
import type { Archive, Store } from "../../../ports/store.ts";
import type { World } from "../../../ports/world.ts";
import { type UsageReply, account, apiLimits } from "../api.ts";
import { type Refusal, notServing, stillAtWork } from "../faults.ts";
import { type Found, found, usageOf } from "../outbound.ts";
import { type Following, readBack, readOn } from "./following.ts";
import type { Rooms, Seat } from "./rooms.ts";

export type Reading = {
  readonly archive: Pick<Archive, "messagesAfter" | "messagesBefore" | "entries" | "sessions">;
  readonly store: Pick<Store, "turnBy">;
};

export type Step =
  | { readonly type: "draft"; readonly text: string }
  | { readonly type: "ping" }
  | { readonly type: "done"; readonly text: string; readonly usage: UsageReply | null }
  | { readonly type: "broken"; readonly why: Refusal };

export type Answer = {
  /** Null when nobody listens any more. */
  next(): Promise<Step | null>;
  leave(): void;
};

export function answers(reading: Reading, rooms: Rooms, world: Pick<World, "now">, key: string, at: Address): Answer {
  const seat = rooms.enter(at);
  const look = lookFor(reading, key);
  const deadline = world.now() + apiLimits.waitMs;
  let shown: string | null = null;

  async function next(): Promise<Step | null> {
    for (;;) {
      const seen = await look();
      if (seen?.isDone === true) return finished(seen);
      const draft = seen?.isRunning === true ? seat.draft() : null;
      if (draft !== null && draft !== shown) {
        shown = draft;
        return { type: "draft", text: draft };
      }
      if (world.now() > deadline) return { type: "broken", why: stillAtWork };
      const woken = await seat.next();
      if (woken === "left") return null;
      if (woken === "closing") return { type: "broken", why: notServing("stopping") };
      if (woken === "quiet") return { type: "ping" };
    }
  }

  async function finished({ text, turn, said, until }: Seen): Promise<Step> {
    const usage = usageOf(await reading.archive.entries(turn.id), said.at, until);
    return { type: "done", text, usage };
  }

  return { next, leave: () => leave(seat) };
}

function leave(seat: Seat): void {
  seat.leave();
}

type Seen = Found & { readonly turn: Turn; readonly said: Message };

/** Null while the message is not there yet. */
function lookFor({ archive, store }: Reading, key: string): () => Promise<Seen | null> {
  let read: Following | null = null;
  return async () => {
    // The turn first: what it said before it was done stands in the transcript by then.
    const turn = await store.turnBy("api", account, key);
    if (turn === null) return null;
    read = read === null ? await readBack(archive, turn, key) : await readOn(archive, turn, read);
    return read === null ? null : { ...found(turn, read.lines), turn, said: read.said };
  };
}
