// From an event of a room to a message; pure. Files are only named here: whoever listens fetches them.

import type { Instant } from "../../core/ids.ts";
import type { Address, Inbound } from "../../core/message.ts";
import type { MatrixEvent } from "./api.ts";

export type Room = {
  readonly id: string;
  /** Who is in it, by user id, and how they are called. */
  readonly members: ReadonlyMap<string, string>;
};

export type Self = { readonly user: string; readonly account: string };

/** A file that comes with a message, still on the homeserver. */
export type Attachment = { readonly mxc: string; readonly name: string; readonly mime: string; readonly bytes: number };

export type Read =
  | { readonly type: "message"; readonly inbound: Inbound; readonly files: readonly Attachment[] }
  /** It can only be read with keys that we do not have. */
  | { readonly type: "encrypted" }
  | { readonly type: "nothing" };

const nothing: Read = { type: "nothing" };
const mediaTypes: Readonly<Record<string, string>> = {
  "m.image": "image/*",
  "m.file": "application/octet-stream",
  "m.audio": "audio/*",
  "m.video": "video/*",
};

export function readEvent(event: MatrixEvent, room: Room, self: Self): Read {
  const { event_id: id, sender, content = {} } = event;
  if (id === undefined || sender === undefined || sender === self.user) return nothing;
  if (event.type === "m.room.encrypted") return { type: "encrypted" };
  if (event.type !== "m.room.message") return nothing;
  const relates = record(content["m.relates_to"]);
  const edited = relates["rel_type"] === "m.replace" ? text(relates["event_id"]) : null;
  const said = edited === null ? content : record(content["m.new_content"]);
  const kind = text(said["msgtype"]) ?? "";
  const isMedia = Object.hasOwn(mediaTypes, kind);
  if (!isMedia && !["m.text", "m.notice", "m.emote"].includes(kind)) return nothing;
  const files = isMedia ? attachmentOf(said, kind) : [];
  const words = isMedia ? captionOf(said) : wordsOf(said, relates, kind);
  const { called, rest } = calledIn(words, said, self.user, room.members.get(self.user));
  if (rest.trim() === "" && files.length === 0) return nothing;
  const thread = relates["rel_type"] === "m.thread" ? text(relates["event_id"]) : null;
  const from: Address = {
    platform: "matrix",
    account: self.account,
    chat: room.id,
    ...(thread === null ? {} : { thread }),
  };
  const inbound: Inbound = {
    key: id,
    from,
    sender,
    body: { kind: "text", text: rest, files: [] },
    sentAt: (event.origin_server_ts ?? 0) as Instant,
    anchor: id,
    hints: { reply_to: id },
    // Programs speak in notices, by the protocol's own rule; answering them makes loops.
    ...(kind === "m.notice" ? { isBot: true as const } : {}),
    ...(room.members.size > 2 ? { group: { called } } : {}),
    ...(edited === null ? {} : { replaces: edited }),
  };
  return { type: "message", inbound, files };
}

/** An answer quotes what it answers, in front of its own words, for old clients. */
function wordsOf(said: Readonly<Record<string, unknown>>, relates: Readonly<Record<string, unknown>>, kind: string) {
  const body = text(said["body"]) ?? "";
  const isReply = Object.keys(record(relates["m.in_reply_to"])).length > 0;
  const own = isReply ? body.replace(/^(?:> .*\n)+\n/, "") : body;
  return kind === "m.emote" ? `* ${own}` : own;
}

/** The words beside a file stand in `body` when the file's name stands apart. */
function captionOf(said: Readonly<Record<string, unknown>>): string {
  const name = text(said["filename"]);
  const body = text(said["body"]) ?? "";
  return name === null || name === body ? "" : body;
}

function attachmentOf(said: Readonly<Record<string, unknown>>, kind: string): readonly Attachment[] {
  const mxc = text(said["url"]);
  if (mxc === null) return [];
  const info = record(said["info"]);
  const name = text(said["filename"]) ?? text(said["body"]) ?? "file";
  const bytes = typeof info["size"] === "number" ? info["size"] : 0;
  const mime = text(info["mimetype"]) ?? mediaTypes[kind] ?? "application/octet-stream";
  return [{ mxc, name, mime, bytes }];
}

/** Meant for us: named in the list of mentions, or by our id or name in front of the words, which is taken out. */
function calledIn(words: string, said: Readonly<Record<string, unknown>>, user: string, name: string | undefined) {
  const mentions = record(said["m.mentions"])["user_ids"];
  const isListed = Array.isArray(mentions) && mentions.includes(user);
  for (const one of [user, name].filter((given) => given !== undefined && given !== "")) {
    const own = one as string;
    if (!words.toLowerCase().startsWith(own.toLowerCase())) continue;
    const rest = words.slice(own.length);
    if (/^[:,]?\s+|^[:,]?$/.test(rest)) return { called: true, rest: rest.replace(/^[:,]?\s*/, "") };
  }
  const isCommand = /^\/[a-z]/i.test(words);
  return { called: isListed || isCommand || words.includes(user), rest: words };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
