// The way out. What an item becomes is decided first, as a list of steps, then done one by one. Each step is one visible
// message, and its receipt is stored before the next one leaves, so that a repeat goes on where it stopped; what finishes a
// draft is an edit and may be repeated at any time.

import type { InlineKeyboardMarkup } from "grammy/types";
import { sentenceOf } from "../../core/fault.ts";
import type { Address, FileRef, Hints, Question } from "../../core/message.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Confirm, DraftMessages } from "../../ports/platform.ts";
import { type Bot, type Raw, type Signal, theirs } from "./api.ts";
import { type Verdict, judge } from "./faults.ts";
import { type FileKind, kindOf } from "./files.ts";
import { pressData } from "./inbound.ts";
import { beginning, captionMax, sizeOf, textMax, toHtml, visible } from "./markup.ts";
import { type Place, placesFor } from "./place.ts";

export type Step =
  | { readonly type: "text"; readonly text: string }
  /** The whole answer as a file, with its beginning below it. */
  | { readonly type: "answer"; readonly text: string }
  | { readonly type: "file"; readonly file: FileRef; readonly text: string };

/** Words and one file are one message where they fit; a file alone needs no words. */
export function stepsFor({ text, files, edits, question }: OutboxItem): readonly Step[] {
  const size = sizeOf(text);
  const bare = files.map((file): Step => ({ type: "file", file, text: "" }));
  if (text.trim() === "" && files.length > 0 && edits === undefined) return bare;
  if (size > textMax) return [{ type: "answer", text }, ...bare];
  const [only] = files;
  const isOne = only !== undefined && files.length === 1 && size <= captionMax;
  if (isOne && edits === undefined && question === undefined) return [{ type: "file", file: only, text }];
  return [{ type: "text", text: size === 0 ? text.trim() || "…" : text }, ...bare];
}

/** One button a row. Null where a button cannot carry the question; then its choices are numbered in the text. */
export function keyboardOf(question: Question | undefined): InlineKeyboardMarkup | null {
  if (question === undefined || question.choices.length === 0) return null;
  const rows = question.choices.map((text, n) => ({ text, callback_data: pressData(question.id, n) }));
  const usable = rows.flatMap(({ text, callback_data }) => (callback_data === null ? [] : [[{ text, callback_data }]]));
  return usable.length === rows.length ? { inline_keyboard: usable } : null;
}

export interface Outbound {
  send(item: OutboxItem, signal: AbortSignal, confirm?: Confirm): Promise<SendResult>;
  readonly drafts: DraftMessages;
  typing(to: Address, hints: Hints, signal: Signal): Promise<void>;
}

/** What a call with words needs. */
type Words = { readonly text: string; readonly parse_mode?: "HTML" };
type Target = Pick<OutboxItem, "to" | "hints" | "part">;
type Job = {
  readonly raw: Raw;
  readonly item: OutboxItem;
  readonly signal: Signal;
  readonly isFirst: boolean;
};

const accepted = (id: string | number): SendResult => ({ type: "accepted", remoteId: String(id) });
const noPreview = { link_preview_options: { is_disabled: true } } as const;
/** What stands in a draft before there is anything to say. */
const emptyDraft = "…";
/** Shorter waits are hiccups of the network. */
const restMinMs = 1_000;

export function outbound(bot: Bot, blobs: Blobs, now: () => number): Outbound {
  /** Groups that have another id now. */
  const moved = new Map<string, string>();
  /** The chat that was told to wait last. Telegram does not say whether it means the chat or all of us. */
  let resting = { chat: "", until: 0 };

  async function send(item: OutboxItem, signal: AbortSignal, confirm?: Confirm): Promise<SendResult> {
    if (signal.aborted) return { type: "retry", afterMs: 1_000, why: "its time was over before it began" };
    const raw = await bot.raw();
    const ids = [...(item.now.state === "sending" ? (item.now.sent ?? []) : [])];
    const steps = stepsFor(item);
    for (const [n, step] of steps.entries()) {
      if (ids[n] !== undefined) continue;
      const result = await perform({ raw, item, signal: theirs(signal), isFirst: n === 0 }, step);
      if (result.type !== "accepted") return result;
      ids.push(result.remoteId);
      if (n < steps.length - 1) await confirm?.(result.remoteId);
    }
    return accepted(ids[0] ?? item.id);
  }

  function perform(job: Job, step: Step): Promise<SendResult> {
    switch (step.type) {
      case "text":
        return say(job, step.text);
      case "answer":
        return sendAnswer(job, step.text);
      case "file":
        return sendFile(job, step.file, step.text);
    }
  }

  /** Calls until a place is taken; only after refusals, which prove that nothing arrived. */
  async function inPlace(
    { item, isFirst }: { readonly item: Target; readonly isFirst: boolean },
    call: (place: Place) => Promise<{ readonly message_id: number }>,
  ): Promise<Verdict> {
    const to = { ...item.to, chat: moved.get(item.to.chat) ?? item.to.chat };
    const places = placesFor(to, item.hints, isFirst && item.part === 0);
    let verdict = await attempt(() => call(places[0] ?? { chat_id: to.chat }));
    if (verdict.movedTo !== undefined && to.chat === item.to.chat) {
      moved.set(item.to.chat, String(verdict.movedTo));
      return inPlace({ item, isFirst }, call);
    }
    for (const place of places.slice(1)) {
      if (verdict.cure !== "place") break;
      verdict = await attempt(() => call(place));
    }
    return { ...verdict, result: restOf(item.to.chat, verdict.result) };
  }

  /** When another chat is told to wait while one does, all of us are meant. */
  function restOf(chat: string, result: SendResult): SendResult {
    if (result.type !== "retry" || result.afterMs <= restMinMs) return result;
    const isAll = resting.chat !== chat && resting.until > now();
    resting = { chat, until: now() + result.afterMs };
    return isAll ? { ...result, all: true } : result;
  }

  /** HTML first; what Telegram cannot read of it is sent as plain words. */
  async function inWords(text: string, call: (words: Words) => Promise<Verdict>): Promise<Verdict> {
    const html = toHtml(text);
    const verdict = await call({ text: html, parse_mode: "HTML" });
    return verdict.cure === "markup" ? call({ text: visible(html) }) : verdict;
  }

  async function say(job: Job, text: string): Promise<SendResult> {
    const { raw, item, signal } = job;
    const keyboard = keyboardOf(item.question);
    const words = keyboard === null ? withChoices(text, item.question) : text;
    const buttons = keyboard === null ? {} : { reply_markup: keyboard };
    if (item.edits !== undefined && job.isFirst) {
      const finished = await finish(raw, item.to, item.edits, words, buttons, signal);
      if (finished !== null) return finished;
    }
    const { result, cure } = await inWords(words, (said) =>
      inPlace(job, (place) => raw.sendMessage({ ...place, ...said, ...noPreview, ...buttons }, signal)),
    );
    return cure === "long" ? sendAnswer(job, text) : result;
  }

  /** Null when that message cannot be edited, whatever the reason: it is said anew, which tells whether it can be. */
  async function finish(
    raw: Raw,
    to: Address,
    id: string,
    text: string,
    buttons: { readonly reply_markup?: InlineKeyboardMarkup },
    signal: Signal,
  ): Promise<SendResult | null> {
    const at = { chat_id: moved.get(to.chat) ?? to.chat, message_id: Number(id) };
    const { result, cure } = await inWords(text, (said) =>
      attempt(async () => {
        await raw.editMessageText({ ...at, ...said, ...noPreview, ...buttons }, signal);
        return at;
      }, true),
    );
    if (cure === "same") return accepted(id);
    return result.type === "refused" ? null : result;
  }

  /** A draft is turned into the file, so that also this can be repeated. */
  async function sendAnswer(job: Job, text: string): Promise<SendResult> {
    const { raw, item, signal, isFirst } = job;
    const file = await bot.upload(Buffer.from(text), "answer.md");
    const { edits } = item;
    const { result } = await inWords(`${beginning(text, captionMax - 2)}\n…`, async ({ text: caption, ...mode }) => {
      const below = { caption, ...mode };
      if (edits !== undefined && isFirst) {
        const at = { chat_id: moved.get(item.to.chat) ?? item.to.chat, message_id: Number(edits) };
        const media = { type: "document", media: file, ...below } as const;
        const edited = await attempt(() => raw.editMessageMedia({ ...at, media }, signal).then(() => at), true);
        if (edited.cure === "same") return { result: accepted(edits) };
        if (edited.result.type !== "refused" || edited.cure === "markup") return edited;
      }
      return inPlace(job, (place) => raw.sendDocument({ ...place, document: file, ...below }, signal));
    });
    return result;
  }

  /** A file that is refused is said in words, with the words that came with it. */
  async function sendFile(job: Job, file: FileRef, text: string): Promise<SendResult> {
    let content: Uint8Array;
    try {
      content = await blobs.read(file.blob);
    } catch (error) {
      return say(job, without(file, text, sentenceOf(error)));
    }
    const kinds: readonly FileKind[] = [...new Set([kindOf(file), "document"] as const)];
    let why = "";
    for (const kind of kinds) {
      const { result } = await inWords(text, (said) => upload(job, kind, content, file.name, said));
      if (result.type !== "refused") return result;
      why = result.why;
    }
    return say(job, without(file, text, why));
  }

  async function upload(job: Job, kind: FileKind, content: Uint8Array, name: string, said: Words): Promise<Verdict> {
    const { raw, signal } = job;
    const file = await bot.upload(content, name);
    const { text, ...mode } = said;
    const below = text === "" ? {} : { caption: text, ...mode };
    return inPlace(job, (place) => {
      if (kind === "photo") return raw.sendPhoto({ ...place, photo: file, ...below }, signal);
      if (kind === "voice") return raw.sendVoice({ ...place, voice: file, ...below }, signal);
      return raw.sendDocument({ ...place, document: file, ...below }, signal);
    });
  }

  const drafts: DraftMessages = {
    async place(to, hints, signal) {
      const raw = await bot.raw();
      const { result } = await inPlace({ item: { to, hints, part: 0 }, isFirst: true }, (place) =>
        raw.sendMessage({ ...place, text: emptyDraft, disable_notification: true }, theirs(signal)),
      );
      return result;
    },
    async fill(to, id, text, signal) {
      const shown = beginning(text, textMax);
      const filled = await finish(await bot.raw(), to, id, shown.trim() || emptyDraft, {}, theirs(signal));
      return filled ?? { type: "refused", why: "the draft is not there any more" };
    },
    async remove(to, id, signal) {
      const raw = await bot.raw();
      const at = { chat_id: moved.get(to.chat) ?? to.chat, message_id: Number(id) };
      const { result, cure } = await attempt(async () => {
        await raw.deleteMessage(at, theirs(signal));
        return at;
      }, true);
      return cure === "gone" ? accepted(id) : result;
    },
  };

  async function typing(to: Address, hints: Hints, signal: Signal): Promise<void> {
    const [place] = placesFor(to, hints, false);
    const thread = place?.message_thread_id === undefined ? {} : { message_thread_id: place.message_thread_id };
    const raw = await bot.raw();
    await raw.sendChatAction({ chat_id: moved.get(to.chat) ?? to.chat, action: "typing", ...thread }, signal);
  }

  return { send, drafts, typing };
}

async function attempt(call: () => Promise<{ readonly message_id: number }>, repeatable = false): Promise<Verdict> {
  try {
    return { result: accepted((await call()).message_id) };
  } catch (error) {
    return judge(error, repeatable);
  }
}

function without(file: FileRef, text: string, why: string): string {
  const words = `(The file ${file.name} could not be sent. ${why})`;
  return text === "" ? words : `${text}\n\n${words}`;
}

function withChoices(text: string, question: Question | undefined): string {
  if (question === undefined || question.choices.length === 0) return text;
  return `${text}\n\n${question.choices.map((choice, n) => `${n + 1}. ${choice}`).join("\n")}`;
}
