// What clients are shown, as text of an event stream and as JSON. Pure. A user's message goes out under the id that
// its client gave it, so that the client knows it again.

import type { Message } from "../../core/message.ts";
import type { SessionLine } from "../../ports/store.ts";
import type { ChatLine, Draft, Hello } from "./api.ts";
import { fromKey } from "./place.ts";

export const pingFrame = ":ping\n\n";
export const liveFrame = "event: live\ndata: {}\n\n";

export function helloFrame(hello: Hello): string {
  return `event: hello\ndata: ${JSON.stringify(hello)}\n\n`;
}

export function messageFrame(chat: string, message: Message): string {
  return `id: ${message.n}\nevent: message\ndata: ${JSON.stringify(toShown(chat, message))}\n\n`;
}

export function draftFrame(draft: Draft): string {
  return `event: draft\ndata: ${JSON.stringify(draft)}\n\n`;
}

/** A comment: clients ignore it, people who look at the stream read it. */
export function remarkFrame(text: string): string {
  return `: ${text.replaceAll(/\s+/g, " ")}\n\n`;
}

export function toShown(chat: string, message: Message): Message {
  return message.role === "user" ? { ...message, key: fromKey(chat, message.key) } : message;
}

/** One line for each conversation: a conversation that was started over has several sessions. */
export function toChats(sessions: readonly SessionLine[]): readonly ChatLine[] {
  const chats = new Map<string, ChatLine>();
  for (const session of sessions) {
    const { chat } = session.address;
    const seen = chats.get(chat);
    chats.set(chat, {
      chat,
      title: seen?.title || session.title,
      activeAt: Math.max(seen?.activeAt ?? 0, session.activeAt),
      lastN: Math.max(seen?.lastN ?? 0, session.lastN),
    });
  }
  return [...chats.values()].toSorted((a, b) => b.activeAt - a.activeAt);
}
