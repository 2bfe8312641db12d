// Where a conversation of our own clients is, and the names of its messages.

import type { Address } from "../../core/message.ts";

export const account = "local";

export function addressOf(platform: string, chat: string): Address {
  return { platform, account, chat };
}

export function toKey(chat: string, id: string): string {
  return `${chat}:${id}`;
}

/** The id its client gave a message, from the key under which it is stored. */
export function fromKey(chat: string, key: string): string {
  const prefix = `${chat}:`;
  return key.startsWith(prefix) ? key.slice(prefix.length) : key;
}
