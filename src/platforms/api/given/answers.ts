// An answer as it comes, whoever asks for it and how often: read from the store by the key of its message, watched through
// the room of its conversation. It is the same before and after a kill, because nothing of it is kept here.

import type { SessionId } from "../../../core/ids.ts";
import type { Address, Message } from "../../../core/message.ts";
import type { Trouble } from "../../../core/running/patience.ts";
import type { Turn } from "../../../core/turn.ts";
import type { Archive, Store } from "../../../ports/store.ts";
import type { World } from "../../../ports/world.ts";
import { account } from "../api.ts";
import { type Refusal, notServing, stillAtWork } from "../faults.ts";
import { type Found, type Whole, finishOf, found, usageOf } from "../outbound.ts";
import { decideTrouble, failedTurn } from "./failures.ts";
import { type Following, readBack, readOn } from "./following.ts";
import type { Rooms, Seat } from "./rooms.ts";

export type Reading = {
  readonly archive: Pick<Archive, "messagesAfter" | "messagesBefore" | "entries" | "sessions">;
  readonly store: Pick<Store, "turn" | "turnBy">;
  /** Why the running turn of a session does not go on; null while it does. */
  readonly troubleOf: (session: SessionId) => Trouble | null;
};

export type Step =
  | { readonly type: "draft"; readonly text: string }
  | { readonly type: "ping" }
  /** The time that `next` was given is over. */
  | { readonly type: "late" }
  | ({ readonly type: "done" } & Whole)
  | { readonly type: "broken"; readonly why: Refusal };

export type Answer = {
  /** Null when nobody listens any more. `until`: not waited longer than that. */
  next(until?: number): Promise<Step | null>;
  leave(): void;
};

/** Which answer is meant, and how long its caller waits. */
export type Awaited = { readonly key: string; readonly at: Address; readonly deadline: number };

export function answers(
  reading: Reading,
  rooms: Rooms,
  world: Pick<World, "now">,
  { key, at, deadline }: Awaited,
): Answer {
  const seat = rooms.enter(at);
  const look = lookFor(reading, key);
  let shown: string | null = null;

  async function next(until = deadline): Promise<Step | null> {
    for (;;) {
      const seen = await look();
      if (seen?.isDone === true) return finished(seen);
      const draft = seen?.isRunning === true ? seat.draft() : null;
      if (draft !== null && draft !== shown) {
        shown = draft;
        return { type: "draft", text: draft };
      }
      // One that waits behind a turn in trouble waits as long.
      const trouble = seen === null ? null : reading.troubleOf(seen.turn.session);
      const patience = trouble === null ? null : decideTrouble(trouble, world.now());
      if (patience?.type === "refuse") return { type: "broken", why: patience.refusal };
      const now = world.now();
      if (now >= deadline) return { type: "broken", why: stillAtWork };
      if (now >= until) return { type: "late" };
      const woken = await seat.next(Math.min(until - now, deadline - now, patience?.ms ?? Number.POSITIVE_INFINITY));
      if (woken === "left") return null;
      if (woken === "closing") return { type: "broken", why: notServing("stopping") };
      if (woken === "quiet") return { type: "ping" };
    }
  }

  async function finished({ text, turn, said, until, endedBy }: Seen): Promise<Step> {
    const ended = endedBy === null || endedBy === turn.id ? turn : await reading.store.turn(endedBy);
    const why = endedBy === null || ended === null ? null : failedTurn(ended);
    if (why !== null) return { type: "broken", why };
    const entries = await reading.archive.entries(turn.id);
    return { type: "done", text, usage: usageOf(entries, said.at, until), finish: finishOf(entries, until) };
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
