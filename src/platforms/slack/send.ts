// The way out. Slack takes no key, so we look before we repeat: every message carries its item's id as metadata, and what
// may be there already is searched for in its conversation first. An edit may be repeated as it is. The receipt of the words
// is stored before their files are sent.

import type { Address } from "../../core/message.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import { type Instant, later } from "../../core/ids.ts";
import type { Confirm, PlaceKey } from "../../ports/platform.ts";
import type { SlackMessage } from "./api.ts";
import { earlier, momentOf } from "./cursor.ts";
import type { Desk } from "./desk.ts";
import { failureOf, isGone, resultOf, wordsOf } from "./faults.ts";
import { type Content, contentOf, hasFiles, holdsFiles, isKeyed, keyOf, mayBeThere, wasUncertain } from "./outbound.ts";

/** Clocks differ, and are set back; so much before the item was made is searched too. */
const skewSeconds = 3_600;
/** A call that was dropped may still be under way inside Slack; then it is looked for twice. */
const settleMs = 2_000;
const pagesMax = 20;

export async function sendItem(
  desk: Desk,
  item: OutboxItem,
  signal: AbortSignal,
  confirm?: Confirm,
): Promise<SendResult> {
  if (signal.aborted) return { type: "retry", afterMs: 0, why: "there was no time left to send it" };
  try {
    const channel = await desk.channelOf(item.to.chat, signal);
    const [confirmed] = item.now.state === "sending" ? (item.now.sent ?? []) : [];
    const ts = confirmed ?? (await shown(desk, item, channel, signal));
    if (hasFiles(item)) {
      if (confirmed === undefined) await confirm?.(ts);
      await withFiles(desk, item, { channel, after: ts }, signal);
    }
    return { type: "accepted", remoteId: ts };
  } catch (error) {
    return resultOf(failureOf(error));
  }
}

/** The message that stands there in the end: finished, found, or new. */
async function shown(desk: Desk, item: OutboxItem, channel: string, signal: AbortSignal): Promise<string> {
  const { whole: _, ...content } = contentOf(item);
  const message = { channel, ...content, metadata: keyOf(item) };
  if (item.edits !== undefined && (await edited(desk, { ...message, ts: item.edits }, signal))) return item.edits;
  const known = await found(desk, item, channel, signal);
  if (known !== null) return known.ts;
  const thread = item.to.thread === undefined ? {} : { thread_ts: item.to.thread };
  return (await desk.api.post({ ...message, ...thread }, signal)).ts;
}

type Edit = Content & { readonly channel: string; readonly ts: string; readonly metadata?: SlackMessage["metadata"] };

/** False when that message is gone, or too old to be changed. */
async function edited(desk: Desk, { blocks = [], ...edit }: Edit, signal: AbortSignal): Promise<boolean> {
  try {
    const { metadata, ...rest } = edit;
    await desk.api.update({ ...rest, blocks, ...(metadata === undefined ? {} : { metadata }) }, signal);
    return true;
  } catch (error) {
    if (isGone(failureOf(error))) return false;
    throw error;
  }
}

async function found(desk: Desk, item: OutboxItem, channel: string, signal: AbortSignal): Promise<SlackMessage | null> {
  if (!mayBeThere(item)) return null;
  const isIt = (one: SlackMessage): boolean => isKeyed(one, item);
  const madeAt = Math.min(item.createdAt, desk.world.now()) as Instant;
  const at = { channel, thread: item.to.thread, oldest: earlier(momentOf(madeAt), skewSeconds) };
  const first = await search(desk, at, isIt, signal);
  if (first !== null || !wasUncertain(item)) return first;
  await desk.world.sleep(later(desk.world.now(), settleMs), signal);
  return search(desk, at, isIt, signal);
}

/** A message that was placed and whose id was lost, by the key that it carries. */
export async function foundDraft(
  desk: Desk,
  { id, placedSince }: PlaceKey,
  { channel, to }: { readonly channel: string; readonly to: Address },
  signal: AbortSignal,
): Promise<string | null> {
  const since = Math.min(placedSince ?? 0, desk.world.now()) as Instant;
  const at = { channel, thread: to.thread, oldest: earlier(momentOf(since), skewSeconds) };
  return (await search(desk, at, (one) => isKeyed(one, { id }), signal))?.ts ?? null;
}

type Range = { readonly channel: string; readonly thread: string | undefined; readonly oldest: string };

async function search(
  desk: Desk,
  { channel, thread, oldest }: Range,
  isIt: (message: SlackMessage) => boolean,
  signal: AbortSignal,
): Promise<SlackMessage | null> {
  let cursor: string | null = null;
  for (let n = 0; n < pagesMax; n++) {
    const since: { readonly oldest: string; readonly cursor: string | null } = { oldest, cursor };
    const page =
      thread === undefined
        ? await desk.api.history(channel, since, signal)
        : await desk.api.replies(channel, thread, since, signal);
    const hit = page.items.find(isIt);
    if (hit !== undefined) return hit;
    cursor = page.next;
    if (cursor === null) return null;
  }
  return null;
}

/** Files go behind their message, in one message of their own, which is looked for by what it holds and where it is. */
async function withFiles(
  desk: Desk,
  item: OutboxItem,
  { channel, after }: { readonly channel: string; readonly after: string },
  signal: AbortSignal,
): Promise<void> {
  const { whole } = contentOf(item);
  const answer =
    whole === undefined ? [] : [{ name: "answer.md", mime: "text/markdown", bytes: Buffer.byteLength(whole) }];
  const wanted = [...answer, ...item.files];
  const { thread } = item.to;
  if (mayBeThere(item)) {
    const { user } = await desk.api.whoAmI(signal);
    const isThere = (one: SlackMessage): boolean => holdsFiles(one, wanted, after, user);
    if ((await search(desk, { channel, thread, oldest: after }, isThere, signal)) !== null) return;
  }
  try {
    const files: { readonly id: string; readonly title: string }[] = [];
    if (whole !== undefined) files.push(await desk.api.upload("answer.md", new TextEncoder().encode(whole), signal));
    for (const { name, blob } of item.files)
      files.push(await desk.api.upload(name, await desk.blobs.read(blob), signal));
    await desk.api.share(files, { channel, ...(thread === undefined ? {} : { thread }) }, signal);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "no") throw error;
    await withoutFiles(
      desk,
      item,
      { channel, ts: after },
      `${wanted.map(({ name }) => name).join(", ")} could not be sent: ${wordsOf(failure)}`,
      signal,
    );
  }
}

/** The words arrived; what is missing behind them is said in their message. */
async function withoutFiles(
  desk: Desk,
  item: OutboxItem,
  at: { readonly channel: string; readonly ts: string },
  why: string,
  signal: AbortSignal,
): Promise<void> {
  const { whole: _, text, ...content } = contentOf(item);
  await edited(desk, { ...at, ...content, text: `${text}\n\n_${why}_`, metadata: keyOf(item) }, signal);
}

/** Where a draft or an answer goes. */
export function placeOf({ chat, thread }: Address): { readonly chat: string; readonly thread_ts?: string } {
  return { chat, ...(thread === undefined ? {} : { thread_ts: thread }) };
}
