// From a line that somebody said to a message; pure. IRC itself gives messages no names: where the server adds an id or a
// time, that makes the key, so that what a bouncer or the history repeats is known.

import { createHash } from "node:crypto";
import type { Instant } from "../../core/ids.ts";
import type { Address, Inbound } from "../../core/message.ts";
import { commands } from "../../core/route.ts";
import { type Line, type Mapping, fold, isChannel } from "./lines.ts";

export type Self = {
  readonly account: string;
  readonly nick: string;
  /** The name that we wished for, under which we may have spoken before. */
  readonly wished: string;
  /** The server tells the accounts of those who are logged in; then a nick alone says nothing. */
  readonly knowsAccounts: boolean;
  readonly mapping: Mapping;
};

export type SkipReason = "no sender" | "our own line" | "a request between programs (CTCP)" | "no text";

/** What is used where the server says nothing. */
export type Own = { readonly id: string; readonly now: Instant };

/** The message, or the reason why the line is none. */
export function toInbound(line: Line, self: Self, own: Own): Inbound | SkipReason {
  const [target = "", raw = ""] = line.params;
  const words = spoken(raw);
  if (line.nick === "") return "no sender";
  if (isOwn(line, self)) return "our own line";
  if (words === null) return "a request between programs (CTCP)";
  if (words.trim() === "") return "no text";
  const inChannel = isChannel(target);
  const { text, called } = meant(words, self.nick);
  const time = Date.parse(line.tags["time"] ?? "");
  const account = line.tags["account"];
  const name = account ?? (self.knowsAccounts ? null : line.nick);
  return {
    key: keyOf(line, own),
    from: addressOf(self, inChannel ? target : line.nick),
    sender: account === undefined ? line.mask : `account:${account}`,
    body: { kind: "text", text, files: [] },
    sentAt: Number.isNaN(time) ? own.now : (time as Instant),
    ...(name === null ? {} : { name }),
    ...("bot" in line.tags || "draft/bot" in line.tags ? { isBot: true as const } : {}),
    ...(inChannel ? { group: { called, title: target } } : {}),
    hints: { nick: line.nick },
  };
}

/** Also what the history tells of us under a name that we had before: the wished one, or it with marks behind it. */
function isOwn({ nick, tags }: Line, { nick: own, wished, mapping }: Self): boolean {
  const name = fold(nick, mapping);
  return name === fold(own, mapping) || ("batch" in tags && name.replace(/_+$/, "") === fold(wished, mapping));
}

function addressOf(self: Self, chat: string): Address {
  return { platform: "irc", account: self.account, chat: fold(chat, self.mapping) };
}

function keyOf({ tags, mask, params }: Line, own: Own): string {
  const id = tags["msgid"] ?? tags["draft/msgid"];
  if (id !== undefined) return `id:${id}`;
  if (tags["time"] === undefined) return `own:${own.id}`;
  return `time:${createHash("sha256")
    .update(JSON.stringify([tags["time"], mask, params]))
    .digest("base64url")}`;
}

/** Requests between programs are no words, but for what somebody does: "/me waves". */
function spoken(raw: string): string | null {
  if (!raw.startsWith("\x01")) return plainly(raw);
  const [kind, ...words] = raw.replaceAll("\x01", "").split(" ");
  return kind === "ACTION" ? `*${plainly(words.join(" "))}*` : null;
}

/** Colours have numbers behind their mark; the other marks of letters stand alone. */
const colour = /^(?:\d{1,2}(?:,\d{1,2})?)?/;
const hexColour = /^(?:[0-9a-f]{6})?/i;
const marks = "\x02\x0f\x11\x16\x1d\x1e\x1f";

function plainly(text: string): string {
  const [first = "", ...coloured] = text.split("\x03");
  const [begin = "", ...others] = [first, ...coloured.map((rest) => rest.replace(colour, ""))].join("").split("\x04");
  const bare = [begin, ...others.map((rest) => rest.replace(hexColour, ""))].join("");
  return [...bare].filter((letter) => !marks.includes(letter)).join("");
}

/** "bot: words", "bot, words", "@bot words", or a command, which "!" begins as well. */
function meant(words: string, nick: string): { readonly text: string; readonly called: boolean } {
  const name = nick.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const rest = new RegExp(`^(?:@${name}[:,]?|${name}[:,])(?:\\s+|$)`, "i");
  const isCalled = rest.test(words);
  const said = words.replace(rest, "");
  const command = /^!([a-z]+)\b/i.exec(said);
  const isCommand = command !== null && (command[1] ?? "").toLowerCase() in commands;
  const mentions = new RegExp(`(?<![\\w-])@${name}(?![\\w-])`, "i").test(said);
  return { text: isCommand ? `/${said.slice(1)}` : said, called: isCalled || isCommand || mentions };
}
