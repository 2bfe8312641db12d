// A message of Discord as one of ours. Pure: what has to be fetched for it comes as an argument.

import type { Instant } from "../../core/ids.ts";
import type { Address, FileRef, Inbound } from "../../core/message.ts";
import type { APIAttachment, APIEmbed, APIMessage } from "discord-api-types/v10";
import type { Channel, Role } from "./stream/places.ts";

/** Where a message stands and who we are there. */
export type Scene = {
  readonly account: string;
  readonly me: string;
  /** Null in a direct chat. */
  readonly channel: Channel | null;
  readonly channelName: (id: string) => string | undefined;
  readonly role: (id: string) => Role | undefined;
};

/** What became of its attachments: files, and words about those that could not be had. */
export type Attached = { readonly files: readonly FileRef[]; readonly missing: readonly string[] };

/** Plain messages and replies; everything else is Discord's own talk about joins, pins and the like. */
const spoken = new Set([0, 19]);

export function isForUs(message: APIMessage, me: string): boolean {
  return message.author.id !== me && spoken.has(message.type);
}

/** Where an answer goes. A thread belongs to the channel that it hangs from. */
export function addressOf({ account, channel }: Pick<Scene, "account" | "channel">, channelId: string): Address {
  const at = { platform: "discord", account } as const;
  return channel === null || channel.parent === null
    ? { ...at, chat: channelId }
    : { ...at, chat: channel.parent, thread: channelId };
}

export function toInbound(message: APIMessage, scene: Scene, { files, missing }: Attached): Inbound {
  const { author, id } = message;
  const text = [wordsOf(message, scene), ...missing].filter((one) => one !== "").join("\n");
  const isProgram = author.bot === true || message.webhook_id !== undefined;
  return {
    key: id,
    from: addressOf(scene, message.channel_id),
    sender: author.id,
    body: { kind: "text", text, files },
    sentAt: Date.parse(message.timestamp) as Instant,
    anchor: id,
    // A webhook calls itself what it likes.
    ...(message.webhook_id === undefined ? { name: author.username } : {}),
    ...(isProgram ? { isBot: true } : {}),
    ...groupOf(message, scene),
    ...(carriesOthers(message) ? { carries: true } : {}),
  };
}

/** Forwarded, or shown beside what its author wrote. */
function carriesOthers({ message_snapshots = [], embeds }: APIMessage): boolean {
  return message_snapshots.length > 0 || embeds.some((one) => embedWords(one) !== "");
}

/** The same message with other words; its first wording may still be waiting. Null when only its preview has changed. */
export function toEdited(message: APIMessage, scene: Scene, attached: Attached): Inbound | null {
  if (typeof message.edited_timestamp !== "string") return null;
  const edited = Date.parse(message.edited_timestamp) as Instant;
  return {
    ...toInbound(message, scene, attached),
    key: `${message.id}~${edited}`,
    replaces: message.id,
    sentAt: edited,
  };
}

function groupOf(message: APIMessage, scene: Scene): Pick<Inbound, "group" | "hints"> {
  const { channel, me } = scene;
  if (channel === null) return {};
  const called =
    message.mentions.some((one) => one.id === me) ||
    message.mention_roles.some((id) => scene.role(id)?.isOurs === true) ||
    message.referenced_message?.author.id === me;
  const title = channel.name === "" ? {} : { title: channel.parent === null ? `#${channel.name}` : channel.name };
  return { group: { called, ...title }, hints: { reply: message.id } };
}

/** Discord gives a bot that lacks the right to read messages empty ones; mentions and direct messages are still whole. */
export function isBlanked(message: APIMessage, { channel, me }: Pick<Scene, "channel" | "me">): boolean {
  return (
    channel !== null &&
    message.content === "" &&
    message.attachments.length === 0 &&
    message.embeds.length === 0 &&
    (message.sticker_items ?? []).length === 0 &&
    message.poll === undefined &&
    (message.message_snapshots ?? []).length === 0 &&
    !message.mentions.some(({ id }) => id === me)
  );
}

/** Its own files, and those of what it forwards. */
export function attachmentsOf({ attachments, message_snapshots = [] }: APIMessage): readonly APIAttachment[] {
  return [...attachments, ...message_snapshots.flatMap(({ message }) => message.attachments ?? [])];
}

function wordsOf(message: APIMessage, scene: Scene): string {
  const forwarded = (message.message_snapshots ?? []).flatMap(({ message: one }) => [
    "[forwarded]",
    one.content,
    ...shownIn(one),
  ]);
  const { poll } = message;
  const asked = poll === undefined ? [] : [`[poll] ${poll.question.text ?? ""}`, ...poll.answers.map(answerOf)];
  return [resolved(message, scene), ...forwarded, ...shownIn(message), ...asked].filter((one) => one !== "").join("\n");
}

function shownIn({ embeds = [], sticker_items = [] }: Partial<APIMessage>): readonly string[] {
  return [...embeds.map(embedWords), ...sticker_items.map(({ name }) => `[sticker: ${name}]`)];
}

function answerOf({ poll_media }: { readonly poll_media: { readonly text?: string } }): string {
  return `- ${poll_media.text ?? ""}`;
}

/** Previews of links say nothing that the link does not. */
function embedWords({ type, title, description, fields = [] }: APIEmbed): string {
  if (type !== undefined && type !== "rich") return "";
  return [title ?? "", description ?? "", ...fields.map(({ name, value }) => `${name}: ${value}`)]
    .filter((one) => one !== "")
    .join("\n");
}

/** Mentions as people read them; our own are taken out, with the comma behind them where they began the text. */
function resolved(message: APIMessage, scene: Scene): string {
  const words = message.content.replaceAll(
    /<(@!?|@&|#)(\d+)>|<a?:(\w+):\d+>|<(\/[^:<>]+):\d+>/g,
    (all, kind: string | undefined, id: string, emoji: string | undefined, command: string | undefined) => {
      if (emoji !== undefined) return `:${emoji}:`;
      if (command !== undefined) return command;
      return (kind === undefined ? undefined : nameOf(kind, id, message, scene)) ?? all;
    },
  );
  if (!words.includes(us)) return words;
  // Blanks are looked at from the first of them alone, or many would take for ever.
  return words
    .replaceAll(/^(\s*\0)+[\s,:]*/g, "")
    .replaceAll(/(?<![ \t])[ \t]*\0([ \t]*[,;:.!?])/g, "$1")
    .replaceAll(/(?<![ \t])[ \t]*(?:\0[ \t]*)+/g, " ")
    .trim();
}

/** Stands for us until the space around it is tidied; no message holds it. */
const us = "\0";

function nameOf(kind: string, id: string, message: APIMessage, scene: Scene): string | undefined {
  if (kind === "#") return prefixed("#", scene.channelName(id));
  if (kind === "@&") {
    const role = scene.role(id);
    return role?.isOurs === true ? us : prefixed("@", role?.name);
  }
  if (id === scene.me) return us;
  const person = message.mentions.find((one) => one.id === id);
  return prefixed("@", person?.global_name ?? person?.username);
}

function prefixed(mark: string, name: string | undefined): string | undefined {
  return name === undefined ? undefined : mark + name;
}
