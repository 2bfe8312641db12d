// What a message says, in words: its text with code and links as markdown, our own name taken out, things without words
// named, and a short reminder of what it answers or passes on. Pure.

import type { Message, MessageEntity } from "grammy/types";

export type Me = { readonly id: number; readonly username: string };

/** Of a message that is answered or passed on, so much is repeated. */
const contextMax = 500;

type Spoken = { readonly text: string; readonly entities: readonly MessageEntity[] };

function spokenIn(message: Message): Spoken {
  if (message.text !== undefined) return { text: message.text, entities: message.entities ?? [] };
  return { text: message.caption ?? "", entities: message.caption_entities ?? [] };
}

function isMention(text: string, entity: MessageEntity, me: Me): boolean {
  if (entity.type === "text_mention") return entity.user.id === me.id;
  if (entity.type !== "mention") return false;
  return pieceOf(text, entity).toLowerCase() === `@${me.username.toLowerCase()}`;
}

const pieceOf = (text: string, { offset, length }: MessageEntity): string => text.slice(offset, offset + length);

/** Whom a command at the beginning is for; null when there is none. */
function commandFor(message: Message, me: Me): "us" | "anybody" | "another" | null {
  const { text, entities } = spokenIn(message);
  const first = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  if (first === undefined) return null;
  const [, name] = pieceOf(text, first).split("@");
  if (name === undefined) return "anybody";
  return name.toLowerCase() === me.username.toLowerCase() ? "us" : "another";
}

export function isForAnotherBot(message: Message, me: Me): boolean {
  return commandFor(message, me) === "another";
}

/** Among several people: whether these words are meant for us. */
export function isCalled(message: Message, me: Me): boolean {
  const { text, entities } = spokenIn(message);
  return (
    entities.some((one) => isMention(text, one, me)) ||
    commandFor(message, me) !== null ||
    answeredBy(message)?.from?.id === me.id
  );
}

/** Inside a topic every message answers the one that opened it, which nobody wrote. */
function answeredBy({ reply_to_message: answered }: Message): Message | undefined {
  return answered?.forum_topic_created === undefined ? answered : undefined;
}

/** The message that is answered, when somebody else than us wrote it. */
export function answeredElse(message: Message, me: Me): Message | undefined {
  const answered = answeredBy(message);
  return answered?.from?.id === me.id ? undefined : answered;
}

/** Whether words of others are in it: forwarded, quoted, answered, or written by another bot in its sender's name. */
export function carriesOthers(message: Message, me: Me): boolean {
  const { forward_origin: origin, via_bot: bot, external_reply: external } = message;
  const answered = answeredElse(message, me);
  const isOthers =
    answered !== undefined && (answered.from?.id !== message.from?.id || answered.forward_origin !== undefined);
  return origin !== undefined || bot !== undefined || external !== undefined || isOthers;
}

/** All it says. A command stands alone, so that it is read as one. */
export function wordsOf(message: Message, me: Me): string {
  const own = [textOf(message, me), ...thingsIn(message)].filter((one) => one !== "").join("\n");
  if (own.startsWith("/")) return own;
  const context = contextOf(message, me);
  if (context === "" && own === "") return spokenIn(message).text.trim();
  return [context, own].filter((one) => one !== "").join("\n\n");
}

/** Telegram keeps code and links beside the text; a reader of plain text needs them in it. */
function textOf(message: Message, me: Me): string {
  const { text, entities } = spokenIn(message);
  // Of these none stands inside another; the rest changes no words.
  const telling = entities.filter((one) => written.has(one.type) || isMention(text, one, me));
  let words = text;
  for (const one of telling.toSorted((a, b) => b.offset - a.offset)) {
    const piece = pieceOf(text, one);
    const after = words.slice(one.offset + one.length);
    const before = words.slice(0, one.offset);
    if (isMention(text, one, me)) words = joined(before, after);
    else words = before + asMarkdown(one, piece, me) + after;
  }
  return isCalled(message, me) ? words.trim() : words;
}

const written: ReadonlySet<string> = new Set(["code", "pre", "text_link", "bot_command"]);

function joined(before: string, after: string): string {
  return /\s$/.test(before) || before === "" ? before + after.replace(/^[ ,:]+/, "") : before + after;
}

function asMarkdown(entity: MessageEntity, piece: string, me: Me): string {
  switch (entity.type) {
    case "code":
      return `\`${piece}\``;
    case "pre":
      return `\`\`\`${entity.language ?? ""}\n${piece.replace(/\n$/, "")}\n\`\`\``;
    case "text_link":
      return piece === entity.url ? piece : `[${piece}](${entity.url})`;
    case "bot_command":
      return piece.toLowerCase().endsWith(`@${me.username.toLowerCase()}`) ? (piece.split("@")[0] ?? piece) : piece;
    default:
      return piece;
  }
}

/** What has no words of its own. */
function thingsIn(message: Message): readonly string[] {
  const { sticker, location, venue, contact, poll, dice, story } = message;
  if (sticker !== undefined) return [`[sticker${sticker.emoji === undefined ? "" : ` ${sticker.emoji}`}]`];
  if (venue !== undefined) return [`[place: ${venue.title}, ${venue.address} (${degrees(venue.location)})]`];
  if (location !== undefined) return [`[location: ${degrees(location)}]`];
  if (contact !== undefined) return [`[contact: ${fullName(contact)}, ${contact.phone_number}]`];
  if (poll !== undefined) return [`[poll: ${poll.question} ${poll.options.map(({ text }) => text).join(" / ")}]`];
  if (dice !== undefined) return [`[${dice.emoji} ${dice.value}]`];
  return story === undefined ? [] : ["[story]"];
}

function degrees({ latitude, longitude }: { readonly latitude: number; readonly longitude: number }): string {
  return `${latitude}, ${longitude}`;
}

type Named = { readonly first_name: string; readonly last_name?: string };

function fullName({ first_name, last_name }: Named): string {
  return last_name === undefined ? first_name : `${first_name} ${last_name}`;
}

/** Words of ours are known; they are repeated only where somebody marked a piece of them. */
function contextOf(message: Message, me: Me): string {
  const passedOn = message.forward_origin === undefined ? [] : [`[forwarded from ${originOf(message.forward_origin)}]`];
  const other = answeredElse(message, me);
  const said = message.quote?.text ?? (other === undefined ? "" : spokenIn(other).text || thingsIn(other).join(" "));
  if (said === "") return passedOn.join("\n");
  const whose = other?.from === undefined ? "" : `${fullName(other.from)}: `;
  return [...passedOn, quoted(`${whose}${shortened(said)}`)].join("\n");
}

function originOf(origin: NonNullable<Message["forward_origin"]>): string {
  switch (origin.type) {
    case "user":
      return fullName(origin.sender_user);
    case "hidden_user":
      return origin.sender_user_name;
    case "chat":
      return titleOf(origin.sender_chat);
    case "channel":
      return titleOf(origin.chat);
  }
}

function titleOf(chat: { readonly title?: string | undefined; readonly first_name?: string | undefined }): string {
  return chat.title ?? chat.first_name ?? "a chat";
}

const quoted = (text: string): string => text.replaceAll(/^/gm, "> ");

function shortened(text: string): string {
  return text.length <= contextMax ? text : `${text.slice(0, contextMax).toWellFormed().replace(/�$/, "")}…`;
}
