// The protocol of our own clients: what goes over the wire between the chat platform and a page or terminal.
// Types and limits only; a client may import it without importing the platform.

import type { FileRef, Message } from "../../core/message.ts";

/** `GET <prefix>`: the conversations, newest first. */
export type ChatsReply = { readonly chats: readonly ChatLine[] };
export type ChatLine = {
  readonly chat: string;
  readonly title: string;
  readonly activeAt: number;
  readonly lastN: number;
};

/**
 * `POST <prefix>/:chat/messages`: `id` is made by the client and makes a repeat harmless. The text may be empty where
 * there are files; each was uploaded before.
 */
export type PostRequest =
  | { readonly id: string; readonly text: string; readonly files?: readonly FileRef[] }
  | { readonly id: string; readonly answer: { readonly question: string; readonly choice: string } };
/** Given only after the message is stored. */
export type PostReply = { readonly status: "accepted" | "duplicate" | "ignored" };

/** `GET <prefix>/:chat/messages?before=N&limit=50`: oldest first. */
export type MessagesReply = { readonly messages: readonly Message[] };

/** `POST <prefix>/:chat/files?name=`: the body is the file, its kind the `Content-Type`. The same file again is harmless. */
export type FileReply = { readonly file: FileRef };
/** `GET <prefix>/:chat/files/:blob?name=&type=&show=1`: the file; `show` lets a browser draw it where it is a picture. */

/** First event of a stream; `boot` changes when the gateway restarted. */
export type Hello = {
  readonly boot: string;
  readonly version: string;
  /** The agent answers by rule, and can only show what survives. */
  readonly offline?: boolean;
};
/** The whole answer so far, replacing the one before; null takes it away. */
export type Draft = { readonly text: string | null };

export type ErrorReply = { readonly error: { readonly code: string; readonly message: string } };

export const chatLimits = {
  /** Largest body of one request, in bytes. */
  bodyMax: 4 * 1024 * 1024,
  /** Largest file, in bytes, and how many may come with one message. */
  fileMax: 50_000_000,
  filesMax: 10,
  /** Files being received at the same time; more are told to come back. */
  uploadsMax: 8,
  /** Messages shown to a client that comes without a cursor. */
  newestMax: 50,
  /** Most messages of one page of older ones. */
  pageMax: 500,
  /** Conversations in the list. */
  chatsMax: 200,
  /** Event streams open at the same time. */
  streamsMax: 1_000,
  /** A stream without news says this often that it lives. */
  pingMs: 15_000,
} as const;

/** Ids made by clients: of conversations and of messages. */
export function isClientId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}
