// A turn: one message and everything done to answer it. Stored from acceptance to end; each state carries exactly the
// facts that exist in it. `advanceTurn` is the only way from one state to the next.

import { Bug, type BootId, type Instant, type SessionId, type TurnId } from "./ids.ts";
import { type Body, type Inbound, formatAddress } from "./message.ts";
import { readCommand } from "./route.ts";
import type { TurnFailure } from "./running/failure.ts";

export type TurnState =
  | { readonly state: "queued" }
  | { readonly state: "running"; readonly boot: BootId; readonly startedAt: Instant }
  | { readonly state: "waiting"; readonly question: string; readonly until: Instant }
  | { readonly state: "parked"; readonly cause: ParkCause; readonly parkedAt: Instant }
  /** Asks for a restart; whatever start comes next answers it. */
  | { readonly state: "restarting"; readonly askedAt: Instant }
  | {
      readonly state: "done";
      readonly outcome: Outcome;
      readonly why?: string;
      readonly failure?: TurnFailure;
      readonly doneAt: Instant;
    };

export type ParkCause = "shutdown" | "crash";

/** `joined`: answered by the turn that was running when its message came. */
export type Outcome = "replied" | "silent" | "cancelled" | "failed" | "joined";

export type Turn = {
  readonly id: TurnId;
  readonly session: SessionId;
  readonly input: Inbound;
  readonly acceptedAt: Instant;
  /** How often it was started. */
  readonly attempt: number;
  /** A commit names the version it saw; 1 is a new row. */
  readonly version: number;
  readonly now: TurnState;
};

export type TurnEvent =
  | { readonly type: "claimed"; readonly boot: BootId; readonly at: Instant }
  | { readonly type: "asked"; readonly question: string; readonly until: Instant }
  | { readonly type: "answered" }
  | { readonly type: "restart-asked"; readonly at: Instant }
  | { readonly type: "parked"; readonly cause: ParkCause; readonly at: Instant }
  | {
      readonly type: "ended";
      readonly outcome: Outcome;
      readonly why?: string;
      readonly failure?: TurnFailure;
      readonly at: Instant;
    };

export function newTurn(id: TurnId, session: SessionId, input: Inbound, at: Instant): Turn {
  return { id, session, input, acceptedAt: at, attempt: 0, version: 1, now: { state: "queued" } };
}

/** What follows from an event; a pair that cannot happen is a Bug. */
export function advanceTurn(turn: Turn, event: TurnEvent): Turn {
  const from = turn.now.state;
  switch (event.type) {
    case "claimed":
      if (from !== "queued" && from !== "parked") break;
      return {
        ...next(turn, { state: "running", boot: event.boot, startedAt: event.at }),
        attempt: turn.attempt + 1,
      };
    case "asked":
      if (from !== "running") break;
      return next(turn, { state: "waiting", question: event.question, until: event.until });
    case "answered":
      if (from !== "waiting") break;
      return next(turn, { state: "queued" });
    case "restart-asked":
      if (from !== "queued") break;
      return next(turn, { state: "restarting", askedAt: event.at });
    case "parked":
      if (from !== "running") break;
      return next(turn, { state: "parked", cause: event.cause, parkedAt: event.at });
    case "ended": {
      if (from === "done") break;
      const why = event.why === undefined ? {} : { why: event.why };
      const failure = event.failure === undefined ? {} : { failure: event.failure };
      return next(turn, { state: "done", outcome: event.outcome, ...why, ...failure, doneAt: event.at });
    }
  }
  throw new Bug(`turn ${turn.id} is ${from} and cannot be ${event.type}`);
}

/**
 * What a turn answers once its user wrote it anew; null when nothing changes: it has begun, somebody else wrote it, or one
 * of the two is a command, which is never taken back or given by an edit.
 */
export function reworded({ input, attempt, now }: Turn, edit: Inbound): (Inbound & { readonly body: Words }) | null {
  if (now.state !== "queued" || attempt > 0) return null;
  if (input.sender !== edit.sender || formatAddress(input.from) !== formatAddress(edit.from)) return null;
  if (input.body.kind !== "text" || edit.body.kind !== "text") return null;
  if (readCommand(input.body) !== null || readCommand(edit.body) !== null) return null;
  return { ...input, body: edit.body, ...marksOf(edit) };
}

function marksOf({ outside, carries }: Inbound): Pick<Inbound, "outside" | "carries"> {
  return { ...(outside === true ? { outside } : {}), ...(carries === true ? { carries } : {}) };
}

type Words = Body & { readonly kind: "text" };

/** The same turn as a row that does not exist yet: what several steps before the first commit add up to. */
export function asNew(turn: Turn): Turn {
  return { ...turn, version: 1 };
}

function next(turn: Turn, now: TurnState): Turn {
  return { ...turn, version: turn.version + 1, now };
}
