// Wake-ups that survive a restart: reminders and the expiry of questions. A due timer becomes an inbound message whose
// key is the timer's, so it can fire only once.

import type { Instant, SessionId, TurnId } from "./ids.ts";
import type { Inbound } from "./message.ts";
import type { Maker } from "./requester.ts";
import type { Session } from "./session.ts";

export type Timer = {
  readonly id: string;
  readonly session: SessionId;
  /** The waiting turn whose question expires; null for a reminder. */
  readonly turn: TurnId | null;
  readonly dueAt: Instant;
  readonly text: string;
  /** Who made the reminder, with the rights they had; a reminder of an earlier version has none. */
  readonly maker?: Maker;
};

/** Keys of our own begin with a mark that no platform's key has. */
export function toInbound(timer: Timer, session: Session): Inbound {
  return {
    key: `=timer:${timer.id}`,
    from: session.address,
    sender: "timer",
    body: { kind: "timer", timer: timer.id, text: timer.text },
    sentAt: timer.dueAt,
    ...actingFor(timer),
  };
}

/** A reminder has the rights of its maker, never more. */
function actingFor({ maker }: Timer): Pick<Inbound, "party" | "maker" | "group" | "carries"> {
  if (maker === undefined) return {};
  const { party, group, outside } = maker;
  return {
    party,
    maker,
    ...(group === undefined ? {} : { group }),
    ...(outside === true ? { carries: true } : {}),
  };
}
