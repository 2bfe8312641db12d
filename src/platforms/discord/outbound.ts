// An item of the outbox as what Discord is asked to do. Pure.

import { createHash } from "node:crypto";
import type { Address, Hints } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { APIAttachment, APIMessage } from "discord-api-types/v10";
import type { Sent, Upload } from "./api.ts";
import { buttonsFor, numbered } from "./interactions.ts";
import { asFile, placeholder, rendered } from "./markup.ts";
import { idAt, timeOf } from "./stream/cursor.ts";

/** Discord knows the key of a send for "a few minutes"; within this we trust it. */
const keyKnownMs = 120_000;
/** How far our clock and Discord's may be apart. */
const skewMs = 5_000;

/** A file of ours beside those of the item. */
export type Wanted = { readonly content: string; readonly answer: string | null };

/** Threads are channels of their own. */
export function channelOf({ chat, thread }: Address): string {
  return thread ?? chat;
}

/** The same item has the same key, whoever sends it. */
export function nonceOf(id: string): string {
  return createHash("sha256").update(id).digest("base64url").slice(0, 25);
}

/** The words, and the whole answer as a file where it is too long for them. */
export function wanted({ text, question }: Pick<OutboxItem, "text" | "question">): Wanted {
  const asked = question !== undefined && buttonsFor(question) === null ? `\n\n${numbered(question.choices)}` : "";
  const whole = `${text}${asked}`;
  const long = asFile(whole);
  return long === null ? { content: rendered(whole).trim(), answer: null } : { content: long.words, answer: long.file };
}

/** Nobody is called by what an agent writes. */
const quiet = { parse: [] } as const;
/** SUPPRESS_EMBEDS: a preview would make Discord fetch any address that the agent writes, with data in it. */
const noPreview = { flags: 4 } as const;

export function sendBody(item: OutboxItem, content: string): Sent {
  return {
    content,
    nonce: nonceOf(item.id),
    enforce_nonce: true,
    allowed_mentions: { parse: [] },
    ...noPreview,
    ...replyTo(item.part === 0 ? item.hints : undefined),
    ...componentsOf(item),
  };
}

/** An edit says everything that is to stand there afterwards, so it may be repeated. */
export function editBody(item: OutboxItem, content: string, files: readonly string[]): object {
  return {
    content,
    allowed_mentions: quiet,
    ...noPreview,
    attachments: files.map((filename, id) => ({ id, filename })),
    components: item.question === undefined ? [] : (buttonsFor(item.question) ?? []),
  };
}

/** Under the same key, Discord answers with the message that stands there already. */
export function draftBody(content: string, hints: Hints, key: string): Sent {
  const once = { nonce: nonceOf(key), enforce_nonce: true };
  return { content, ...once, allowed_mentions: { parse: [] }, ...noPreview, ...replyTo(hints) };
}

export function fillBody(content: string): object {
  return { content, allowed_mentions: quiet, ...noPreview };
}

function replyTo(hints: Hints | undefined): Pick<Sent, "message_reference"> {
  const reply = hints?.["reply"];
  return typeof reply === "string" ? { message_reference: { message_id: reply, fail_if_not_exists: false } } : {};
}

function componentsOf({ question }: OutboxItem): Pick<Sent, "components"> {
  const rows = question === undefined ? null : buttonsFor(question);
  return rows === null ? {} : { components: rows as unknown as NonNullable<Sent["components"]> };
}

/** May have arrived so long ago that its key is forgotten: the channel must be looked through before it is sent again. */
export function mustLook({ now, createdAt }: OutboxItem, at: number): boolean {
  return now.state === "sending" && (now.doubts ?? 0) + (now.cuts ?? 0) > 0 && isForgotten(createdAt, at);
}

/** Whether Discord may have forgotten a key that was used this long ago. */
export function isForgotten(since: number, at: number): boolean {
  return at - since > keyKnownMs;
}

/** Where to look from. */
export function lookFrom({ createdAt }: Pick<OutboxItem, "createdAt">): string {
  return idAt(createdAt - skewMs);
}

/** What a message must hold to be that item. */
export type Sought = { readonly content: string; readonly uploads: readonly Upload[] };

/** What is looked for: an item, or a draft by its key. */
type Once = Pick<OutboxItem, "createdAt"> & { readonly id: string };

/** Whether this message is that item: ours, not older than it, with the same words and the same files. */
export function isIt(message: APIMessage, item: Once, me: string, { content, uploads }: Sought): boolean {
  return (
    message.author.id === me &&
    timeOf(message.id) >= item.createdAt - skewMs &&
    isNobodyElses(message, item) &&
    message.content.trim() === content.trim() &&
    message.attachments.length === uploads.length &&
    uploads.every((one, n) => isFile(message.attachments[n], one))
  );
}

/** Discord rarely shows the key of what was sent; where it does, it decides. */
function isNobodyElses({ nonce }: APIMessage, { id }: Once): boolean {
  return typeof nonce !== "string" || nonce === nonceOf(id);
}

/** Whether this message is an empty draft that answers the same message. */
export function isDraft(message: APIMessage, draft: Once, me: string, hints: Hints): boolean {
  const answers = message.message_reference?.message_id;
  return (
    isIt(message, draft, me, { content: placeholder, uploads: [] }) &&
    (message.edited_timestamp ?? null) === null &&
    (answers === undefined || answers === hints["reply"])
  );
}

/** Discord keeps the order of files and their content. */
function isFile(shown: APIAttachment | undefined, sent: Upload): boolean {
  return shown !== undefined && isNamed(shown, sent.name) && isSized(shown.size, sent);
}

/** Photographs alone lose what the camera noted in them, and become smaller. */
function isSized(size: number, { data }: Upload): boolean {
  return size === data.byteLength || (size < data.byteLength && isNoted(data));
}

/** The beginning of every JPEG, and of a note of the camera inside of it. */
const jpeg = Buffer.from([0xff, 0xd8, 0xff]);
const note = Buffer.from([0xff, 0xe1]);
const notesWithin = 65_536;

function isNoted(data: Uint8Array): boolean {
  const head = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, notesWithin));
  return head.subarray(0, jpeg.length).equals(jpeg) && head.includes(note);
}

/**
 * Of a name Discord keeps plain letters, digits and a few marks. Of other scripts it may keep nothing and make up a name; then
 * the one that was given is the title. Where it says nothing of that, the file is known by its size.
 */
function isNamed({ filename, title: told }: APIAttachment, name: string): boolean {
  const title = told ?? "";
  const given = [name, name.replace(/\.[^.]*$/, "")].map(lettersOf);
  const shown = [filename, title].map(lettersOf).filter((one) => one !== "");
  const isKept = /^[ -~]*$/.test(name) && lettersOf(name) !== "";
  return shown.some((one) => given.includes(one)) || (!isKept && lettersOf(title) === "");
}

/** Very long names are cut. */
const namedMax = 60;

function lettersOf(name: string): string {
  return name
    .normalize("NFKD")
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .slice(0, namedMax);
}
