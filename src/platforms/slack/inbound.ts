// What comes through the socket, and what stands in the past of a conversation, as messages of ours. Pure: names and files
// are fetched by whoever calls, between the two steps `heardIn` and `toInbound`.

import { type CommandName, commands } from "../../core/route.ts";
import type { Address, Body, FileRef, Inbound } from "../../core/message.ts";
import type { Instant } from "../../core/ids.ts";
import type { SlackMessage, Us } from "./api.ts";
import { type Said, saidIn } from "./attached.ts";
import { instantOf } from "./cursor.ts";
import { type Names, mentioned, toPlain, toQuoted } from "./markup.ts";
import { readPress } from "./outbound.ts";

/** An envelope of the socket, as far as we read it. */
export type Envelope = { readonly type: string; readonly body: unknown };

/** What we heard, before names and files are known. */
export type Heard = {
  readonly conversation: string;
  readonly key: string;
  /** The message's own moment; absent for what has no place in the past of a conversation. */
  readonly ts?: string;
  readonly thread?: string;
  readonly sender: string;
  readonly name?: string;
  readonly isBot: boolean;
  readonly isDirect: boolean;
  /** Mentioned, or below a message of ours. */
  readonly isCalled: boolean;
  /** The first message of a thread, or of a chat of two. */
  readonly isRoot: boolean;
  /** Told beside the message itself, because it mentions us; the same message under the same key. */
  readonly isEcho?: true;
  readonly at: Instant;
  readonly replaces?: string;
  readonly what: What;
};

export type What =
  | ({ readonly kind: "words" } & Said)
  | { readonly kind: "press"; readonly question: string; readonly choice: string; readonly message: SlackMessage }
  | { readonly kind: "command"; readonly name: string; readonly rest: string };

/** Whom we are, on this connection. */
export type Self = Us & { readonly app: string };

/** Kinds of messages that carry somebody's words; all others tell of the channel itself. */
const spoken: ReadonlySet<string | undefined> = new Set([
  undefined,
  "file_share",
  "thread_broadcast",
  "me_message",
  "bot_message",
]);

/** Null when there is nothing in it for us. */
export function heardIn(envelope: Envelope, self: Self, now: Instant): Heard | null {
  switch (envelope.type) {
    case "events_api":
      return inEvent((envelope.body as { readonly event?: SlackEvent }).event, self);
    case "interactive":
      return inPress(envelope.body as Pressed);
    case "slash_commands":
      return inCommand(envelope.body as Commanded, now);
    default:
      return null;
  }
}

type SlackEvent = SlackMessage & {
  readonly channel?: string;
  readonly channel_type?: string;
  readonly message?: SlackMessage;
  readonly previous_message?: SlackMessage;
};

function inEvent(event: SlackEvent | undefined, self: Self): Heard | null {
  if (event?.channel === undefined || (event.type !== "message" && event.type !== "app_mention")) return null;
  const isDirect = event.channel_type === undefined ? event.channel.startsWith("D") : event.channel_type === "im";
  const place = { conversation: event.channel, isDirect };
  if (event.subtype === "message_changed") return inEdit(event, place, self);
  const found = inMessage(event, place, self);
  return found !== null && event.type === "app_mention" ? { ...found, isCalled: true, isEcho: true } : found;
}

export type Where = { readonly conversation: string; readonly isDirect: boolean };

/** A message of an event or of the past; the key is the same in both, and in the event that tells of a mention. */
export function inMessage(message: SlackMessage, { conversation, isDirect }: Where, self: Self): Heard | null {
  if (!spoken.has(message.subtype) || isOwn(message, self)) return null;
  const { ts, thread_ts } = message;
  const said = saidIn(message);
  const isReply = thread_ts !== undefined && thread_ts !== ts;
  const thread = isReply ? thread_ts : isDirect ? undefined : ts;
  return {
    conversation,
    key: `${conversation}:${ts}`,
    ts,
    ...(thread === undefined ? {} : { thread }),
    sender: message.user ?? message.bot_id ?? "unknown",
    ...(message.username === undefined ? {} : { name: message.username }),
    isBot: message.bot_id !== undefined || message.subtype === "bot_message" || message.user === "USLACKBOT",
    isDirect,
    isCalled: mentioned(said.text).includes(self.user) || (isReply && message.parent_user_id === self.user),
    isRoot: !isReply,
    at: instantOf(ts),
    what: { kind: "words", ...said },
  };
}

/** Links that unfold change a message too; only other words are an edit. */
function inEdit(event: SlackEvent, place: Where, self: Self): Heard | null {
  const { message, previous_message: previous } = event;
  if (message?.edited === undefined || wordsIn(message) === wordsIn(previous)) return null;
  const found = inMessage(message, place, self);
  if (found === null) return null;
  const { ts: _, ...timeless } = found;
  return {
    ...timeless,
    key: `${found.key}:${message.edited.ts}`,
    replaces: found.key,
    at: instantOf(message.edited.ts),
  };
}

function wordsIn(message: SlackMessage | undefined): string | null {
  if (message === undefined) return null;
  const { text, attached } = saidIn(message);
  return [text, ...attached].join("\n");
}

function isOwn({ user, bot_id, app_id }: SlackMessage, self: Self): boolean {
  return (
    user === self.user || (bot_id !== undefined && bot_id === self.bot) || (app_id !== undefined && app_id === self.app)
  );
}

type Pressed = {
  readonly type?: string;
  readonly user?: { readonly id: string; readonly username?: string; readonly name?: string };
  readonly channel?: { readonly id: string };
  readonly message?: SlackMessage;
  readonly actions?: readonly { readonly value?: unknown; readonly action_ts?: string }[];
};

function inPress({ type, user, channel, message, actions }: Pressed): Heard | null {
  const [action] = actions ?? [];
  const pressed = readPress(action?.value);
  if (type !== "block_actions" || pressed === null || user === undefined || channel === undefined) return null;
  const moment = action?.action_ts;
  if (message === undefined || moment === undefined) return null;
  const { ts, thread_ts } = message;
  const name = user.username ?? user.name;
  return {
    conversation: channel.id,
    key: `${channel.id}:${ts}:pressed:${moment}`,
    ...(thread_ts === undefined || thread_ts === ts ? {} : { thread: thread_ts }),
    sender: user.id,
    ...(name === undefined ? {} : { name }),
    isBot: false,
    isDirect: channel.id.startsWith("D"),
    isCalled: true,
    isRoot: false,
    at: instantOf(moment),
    what: { kind: "press", ...pressed, message },
  };
}

type Commanded = {
  readonly text?: string;
  readonly user_id?: string;
  readonly user_name?: string;
  readonly channel_id?: string;
  readonly trigger_id?: string;
};

/** `/everturn status`: Slack knows the one word, and we the rest. */
function inCommand(given: Commanded, now: Instant): Heard | null {
  const { text = "", user_id, user_name, channel_id, trigger_id } = given;
  if (user_id === undefined || channel_id === undefined || trigger_id === undefined) return null;
  const [, name = "help", rest = ""] = /^\s*[/!]?(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  return {
    conversation: channel_id,
    key: `${channel_id}:command:${trigger_id}`,
    sender: user_id,
    ...(user_name === undefined ? {} : { name: user_name }),
    isBot: false,
    isDirect: channel_id.startsWith("D"),
    isCalled: true,
    isRoot: false,
    at: now,
    what: { kind: "command", name: name.toLowerCase(), rest },
  };
}

/** What was fetched for it. `lost` are files that could not be had, in words. */
export type Fetched = {
  readonly names: Names;
  readonly title?: string;
  readonly files: readonly FileRef[];
  readonly lost: readonly string[];
};

/** `isOurs`: the thread began with a mention of us, so that all in it is meant for us. */
export function toInbound(heard: Heard, account: string, self: Self, isOurs: boolean, fetched: Fetched): Inbound {
  const { conversation, thread, sender, at, what } = heard;
  const from: Address = { platform: "slack", account, chat: conversation, ...(thread === undefined ? {} : { thread }) };
  const name = heard.name ?? fetched.names.get(sender);
  const title = fetched.title === undefined ? {} : { title: fetched.title };
  return {
    key: heard.key,
    from,
    sender,
    body: bodyOf(what, self, fetched),
    sentAt: at,
    ...(heard.ts === undefined ? {} : { anchor: heard.ts }),
    ...(name === undefined ? {} : { name }),
    ...(heard.isBot ? { isBot: true } : {}),
    ...(heard.isDirect ? {} : { group: { called: heard.isCalled || isOurs, ...title } }),
    ...(heard.replaces === undefined ? {} : { replaces: heard.replaces }),
    ...(what.kind === "words" && what.attached.length > 0 ? { carries: true } : {}),
  };
}

function bodyOf(what: What, self: Self, { names, files, lost }: Fetched): Body {
  if (what.kind === "press") return { kind: "answer", question: what.question, choice: what.choice };
  if (what.kind === "command") return { kind: "command", name: what.name, rest: what.rest };
  const text = toPlain(what.text, self.user, names);
  const known = new Map([...names, [self.user, self.name]]);
  const attached = what.attached.map((one) => toQuoted(one, known));
  const command = files.length === 0 && attached.length === 0 ? readBang(text) : null;
  if (command !== null) return command;
  return { kind: "text", text: [text, ...attached, ...lost].filter((line) => line !== "").join("\n"), files };
}

/** Slack keeps a text that begins with a slash for itself, so `!stop` says the same. Only known words are commands. */
function readBang(text: string): Body | null {
  const [, word = "", rest = ""] = /^!([a-z]+)(?:\s+([\s\S]*))?$/i.exec(text.trim()) ?? [];
  const name = word.toLowerCase();
  return isCommand(name) ? { kind: "command", name, rest } : null;
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

/** Whom to ask names of. */
export function peopleIn({ sender, name, what }: Heard): readonly string[] {
  const others = what.kind === "words" ? mentioned([what.text, ...what.attached].join("\n")) : [];
  return [...new Set(name === undefined ? [sender, ...others] : others)].filter((id) => /^[UW]/.test(id)).slice(0, 10);
}
