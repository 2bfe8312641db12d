// How a command or the operator ends things: what runs, what waits, or the whole conversation.

import type { Change } from "../../core/change.ts";
import type { Instant, SessionId } from "../../core/ids.ts";
import { type Session, newSession } from "../../core/session.ts";
import { type Turn, advanceTurn } from "../../core/turn.ts";
import type { Lane, Lanes } from "../lanes/lanes.ts";
import type { Parts } from "../parts.ts";
import { Interruption } from "../turns/interruption.ts";
import { type Obeyed, only } from "./obeyed.ts";

/** Ends what runs, or else what was interrupted, or else what waits for an answer; the session stays. */
export async function stop(parts: Parts, lanes: Lanes, lane: Lane, at: Instant): Promise<Obeyed> {
  const why = "stopped by its user";
  const ended = ({ id, session }: Turn) =>
    parts.events.emit({ type: "turn-ended", session, turn: id, outcome: "cancelled", why });
  const { running } = lane;
  if (running !== null && running !== "starting" && running.turn.now.state === "running") {
    const { turn, session } = running;
    return {
      text: "Stopped.",
      changes: cancelled(turn, session, why, at),
      stored() {
        lanes.interrupt(lane, new Interruption("cancelled", "Stopped by its user"), { is: turn.id });
        ended(turn);
      },
    };
  }
  const next = await parts.store.nextTurn(lane.session.id);
  if (next?.now.state === "parked") {
    return { text: "Stopped.", changes: cancelled(next, lane.session, why, at), stored: () => ended(next) };
  }
  const asked = (await parts.store.openQuestions(lane.session.id)).at(-1);
  const turn = asked === undefined ? null : await parts.store.turn(asked.turn);
  if (turn === null) return only("There is nothing to stop.");
  const changes = cancelled(turn, lane.session, why, at);
  return { text: "Stopped. The question is withdrawn.", changes, stored: () => ended(turn) };
}

/** The end of a turn by somebody's wish; with it goes what was counted against it, and its question. */
export function cancelled(turn: Turn, session: Session, why: string, at: Instant): readonly Change[] {
  const changes: Change[] = [
    { put: "turn", turn: advanceTurn(turn, { type: "ended", outcome: "cancelled", why, at }) },
    { drop: "strikes", key: session.key },
  ];
  const { state } = turn.now;
  if (state === "waiting") changes.push({ drop: "timer", id: turn.now.question });
  if (session.resume !== null && (state === "running" || state === "parked")) {
    changes.push({ put: "resume", session: session.id, resume: null });
  }
  return changes;
}

/** What was asked before is still answered; the next message meets an empty memory. */
export async function startOver(parts: Parts, lanes: Lanes, lane: Lane, at: Instant): Promise<Obeyed> {
  const text = "A new conversation begins here. I no longer look at what was said before.";
  // Somebody else started over at the same moment; once is enough.
  if (lane.session.endedAt !== null) return { text, changes: [], stored: () => lanes.succeed(lane) };
  return { text, changes: await succession(parts, lane.session, at), stored: () => lanes.succeed(lane) };
}

/** Another session takes the place of this one; its open questions are withdrawn. */
export async function succession(parts: Parts, session: Session, at: Instant): Promise<readonly Change[]> {
  const next = newSession(parts.world.id() as SessionId, session.address, parts.boot, at, session.model);
  const changes: Change[] = [
    { put: "ended", session: session.id, at },
    { put: "session", session: next },
  ];
  for (const { turn: id } of await parts.store.openQuestions(session.id)) {
    const turn = await parts.store.turn(id);
    if (turn !== null) changes.push(...cancelled(turn, session, "its user started over", at));
  }
  return changes;
}
