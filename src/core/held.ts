// Held answers: outgoing messages of which it stays uncertain whether they arrived. They wait until a user sends /resend or
// the operator retries them. Pure.

import type { Instant, ItemId } from "./ids.ts";
import { formatAddress } from "./message.ts";
import type { OutboxItem } from "./outbox.ts";

const noticePrefix = "held:";
export const heldNotice = "An earlier answer may not have arrived. Send /resend to get it again.";

/** A notice stands for all that is held in its conversation, so its id names the reply and the moment only. */
export function heldNoticeId(item: Pick<OutboxItem, "id">, at: Instant): string {
  return `${noticePrefix}${replyIdOf(item.id)}:${at}`;
}

export function isHeldNotice({ id }: Pick<OutboxItem, "id">): boolean {
  return id.startsWith(noticePrefix);
}

/** The id that all parts of a reply have in common. */
export function replyIdOf(id: ItemId): string {
  return id.replace(/\.\d+$/, "");
}

/** What is held in one conversation. */
export type HeldAnswers = {
  readonly address: string;
  readonly platform: string;
  readonly account: string;
  readonly answers: number;
  /** When the first of them was held. */
  readonly since: number;
};

/** By conversation, the longest waiting first. Parts of one reply are one answer; notices are none. */
export function heldAnswers(items: readonly OutboxItem[]): readonly HeldAnswers[] {
  const held = items.flatMap((item) =>
    item.now.state === "in-doubt" && !isHeldNotice(item) ? [{ ...item, since: item.now.since }] : [],
  );
  const conversations = [...Map.groupBy(held, ({ to }) => formatAddress(to))].map(([address, own]) => ({
    address,
    platform: own[0]?.to.platform ?? "",
    account: own[0]?.to.account ?? "",
    answers: new Set(own.map(({ id }) => replyIdOf(id))).size,
    since: Math.min(...own.map(({ since }) => since)),
  }));
  return conversations.toSorted((a, b) => a.since - b.since);
}
