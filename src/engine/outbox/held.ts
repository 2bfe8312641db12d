// Replies that are held because sending them stays uncertain: the remaining parts of the reply are held with the item, and
// its user reads once, as soon as anything can be sent, that an answer may be missing. `/resend` sends them again.

import type { Change } from "../../core/change.ts";
import { heldNotice, heldNoticeId, isHeldNotice, replyIdOf } from "../../core/held.ts";
import type { Instant, TurnId } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import { type Address, formatAddress } from "../../core/message.ts";
import { type OutboxItem, advanceItem } from "../../core/outbox.ts";
import type { Parts } from "../parts.ts";
import { writeReply } from "./replies.ts";

/** More items than one conversation can hold at a time. */
const heldMax = 1_000;

/** Beside the held item itself: what else is held with it, and the notice. */
export async function holdReply(
  parts: Pick<Parts, "archive" | "store">,
  item: OutboxItem,
  at: Instant,
): Promise<readonly Change[]> {
  const reply = replyIdOf(item.id);
  const why = "an earlier part of this reply is held";
  const rest = (await parts.archive.items({ turn: reply as TurnId, limit: heldMax }))
    .filter((one) => replyIdOf(one.id) === reply && one.part > item.part && one.now.state === "pending")
    .map((one): Change => ({ put: "item", item: advanceItem(one, { type: "held", why, at }) }));
  return [...rest, ...(await noticeOf(parts, item, at))];
}

/** Once for a conversation and day, until /resend; never about a notice. */
async function noticeOf({ store }: Pick<Parts, "store">, item: OutboxItem, at: Instant): Promise<readonly Change[]> {
  const fact = factOf(item.to);
  const last = await lastNotice(store, item.to);
  if (isHeldNotice(item) || (last !== null && isCurrent(last, at))) return [];
  // A reply may be held, sent again, and held once more.
  const id = heldNoticeId(item, at);
  if ((await store.item(`${id}.0`)) !== null) return [];
  const { session, to } = item;
  const notice = { id, session, turn: null, to, role: "notice", text: heldNotice, parts: [heldNotice], at } as const;
  return [...writeReply(notice, null).changes, { put: "fact", name: fact, value: id }];
}

async function lastNotice(store: Pick<Parts["store"], "item" | "fact">, to: Address): Promise<OutboxItem | null> {
  const id = await store.fact(factOf(to));
  return id === null ? null : store.item(`${id}.0`);
}

/** On its way, waiting until something can be sent there, or read not long ago. */
function isCurrent({ now }: OutboxItem, at: Instant): boolean {
  return now.state === "delivered" ? at - now.deliveredAt < limits.heldNoticeMs : now.state !== "dead";
}

/** The conversations whose notice is held itself: it goes out as soon as anything else arrives there. */
export type UnreadNotices = {
  /** Which conversations these are, as the store knows them. */
  load(): Promise<void>;
  isAt(to: Address): boolean;
  add(to: Address): void;
  /** Something arrived there: the notice as it is sent again, where something is still held. */
  take(to: Address, at: Instant): Promise<OutboxItem | null>;
};

export function unreadNotices(parts: Pick<Parts, "archive" | "store">): UnreadNotices {
  const at = new Set<string>();
  return {
    async load() {
      for (const to of await parts.archive.uncertainAddresses())
        if ((await lastNotice(parts.store, to))?.now.state === "in-doubt") at.add(formatAddress(to));
    },
    isAt: (to) => at.has(formatAddress(to)),
    add: (to) => void at.add(formatAddress(to)),
    async take(to, now) {
      at.delete(formatAddress(to));
      const notice = await lastNotice(parts.store, to);
      if (notice?.now.state !== "in-doubt") return null;
      const isMissing = (await heldItems(parts, to)).some((one) => !isHeldNotice(one));
      return isMissing ? advanceItem(notice, { type: "resent", at: now }) : null;
    },
  };
}

/** The newest first. Other conversations may hold any number of items, so only the store can pick those of one address. */
function heldItems({ archive }: Pick<Parts, "archive">, to: Address): Promise<readonly OutboxItem[]> {
  return archive.items({ state: "in-doubt", to, limit: heldMax });
}

/** For what an earlier version left held, without a word to its user. `changes`: those of the same commit. */
export async function untoldNotices(
  parts: Pick<Parts, "archive" | "store">,
  changes: readonly Change[],
  at: Instant,
): Promise<readonly Change[]> {
  const told = new Set(changes.flatMap((one) => ("put" in one && one.put === "fact" ? [one.name] : [])));
  const notices: Change[] = [];
  for (const to of await parts.archive.uncertainAddresses()) {
    if (told.has(factOf(to)) || (await parts.store.fact(factOf(to))) !== null) continue;
    const oldest = (await heldItems(parts, to)).findLast((item) => !isHeldNotice(item));
    if (oldest !== undefined) notices.push(...(await noticeOf(parts, oldest, at)));
  }
  return notices;
}

export type Resend = { readonly items: readonly OutboxItem[]; readonly changes: readonly Change[] };

/** Everything held at this address goes out again, the oldest first; a notice about it is not needed any more. */
export async function resendAt(parts: Pick<Parts, "archive">, to: Address, at: Instant): Promise<Resend> {
  const held = await heldItems(parts, to);
  const [notices, answers] = [held.filter(isHeldNotice), held.filter((item) => !isHeldNotice(item))];
  const items = answers.map((item) => advanceItem(item, { type: "resent", at })).toReversed();
  const why = "what it was about was sent again";
  const moot = notices.map((item) => advanceItem(item, { type: "discarded", why, at }));
  return {
    items,
    changes: [
      ...[...items, ...moot].map((item): Change => ({ put: "item", item })),
      { drop: "fact", name: factOf(to) },
    ],
  };
}

function factOf(to: Address): string {
  return `held/${formatAddress(to)}`;
}
