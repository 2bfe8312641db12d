// Replies that are held because sending them stays uncertain: the remaining parts of the reply are held with the item, and
// its user reads once, as soon as anything can be sent, that an answer may be missing. `/resend` sends them again.

import type { Change } from "../../core/change.ts";
import type { Instant, ItemId, TurnId } from "../../core/ids.ts";
import { type Address, formatAddress } from "../../core/message.ts";
import { type OutboxItem, advanceItem } from "../../core/outbox.ts";
import type { Parts } from "../parts.ts";
import { writeReply } from "./replies.ts";

const noticePrefix = "held:";
const noticeText = "An earlier answer may not have arrived. Send /resend to get it again.";
/** More items than one conversation can hold at a time. */
const heldMax = 1_000;

/** Beside the held item itself: what else is held with it, and the notice. */
export async function holdReply(
  parts: Pick<Parts, "archive" | "store">,
  item: OutboxItem,
  at: Instant,
): Promise<readonly Change[]> {
  const reply = replyOf(item.id);
  const why = "an earlier part of this reply is held";
  const rest = (await parts.archive.items({ turn: reply as TurnId, limit: heldMax }))
    .filter((one) => replyOf(one.id) === reply && one.part > item.part && one.now.state === "pending")
    .map((one): Change => ({ put: "item", item: advanceItem(one, { type: "held", why, at }) }));
  return [...rest, ...(await noticeOf(parts, item, at))];
}

/** Once for a conversation while the last notice is still on its way; never about a notice. */
async function noticeOf({ store }: Pick<Parts, "store">, item: OutboxItem, at: Instant): Promise<readonly Change[]> {
  const fact = factOf(item.to);
  const last = await store.fact(fact);
  if (item.id.startsWith(noticePrefix) || (last !== null && (await isOnItsWay(store, last)))) return [];
  // A reply may be held, sent again, and held once more.
  const id = `${noticePrefix}${replyOf(item.id)}:${at}`;
  if ((await store.item(`${id}.0`)) !== null) return [];
  const { session, to } = item;
  const notice = { id, session, turn: null, to, role: "notice", text: noticeText, parts: [noticeText], at } as const;
  return [...writeReply(notice, null).changes, { put: "fact", name: fact, value: id }];
}

async function isOnItsWay(store: Pick<Parts["store"], "item">, notice: string): Promise<boolean> {
  const state = (await store.item(`${notice}.0`))?.now.state;
  return state === "pending" || state === "sending";
}

/** For what an earlier version left held, without a word to its user. `changes`: those of the same commit. */
export async function untoldNotices(
  parts: Pick<Parts, "archive" | "store">,
  changes: readonly Change[],
  at: Instant,
): Promise<readonly Change[]> {
  const told = new Set(changes.flatMap((one) => ("put" in one && one.put === "fact" ? [one.name] : [])));
  const oldest = new Map<string, OutboxItem>();
  for (const item of await parts.archive.items({ state: "in-doubt", limit: heldMax }))
    oldest.set(formatAddress(item.to), item);
  const notices: Change[] = [];
  for (const item of oldest.values())
    if (!told.has(factOf(item.to)) && (await parts.store.fact(factOf(item.to))) === null)
      notices.push(...(await noticeOf(parts, item, at)));
  return notices;
}

export type Resend = { readonly items: readonly OutboxItem[]; readonly changes: readonly Change[] };

/** Everything held at this address goes out again, the oldest first. */
export async function resendAt(parts: Pick<Parts, "archive">, to: Address, at: Instant): Promise<Resend> {
  const here = formatAddress(to);
  const held = (await parts.archive.items({ state: "in-doubt", limit: heldMax })).filter(
    (item) => formatAddress(item.to) === here && !item.id.startsWith(noticePrefix),
  );
  const items = held.map((item) => advanceItem(item, { type: "resent", at })).toReversed();
  return {
    items,
    changes: [...items.map((item): Change => ({ put: "item", item })), { drop: "fact", name: factOf(to) }],
  };
}

function factOf(to: Address): string {
  return `held/${formatAddress(to)}`;
}

/** Without the number of the part. */
function replyOf(id: ItemId): string {
  return id.replace(/\.\d+$/, "");
}
