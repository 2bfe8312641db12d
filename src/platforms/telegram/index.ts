// Telegram, as a bot. Updates are confirmed after they are stored; answers grow inside a message and are finished by an
// edit, which may be repeated, so a kill doubles none of them. What is sent without such a draft has no key: it arrives at
// least once.

import type { Update } from "grammy/types";
import { sentenceOf } from "../../core/fault.ts";
import { commands } from "../../core/route.ts";
import type { Routes } from "../../ports/http.ts";
import {
  type Inlet,
  type Pace,
  type Platform,
  type Receipt,
  type Surroundings,
  previewsFor,
} from "../../ports/platform.ts";
import { partsOf } from "./albums.ts";
import { type Bot, type Settings, type Signal, accountOf, openBot, theirs } from "./api.ts";
import { faultOf } from "./faults.ts";
import { withFiles } from "./files.ts";
import { type Parcel, type Press, read, readParts } from "./inbound.ts";
import { parts } from "./markup.ts";
import { outbound } from "./outbound.ts";
import { type Storing, poll } from "./poll.ts";
import { webhook } from "./webhook.ts";
import type { Me } from "./words.ts";

export type { Settings } from "./api.ts";

export type Telegram = { readonly platform: Platform; readonly routes?: Routes };

/** What Telegram's own documents say a bot may send. */
const pace: Pace = {
  // About 30 are let through; what leaves evenly arrives in bunches.
  perSecond: 25,
  chatEveryMs: 1_000,
  chatBurst: 3,
  perGroupMinute: 20,
  // Only people have positive ids.
  isGroup: ({ chat }) => chat.startsWith("-"),
};
const draftEveryMs = 1_500;
const takenMark = "👀";

export function telegram(settings: Settings, around: Surroundings): Telegram {
  const { world } = around;
  const bot = openBot(settings);
  const account = accountOf(settings.token);
  const out = outbound(bot, around.blobs, () => world.now());
  const hook = settings.webhook === undefined ? null : webhook(bot, world, { ...settings, webhook: settings.webhook });
  /** Aborted when the gateway stops listening; what is done beside the messages ends with it. */
  let listening = new AbortController().signal;
  /** Courtesies: a failure is logged and has no other effect. */
  const quietly = (what: string, work: (signal: Signal) => Promise<unknown>): void =>
    void work(theirs(listening)).catch((error: unknown) =>
      world.log("debug", `Telegram: ${what} failed`, { why: sentenceOf(error) }),
    );

  async function listen(inlet: Inlet, from: string | null, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    listening = signal;
    const me = await whoAmI(bot, signal);
    if (me === null) return;
    quietly("registering commands", (until) => register(bot, until));
    const take = (updates: readonly Update[], storing: Storing, until: AbortSignal): Promise<void> =>
      untilAborted(takeUpdates(me, inlet, updates, storing, until), until);
    if (hook !== null) return hook.listen(inlet, (updates) => take(updates, (put) => put(null), signal), signal);
    return poll({ bot, world, inlet, take }, from, signal);
  }

  async function takeUpdates(
    me: Me,
    inlet: Inlet,
    updates: readonly Update[],
    storing: Storing,
    signal: AbortSignal,
  ): Promise<void> {
    const [only] = updates;
    const found =
      updates.length === 1 && only !== undefined ? read(only, account, me) : readParts(partsOf(updates), account, me);
    if (found?.type === "idle") quietly("answering a button", (until) => answerPress(bot, found.press, "", until));
    if (found?.type !== "parcel") return storing(async (cursor) => (cursor === null ? undefined : inlet.moved(cursor)));
    const { parcel } = found;
    // Whatever strangers send along is not for our disk.
    const isWanted = parcel.files.length === 0 || (await inlet.hears(parcel.message));
    const message = isWanted ? await withFiles(bot, around, parcel, signal) : parcel.message;
    signal.throwIfAborted();
    thank(parcel, await storing((cursor) => inlet.accept(message, cursor)));
  }

  /** After it is stored: what the person sees of it. */
  function thank({ message, press }: Parcel, receipt: Receipt): void {
    if (press !== undefined) quietly("answering a button", (until) => showChoice(bot, press, receipt, until));
    const { anchor, from } = message;
    if (press === undefined && settings.receipts && receipt === "accepted" && anchor !== undefined)
      quietly("marking a message", (until) => mark(bot, from.chat, anchor, until));
  }

  const platform: Platform = {
    name: "telegram",
    account,
    can: { keyedSend: false, ...previewsFor(settings.streaming, draftEveryMs), pace, isFar: true },
    parts,
    listen,
    send: out.send,
    draft: () => undefined,
    ...(settings.streaming === false ? {} : { drafts: out.drafts }),
    typing: (to, hints) => quietly("showing that we type", (until) => out.typing(to, hints, until)),
    ping: async (signal) => void (await whoAmI(bot, signal)),
    probe: (signal) => probe(bot, signal),
  };
  return hook === null ? { platform } : { platform, routes: hook.routes };
}

/** Ends with the signal, whatever becomes of the work; then nobody may say that it is stored. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new Error("the gateway stops"));
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

/** Null when the signal was faster. */
async function whoAmI(bot: Bot, signal: AbortSignal): Promise<Me | null> {
  try {
    const { id, username } = await (await bot.raw()).getMe(theirs(signal));
    return { id, username };
  } catch (error) {
    if (signal.aborted) return null;
    throw faultOf(error);
  }
}

async function register(bot: Bot, signal: Signal): Promise<void> {
  const raw = await bot.raw();
  const all = Object.entries(commands).map(([command, description]) => ({ command, description }));
  await raw.setMyCommands({ commands: all }, signal);
}

/** Of what was pressed only the choice stays, so that nobody presses it again. */
async function showChoice(bot: Bot, press: Press, receipt: Receipt, signal: Signal): Promise<void> {
  await answerPress(bot, press.id, receipt === "ignored" ? "This answer does not count." : "", signal);
  // Of one that came before it is not known whether it counted.
  if (receipt !== "accepted") return;
  const raw = await bot.raw();
  const rows = [[{ text: `✓ ${press.choice}`, callback_data: "-" }]];
  const message = { chat_id: press.chat, message_id: press.message };
  await raw.editMessageReplyMarkup({ ...message, reply_markup: { inline_keyboard: rows } }, signal);
}

async function answerPress(bot: Bot, id: string, text: string, signal: Signal): Promise<void> {
  const raw = await bot.raw();
  await raw.answerCallbackQuery({ callback_query_id: id, ...(text === "" ? {} : { text }) }, signal);
}

async function mark(bot: Bot, chat: string, message: string, signal: Signal): Promise<void> {
  const raw = await bot.raw();
  const reaction = [{ type: "emoji", emoji: takenMark } as const];
  await raw.setMessageReaction({ chat_id: chat, message_id: Number(message), reaction }, signal);
}

async function probe(bot: Bot, signal: AbortSignal): Promise<string> {
  try {
    const raw = await bot.raw();
    const { username } = await raw.getMe(theirs(signal));
    const { url, pending_update_count: waiting, last_error_message: wrong } = await raw.getWebhookInfo(theirs(signal));
    const messages = waiting === 1 ? "1 update waits" : `${waiting} updates wait`;
    const brought = url
      ? `; Telegram brings updates to ${url}${wrong === undefined ? "" : `, which failed: ${wrong}`}`
      : "";
    return `Telegram knows this bot as @${username}; ${messages} to be fetched${brought}.`;
  } catch (error) {
    throw faultOf(error);
  }
}
