// What a story knows about held items, from the commits alone: which were held, that only /resend sends answers again, and
// that each conversation with a held answer gets one notice for it. A notice may be sent again by itself.

import type { Change } from "../../core/change.ts";
import { isHeldNotice } from "../../core/held.ts";
import { formatAddress } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";

export interface Held {
  /** A commit; what must never happen, in sentences. */
  see(changes: readonly Change[]): readonly string[];
  /** Whether an item of this turn was ever held. */
  wasHeld(turn: string): boolean;
  readonly resends: number;
  /** How many items were held. */
  readonly count: number;
}

export function held(): Held {
  const now = new Set<string>();
  const turns = new Set<string>();
  const notices = new Map<string, { written: number; resends: number }>();
  let resends = 0;
  let count = 0;

  function conversation(address: string) {
    const known = notices.get(address) ?? { written: 0, resends: 0 };
    notices.set(address, known);
    return known;
  }

  function hold(item: OutboxItem): readonly string[] {
    now.add(item.id);
    count++;
    if (item.turn !== null) turns.add(item.turn);
    if (isHeldNotice(item) || conversation(formatAddress(item.to)).written > 0) return [];
    return [`${item.id} is held without a notice`];
  }

  return {
    see(changes) {
      const dropped = changes.flatMap((one) => ("drop" in one && one.drop === "fact" ? [one.name] : []));
      const asked = new Set(
        dropped.filter((name) => name.startsWith("held/")).map((name) => name.slice("held/".length)),
      );
      for (const address of asked) conversation(address).resends++;
      resends += asked.size;
      const items = changes.flatMap((one) => ("put" in one && one.put === "item" ? [one.item] : []));
      const found: string[] = [];
      for (const item of items.filter((one) => isHeldNotice(one) && one.version === 1)) {
        const known = conversation(formatAddress(item.to));
        if (++known.written > 1 + known.resends) found.push(`${formatAddress(item.to)} got a second notice`);
      }
      for (const item of items) {
        if (item.now.state === "in-doubt") found.push(...hold(item));
        else if (now.delete(item.id) && !isHeldNotice(item) && !asked.has(formatAddress(item.to)))
          found.push(`${item.id} was held and became ${item.now.state} by itself`);
      }
      return found;
    },
    wasHeld: (turn) => turns.has(turn),
    get resends() {
      return resends;
    },
    get count() {
      return count;
    },
  };
}
