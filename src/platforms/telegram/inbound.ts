// From an update to what the gateway is told. Pure; files are named here and fetched in files.ts. Keys are made of the
// ids that Telegram itself gives, so whatever comes again is known. Who may speak is decided elsewhere.

import type { CallbackQuery, Message, Update } from "grammy/types";
import type { Instant } from "../../core/ids.ts";
import type { Address, Group, Hints, Inbound } from "../../core/message.ts";
import { type Me, answeredElse, carriesOthers, isCalled, isForAnotherBot, wordsOf } from "./words.ts";

/** A file that is still out there. */
export type Attached = {
  readonly id: string;
  readonly name: string;
  readonly mime: string;
  readonly bytes?: number;
};

/** A button that was pressed; whoever pressed it waits for an answer. */
export type Press = { readonly id: string; readonly chat: number; readonly message: number; readonly choice: string };

export type Parcel = {
  /** Without its files. */
  readonly message: Inbound;
  readonly files: readonly Attached[];
  readonly press?: Press;
};

/** `idle`: a button that has no meaning any more; the person who pressed it is freed. */
export type Read =
  | { readonly type: "parcel"; readonly parcel: Parcel }
  | { readonly type: "idle"; readonly press: string }
  | null;

export function read(update: Update, account: string, me: Me): Read {
  const { message, edited_message: edited, callback_query: press } = update;
  if (press !== undefined) return readPress(press, account);
  if (message !== undefined) return readParts([message], account, me);
  if (edited === undefined || edited.location !== undefined) return null;
  const now = readParts([edited], account, me);
  if (now?.type !== "parcel") return null;
  const { key } = now.parcel.message;
  const told = { ...now.parcel.message, key: `${key}:edit:${update.update_id}`, replaces: key };
  return { type: "parcel", parcel: { ...now.parcel, message: told } };
}

/** One message that Telegram brings in several: each part has one file, and one of them the words. */
export function readParts(parts: readonly Message[], account: string, me: Me): Read {
  const [first] = parts;
  if (first === undefined || !isSpoken(first, me)) return null;
  const sender = senderOf(first);
  if (sender === null) return null;
  const text = parts
    .map((one) => wordsOf(one, me))
    .filter((one) => one !== "")
    .join("\n");
  const group = groupOf(first, () => parts.some((one) => isCalled(one, me)));
  const files = [...parts.flatMap(filesIn), ...(group === undefined ? [] : filesIn(answeredElse(first, me)))];
  if (text === "" && files.length === 0) return null;
  return {
    type: "parcel",
    parcel: {
      files,
      message: {
        key: keyOf(first),
        from: addressOf(first, account),
        ...sender,
        body: isStart(text) ? { kind: "command", name: "help", rest: "" } : { kind: "text", text, files: [] },
        sentAt: (first.date * 1_000) as Instant,
        anchor: String(first.message_id),
        ...hintsOf(first),
        ...(group === undefined ? {} : { group }),
        ...(parts.some((one) => carriesOthers(one, me)) ? { carries: true } : {}),
      },
    },
  };
}

/** What Telegram itself sends when somebody opens the chat for the first time. */
function isStart(text: string): boolean {
  return /^\/start(?:\s|$)/i.test(text);
}

/** Posts of channels are for nobody in particular, and nobody answers their own words. */
function isSpoken(message: Message, me: Me): boolean {
  const isPost = message.chat.type === "channel" || message.is_automatic_forward === true;
  return !isPost && message.from?.id !== me.id && !isForAnotherBot(message, me);
}

function keyOf(message: Message): string {
  return `${message.chat.id}:${message.message_id}`;
}

/** Topics are places of their own. The general one has no number, and mere answers in a group make no topic. */
function addressOf(message: Message, account: string): Address {
  const topic = message.direct_messages_topic?.topic_id ?? topicOf(message);
  const at = { platform: "telegram", account, chat: String(message.chat.id) };
  return topic === undefined ? at : { ...at, thread: String(topic) };
}

function topicOf({ is_topic_message, message_thread_id }: Message): number | undefined {
  return is_topic_message === true && message_thread_id !== 1 ? message_thread_id : undefined;
}

type Sender = Pick<Inbound, "sender" | "name" | "isBot">;

/**
 * Whoever speaks for a chat is that chat; the user named beside it is made up. Only names that Telegram keeps unique are
 * told: anybody may call themselves like somebody else.
 */
function senderOf({ from, sender_chat: chat }: Message): Sender | null {
  if (chat !== undefined) return { sender: String(chat.id), ...named(chat.username) };
  if (from === undefined) return null;
  return { sender: String(from.id), ...named(from.username), ...(from.is_bot ? { isBot: true } : {}) };
}

function named(name: string | undefined): { readonly name?: string } {
  return name === undefined ? {} : { name };
}

function groupOf({ chat }: Message, called: () => boolean): Group | undefined {
  if (!isGroup(chat)) return undefined;
  return { called: called(), ...(chat.title === undefined ? {} : { title: chat.title }) };
}

function isGroup(chat: Message["chat"]): boolean {
  return (chat.type === "group" || chat.type === "supergroup") && chat.is_direct_messages !== true;
}

/** Among several people an answer shows what it answers. */
function hintsOf(message: Message): { readonly hints?: Hints } {
  const topic = message.direct_messages_topic?.topic_id;
  const hints: Hints = {
    ...(topic === undefined ? {} : { direct_messages_topic_id: String(topic) }),
    ...(isGroup(message.chat) ? { telegram_reply_to_message_id: String(message.message_id) } : {}),
  };
  return Object.keys(hints).length === 0 ? {} : { hints };
}

function filesIn(message: Message | undefined): readonly Attached[] {
  if (message === undefined) return [];
  const { photo, document, voice, audio, video, video_note: note, animation, message_id: n } = message;
  const largest = photo?.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
  if (largest !== undefined) return [attached(largest, `photo-${n}.jpg`, "image/jpeg")];
  if (animation !== undefined) return [attached(animation, `animation-${n}.mp4`, "video/mp4")];
  if (document !== undefined) return [attached(document, `document-${n}`, "application/octet-stream")];
  if (voice !== undefined) return [attached(voice, `voice-${n}.ogg`, "audio/ogg")];
  if (audio !== undefined) return [attached(audio, `audio-${n}.mp3`, "audio/mpeg")];
  if (video !== undefined) return [attached(video, `video-${n}.mp4`, "video/mp4")];
  return note === undefined ? [] : [attached(note, `video-${n}.mp4`, "video/mp4")];
}

type Theirs = {
  readonly file_id: string;
  readonly file_size?: number;
  readonly file_name?: string;
  readonly mime_type?: string;
};

function attached(file: Theirs, name: string, mime: string): Attached {
  return {
    id: file.file_id,
    name: file.file_name ?? name,
    mime: file.mime_type ?? mime,
    ...(file.file_size === undefined ? {} : { bytes: file.file_size }),
  };
}

/** What a button carries: at most 64 bytes, so the words of its choice are read from the button itself. */
export function pressData(question: string, choice: number): string | null {
  const data = `q:${choice}:${question}`;
  return Buffer.byteLength(data) <= 64 ? data : null;
}

function readPress(press: CallbackQuery, account: string): Read {
  const { id, data = "", message, from } = press;
  const question = /^q:\d+:(.+)$/s.exec(data)?.[1];
  const choice = message?.reply_markup?.inline_keyboard
    .flat()
    .find((one) => "callback_data" in one && one.callback_data === data)?.text;
  if (question === undefined || choice === undefined || message === undefined) return { type: "idle", press: id };
  const group = groupOf(message, () => true);
  return {
    type: "parcel",
    parcel: {
      files: [],
      press: { id, chat: message.chat.id, message: message.message_id, choice },
      message: {
        key: `press:${id}`,
        from: addressOf(message, account),
        sender: String(from.id),
        ...named(from.username),
        ...(from.is_bot ? { isBot: true } : {}),
        body: { kind: "answer", question, choice },
        // A press has no time of its own, and the time of the question is older than what was said since.
        sentAt: (message.date * 1_000) as Instant,
        anchor: String(message.message_id),
        ...hintsOf(message),
        ...(group === undefined ? {} : { group }),
      },
    },
  };
}
