// What stands in the timeline, from top to bottom: days, messages, the places where the gateway restarted. Pure.

import type { Message } from "./net/wire.ts";
import type { Unsent } from "./outgoing.ts";
import type { Feed } from "./state.ts";

export type Row =
  | { readonly type: "day"; readonly key: string; readonly at: number }
  | { readonly type: "restart"; readonly key: string }
  /** `ends`: it is the last that was said in its turn. */
  | { readonly type: "message"; readonly key: string; readonly message: Message; readonly ends: boolean }
  | { readonly type: "unsent"; readonly key: string; readonly unsent: Unsent };

/** `dayOf` names the day of a moment in the reader's own time zone. */
export function timelineRows(
  feed: Feed,
  unsent: readonly Unsent[],
  chat: string,
  dayOf: (at: number) => string,
): readonly Row[] {
  const rows: Row[] = [];
  const restarts = new Set(feed.restarts);
  const last = new Map(feed.messages.map((one) => [one.turn, one.n]));
  let day = "";
  for (const message of feed.messages) {
    const today = dayOf(message.at);
    if (today !== day) rows.push({ type: "day", key: `day ${today}`, at: message.at });
    day = today;
    const ends = message.turn !== undefined && last.get(message.turn) === message.n;
    rows.push({ type: "message", key: `m ${message.n}`, message, ends });
    if (restarts.has(message.n)) rows.push({ type: "restart", key: `restart ${message.n}` });
  }
  for (const one of unsent) {
    if (one.message.chat === chat) rows.push({ type: "unsent", key: `u ${one.message.id}`, unsent: one });
  }
  return rows;
}
