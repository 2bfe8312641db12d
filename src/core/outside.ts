// Text from outside: where it comes into a conversation, and what a conversation that holds some may not do without leave.
// The model is assumed to be under the control of the last text it read. Pure.

import { type Entry, isFromOutside } from "./journal.ts";
import { type Inbound, bringsOutside } from "./message.ts";
import { partyOf } from "./requester.ts";
import type { Session } from "./session.ts";

/** Whether text from outside is in what the agent reads: in earlier turns, in this message, or in what came since. */
export function isMarked(
  session: Pick<Session, "outside" | "guests">,
  input: Inbound,
  journal: readonly Entry[],
): boolean {
  if (session.outside || bringsOutside(input) || isFromOutside(journal)) return true;
  if (session.guests === true && partyOf(input) !== "person") return true;
  // Another person of a group joined the turn: the words that the agent follows are not all of one person.
  const { sender = input.sender } = input.maker ?? {};
  return journal.some((entry) => entry.type === "joined" && entry.message.sender !== sender);
}

/** What an agent may want to do, as far as it matters here. */
export const markedActions = [
  "read",
  "write",
  "run",
  "reply",
  "fetch-known",
  "fetch-new",
  "new-host",
  "remember",
  "schedule",
  "send-elsewhere",
  "restart",
] as const;
export type MarkedAction = (typeof markedActions)[number];

/**
 * Whether the user is asked first because of text from outside. Inside of the sandbox everything goes on as before: the
 * wall holds. What outlives the conversation or leaves the machine is asked for.
 */
const asksWhenMarked: Readonly<Record<MarkedAction, boolean>> = {
  read: false,
  write: false,
  run: false,
  reply: false,
  "fetch-known": false,
  "fetch-new": true,
  "new-host": true,
  remember: true,
  schedule: true,
  "send-elsewhere": true,
  restart: true,
};

export function needsLeave(marked: boolean, action: MarkedAction): boolean {
  return marked && asksWhenMarked[action];
}

/** How a message marks its session: for everybody, or for those who have more rights than its sender. */
export function markBy(input: Inbound): "everybody" | "guests" | null {
  if (bringsOutside(input)) return "everybody";
  return input.group !== undefined && partyOf(input) === "person" ? "guests" : null;
}
