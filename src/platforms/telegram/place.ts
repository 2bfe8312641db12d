// Where an answer goes inside a chat: its topic and the message it answers. Telegram has three kinds of topics, and older
// chats take none, so there are several places, the best first; the next one is tried only when Telegram refused. Pure.

import type { Address, Hints } from "../../core/message.ts";

export type Place = {
  readonly chat_id: string;
  readonly message_thread_id?: number;
  readonly direct_messages_topic_id?: number;
  readonly reply_parameters?: { readonly message_id: number; readonly allow_sending_without_reply: true };
};

/** The topic that every forum begins with is reached without a number. */
const generalTopic = 1;

export function placesFor(to: Address, hints: Hints = {}, isFirst = true): readonly Place[] {
  const chat = { chat_id: to.chat };
  const anchor = numberIn(hints["telegram_reply_to_message_id"]);
  const reply =
    anchor === null || !isFirst
      ? {}
      : { reply_parameters: { message_id: anchor, allow_sending_without_reply: true as const } };
  const thread = numberIn(hints["thread_id"]) ?? numberIn(to.thread);
  const direct = numberIn(hints["direct_messages_topic_id"]);
  const inDirect = direct === null ? [] : [{ ...chat, direct_messages_topic_id: direct, ...reply }];
  // Groups and what belongs to channels have negative ids.
  if (to.chat.startsWith("-") && direct !== null) return inDirect;
  const plain = { ...chat, ...reply };
  if (thread === null || thread === generalTopic) return [plain];
  const inThread = { ...chat, message_thread_id: thread, ...reply };
  if (to.chat.startsWith("-")) return [inThread, plain];
  return [inThread, ...inDirect, ...(hints["telegram_dm_topic_reply_fallback"] === true ? [plain] : [])];
}

function numberIn(value: string | boolean | undefined): number | null {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : null;
}
