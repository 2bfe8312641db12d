// What a session does next: one turn at a time, the oldest first, and a policy for what comes in meanwhile. Pure.

import type { Session } from "./session.ts";
import type { Turn } from "./turn.ts";

/** `queue`: after the running turn. `interrupt`: instead of it. `steer`: joins it at its next step. */
export type BusyPolicy = "queue" | "interrupt" | "steer";

export type LaneView = {
  readonly running: boolean;
  /** Turns of this session that wait to run. */
  readonly queued: boolean;
};

/** Whether the lanes as a whole may start something. */
export type Room = { readonly open: boolean; readonly running: number; readonly max: number };

export type Arrival = "start-now" | "wait" | "wait-and-interrupt" | "wait-and-steer";

/** An idle session with room starts in the very commit that accepts the message; anything else waits in the store. */
export function decideArrival(lane: LaneView, room: Room, policy: BusyPolicy): Arrival {
  if (lane.running) {
    switch (policy) {
      case "queue":
        return "wait";
      case "interrupt":
        return "wait-and-interrupt";
      case "steer":
        return "wait-and-steer";
    }
  }
  if (lane.queued || !room.open || room.running >= room.max) return "wait";
  return "start-now";
}

/** What a lane takes up next; with `joins`, so many of the messages that wait join the turn at its first step. */
export type NextTurn =
  | { readonly type: "turn"; readonly turn: Turn; readonly joins: number }
  /** Only interrupted turns are left, and the next message is what they go on with. */
  | { readonly type: "waits-for-input" }
  | { readonly type: "nothing" };

/**
 * Whether what is parked here may be left to its user's next message. An ended session gets none, and what bears no mark
 * was not interrupted: its agent had not begun.
 */
export function mayWaitForInput({ endedAt, resume }: Pick<Session, "endedAt" | "resume">): boolean {
  return endedAt === null && resume !== null;
}

/** Where interrupted turns wait for their user: one goes on as soon as a message can join it. `ready`: oldest first. */
export function decideNextTurn(ready: readonly Turn[]): NextTurn {
  const [first] = ready;
  if (first === undefined) return { type: "nothing" };
  if (first.now.state !== "parked") return { type: "turn", turn: first, joins: 0 };
  if (ready.some(({ now, attempt }) => now.state === "queued" && attempt === 0)) {
    return { type: "turn", turn: first, joins: 1 };
  }
  // What was answered meanwhile has begun already and joins nothing.
  const answered = ready.find(({ now }) => now.state === "queued");
  return answered === undefined ? { type: "waits-for-input" } : { type: "turn", turn: answered, joins: 0 };
}

export type Quarantine = {
  /** The suspect that runs now and has no result yet. */
  readonly occupied: boolean;
  /** While set, nothing but a suspect starts, so that a further death is conclusive. */
  readonly held: boolean;
};
export type Start = "start" | "start-in-quarantine" | "after-quarantine";

/** A suspect was running at two deaths or more; it may only run alone in quarantine. */
export function decideStart(suspect: boolean, quarantine: Quarantine): Start {
  if (suspect) return quarantine.occupied ? "after-quarantine" : "start-in-quarantine";
  return quarantine.held ? "after-quarantine" : "start";
}
