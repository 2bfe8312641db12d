// What comes in and what is kept of a conversation. Everything here is plain data and goes to the store as it is.

import type { CallOptions } from "./call-options.ts";
import type { Instant, SessionId, TurnId } from "./ids.ts";
import type { Maker, Party } from "./requester.ts";

/** Where a conversation is. `account` is one of our own accounts on that platform. */
export type Address = {
  readonly platform: string;
  readonly account: string;
  readonly chat: string;
  readonly thread?: string;
};

/** `blob` names the content and is the same for the same bytes. */
export type FileRef = {
  readonly name: string;
  readonly mime: string;
  readonly blob: string;
  readonly bytes: number;
};

export type Body =
  | { readonly kind: "text"; readonly text: string; readonly files: readonly FileRef[] }
  | { readonly kind: "answer"; readonly question: string; readonly choice: string }
  | { readonly kind: "command"; readonly name: string; readonly rest: string }
  | { readonly kind: "timer"; readonly timer: string; readonly text: string };

export type Inbound = {
  /** The platform's own id of it; makes a repeat harmless. */
  readonly key: string;
  readonly from: Address;
  readonly sender: string;
  /** What the sender may do, as it was when the message was accepted. Set by the intake alone. */
  readonly party?: Party;
  /** Who made the reminder that this is; it acts with their rights. */
  readonly maker?: Maker;
  readonly body: Body;
  readonly sentAt: Instant;
  /** The platform's id of the message itself, where an answer may be anchored. */
  readonly anchor?: string;
  /** What the platform wants back on whatever is sent in answer; opaque to us. */
  readonly hints?: Hints;
  /** How people call the sender there; lists of who may speak can have it instead of the id. */
  readonly name?: string;
  /** Written by a program. */
  readonly isBot?: true;
  /** Where several people write; absent in a chat of two. */
  readonly group?: Group;
  /** The key of an earlier message whose new wording this is. */
  readonly replaces?: string;
  /** Strangers' words are in it: it is never a command or an answer, and its conversation is marked. */
  readonly outside?: true;
  /** What is to be done with such words, in the owner's own. */
  readonly task?: string;
  /** The sender's own words, with those of others in them: a quote or something forwarded. It marks its conversation. */
  readonly carries?: true;
  /** How a program wants the model to be asked. */
  readonly options?: CallOptions;
};

/** Whether text from outside comes with a message. What people record themselves are their own words. */
export function bringsOutside({ outside, carries, isBot, body }: Inbound): boolean {
  const hasFiles = body.kind === "text" && body.files.some(({ mime }) => !/^\s*audio\//i.test(mime));
  return outside === true || carries === true || isBot === true || hasFiles;
}

/** `called`: the words are meant for us, by a mention, a reply or a command. */
export type Group = { readonly called: boolean; readonly title?: string };

export type Hints = Readonly<Record<string, string | boolean>>;

/** A question put to the user, shown as buttons where the platform has them. */
export type Question = {
  readonly id: string;
  readonly choices: readonly string[];
  /** Something is done or left, by the answer. */
  readonly kind?: "approval";
};

/** A line of the transcript, before the store has numbered it. */
export type NewMessage = {
  /** The inbound key of a user's message, the item id of ours. */
  readonly key: string;
  readonly session: SessionId;
  readonly turn: TurnId | null;
  readonly role: "user" | "assistant" | "notice";
  readonly text: string;
  readonly question?: Question;
  readonly files?: readonly FileRef[];
  /** Strangers' words are in it. */
  readonly outside?: true;
  /** Words of others are in it, beside the sender's own. */
  readonly carries?: true;
  readonly at: Instant;
};

/** `n` grows with every stored message; a reader keeps it as its cursor. */
export type Message = NewMessage & { readonly n: number };

/** The words of a body as the transcript shows them. */
export function textOf(body: Body): string {
  switch (body.kind) {
    case "text":
    case "timer":
      return body.text;
    case "answer":
      return body.choice;
    case "command":
      return `/${body.name}${body.rest === "" ? "" : ` ${body.rest}`}`;
  }
}

/** `platform/account/chat[/thread]`, each part escaped, so that no two addresses share a text. */
export function formatAddress(address: Address): string {
  const parts = [address.platform, address.account, address.chat];
  if (address.thread !== undefined) parts.push(address.thread);
  return parts.map(escapePart).join("/");
}

/** Reads what a person typed; null when it is not an address. */
export function parseAddress(text: string): Address | null {
  const parts = text.split("/").map(decodePart);
  const [platform, account, chat, thread] = parts;
  if (parts.length < 3 || parts.length > 4 || !platform || !account || !chat || parts.includes("")) return null;
  return thread === undefined ? { platform, account, chat } : { platform, account, chat, thread };
}

/** Also half a surrogate pair is escaped: stored as it is, it would become the same character as every other half. */
function escapePart(part: string): string {
  const marks = part.replace(/[%/]/g, encodeURIComponent);
  if (marks.isWellFormed()) return marks;
  return marks.replace(/[\ud800-\udfff]/gu, (half) => `%u${half.charCodeAt(0).toString(16)}`);
}

function decodePart(part: string): string {
  try {
    const halves = part.replace(/%u(d[89a-f][0-9a-f]{2})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
    return decodeURIComponent(halves);
  } catch (error) {
    if (error instanceof URIError) return "";
    throw error;
  }
}
