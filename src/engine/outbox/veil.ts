// The one place where known secrets are taken out of what leaves: whatever is written, it is clean in the store and clean on
// its way to a platform. Who writes need not think of it. What people said themselves is kept as they said it.

import type { Change } from "../../core/change.ts";
import type { Hide } from "../../core/hide.ts";
import type { NewMessage, Question } from "../../core/message.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import type { DraftMessages, Platform } from "../../ports/platform.ts";

/** What is about to be stored of what we say. The same list when nothing had to be hidden. */
export function veilChanges(changes: readonly Change[], hide: Hide): readonly Change[] {
  let isSame = true;
  const veiled = changes.map((change): Change => {
    const clean = veilChange(change, hide);
    if (clean !== change) isSame = false;
    return clean;
  });
  return isSame ? changes : veiled;
}

function veilChange(change: Change, hide: Hide): Change {
  if (!("put" in change)) return change;
  if (change.put === "item") {
    const item = veilItem(change.item, hide);
    return item === change.item ? change : { ...change, item };
  }
  if (change.put !== "message" || change.message.role === "user") return change;
  const message = veilWords(change.message, hide);
  return message === change.message ? change : { ...change, message };
}

function veilItem(item: OutboxItem, hide: Hide): OutboxItem {
  return veilWords(item, hide);
}

/** Text and choices; the same object when they are clean. */
function veilWords<T extends OutboxItem | NewMessage>(words: T, hide: Hide): T {
  const text = hide(words.text);
  const question = words.question === undefined ? undefined : veilQuestion(words.question, hide);
  if (text === words.text && question === words.question) return words;
  return { ...words, text, ...(question === undefined ? {} : { question }) };
}

function veilQuestion(question: Question, hide: Hide): Question {
  const choices = question.choices.map(hide);
  return choices.every((choice, i) => choice === question.choices[i]) ? question : { ...question, choices };
}

/** Every member is named, so that a new one cannot be forgotten. */
type Members = { readonly [Name in keyof Required<Platform>]: Platform[Name] | undefined };

/** The same platform, which is never given a secret, and whose complaints hold none. */
export function veilPlatform(platform: Platform, hide: Hide): Platform {
  const { name, account, can, drafts, typing, ping, probe, notice } = platform;
  const members: Members = {
    name,
    account,
    can,
    // Before it is cut: half a secret in each of two parts would be found by nobody.
    parts: (text) => platform.parts(hide(text)),
    listen: (inlet, from, signal) => platform.listen(inlet, from, signal),
    send: async (item, signal, confirm) => veilResult(await platform.send(veilItem(item, hide), signal, confirm), hide),
    draft: (to, text) => platform.draft(to, text === null ? null : hide(text)),
    drafts: drafts === undefined ? undefined : veilDrafts(drafts, hide),
    typing: typing === undefined ? undefined : (to, hints) => platform.typing?.(to, hints),
    ping: ping === undefined ? undefined : async (signal) => platform.ping?.(signal),
    probe: probe === undefined ? undefined : async (signal) => hide((await platform.probe?.(signal)) ?? ""),
    notice: notice === undefined ? undefined : () => platform.notice?.() ?? null,
  };
  return Object.fromEntries(
    Object.entries(members).filter(([, member]) => member !== undefined),
  ) as unknown as Platform;
}

function veilDrafts(drafts: DraftMessages, hide: Hide): DraftMessages {
  return {
    ...(drafts.isKeyed === true ? { isKeyed: true } : {}),
    place: async (...given) => veilResult(await drafts.place(...given), hide),
    fill: async (to, id, text, signal) => veilResult(await drafts.fill(to, id, hide(text), signal), hide),
    remove: async (...given) => veilResult(await drafts.remove(...given), hide),
  };
}

function veilResult(result: SendResult, hide: Hide): SendResult {
  return "why" in result ? { ...result, why: hide(result.why) } : result;
}
