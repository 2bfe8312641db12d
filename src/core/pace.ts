// How fast one account may send, decided from when it sent last: by the second over all, by a pause within a chat, by the
// minute where several people write. What must arrive waits; a preview is dropped, and leaves half of everything to the
// rest, so that an answer never waits for the previews before it.

import { type Instant, later } from "./ids.ts";
import type { LearnedPace } from "./learned-pace.ts";

export type PaceRule = {
  readonly perSecond: number;
  readonly chatEveryMs: number;
  readonly chatBurst?: number;
  readonly perGroupMinute?: number;
  readonly editsPerMinute?: number;
  /** What the account learned from refusals. */
  readonly learned?: LearnedPace;
};

/** What is known of an account, or of one chat of it. */
export type Sent = {
  /** When requests were answered, oldest first: nobody knows when the platform counted them, but not later. */
  readonly sent: readonly Instant[];
  /** When those left that are not answered; `notYet` for what is let through and has not left. */
  readonly held: readonly number[];
  readonly restsUntil: Instant;
  /** When the pauses of everything that was sent in a chat are over. */
  readonly paidAt: number;
};

export const nothingSent: Sent = { sent: [], held: [], restsUntil: 0 as Instant, paidAt: 0 };
export const notYet = Number.POSITIVE_INFINITY;

export type PaceRequest = {
  readonly kind: "final" | "preview";
  readonly isGroup: boolean;
  /** It changes a message, or makes one that will be changed: a message that is placed owes an edit. */
  readonly isEdit?: boolean;
  readonly at: Instant;
};

export type PaceVerdict =
  | { readonly type: "now" }
  /** `all`: nobody else on the account may go earlier. An answer to what is held may bring it forward. */
  | { readonly type: "wait"; readonly until: Instant; readonly all: boolean }
  | { readonly type: "drop" };

const secondMs = 1_000;
const minuteMs = 60_000;
/** The part of a budget that previews may use up. */
const previewShare = 0.5;
/** Who has no answer after this long was counted by then, or never will be. */
const heldMaxMs = 5_000;

/** `rule` is null where nobody counts; then only what the platform asked for is kept. */
export function decidePace(
  rule: PaceRule | null,
  account: Sent,
  chat: Sent,
  request: PaceRequest,
  edits: Sent = nothingSent,
): PaceVerdict {
  const { kind, isGroup, isEdit = false, at } = request;
  const share = kind === "preview" ? previewShare : 1;
  const whole = rule === null ? at : roomAt(account, overall(rule), share, at);
  const taught = rule?.learned === undefined ? at : learnedRoomAt(rule.learned, account, share, at);
  const all = Math.max(account.restsUntil, whole, taught);
  const pause = rule === null || rule.chatEveryMs === 0 ? at : chatRoomAt(rule, chat, kind, at);
  const minute = rule === null || !isGroup ? at : roomAt(chat, inGroup(rule), share, at);
  const edit = rule === null || !isEdit ? at : roomAt(edits, ofEdits(rule), share, at);
  const own = Math.max(chat.restsUntil, pause, minute, edit);
  if (Math.max(all, own) <= at) return { type: "now" };
  if (kind === "preview") return { type: "drop" };
  return { type: "wait", until: Math.max(all, own) as Instant, all: all > at };
}

/** At most `count` within any `ms`. */
type Window = { readonly count: number; readonly ms: number };

/** Less than one a second is one in a longer time. */
function overall({ perSecond }: PaceRule): Window {
  const count = Math.max(1, Math.floor(perSecond));
  return { count, ms: Math.ceil((count * secondMs) / perSecond) };
}

/**
 * A burst may go before its pauses are over, and one more with each pause. Previews leave the last place of a burst to the
 * answer. What is held counts as of now.
 */
function chatRoomAt(rule: PaceRule, { paidAt, held }: Sent, kind: PaceRequest["kind"], at: Instant): number {
  const { chatEveryMs, chatBurst = 1 } = rule;
  const paid = held.reduce((until, left) => Math.max(until, Math.min(at, left + heldMaxMs)) + chatEveryMs, paidAt);
  const ahead = Math.max(0, chatBurst - (kind === "preview" ? 2 : 1));
  return paid - ahead * chatEveryMs;
}

/** As within a chat, over the whole account. Previews leave their share of a burst to the answers. */
function learnedRoomAt({ everyMs, burst }: LearnedPace, { paidAt, held }: Sent, share: number, at: Instant): number {
  const paid = held.reduce((until, left) => Math.max(until, Math.min(at, left + heldMaxMs)) + everyMs, paidAt);
  return paid - (Math.ceil(burst * share) - 1) * everyMs;
}

function inGroup({ perGroupMinute = Number.POSITIVE_INFINITY }: PaceRule): Window {
  return { count: perGroupMinute, ms: minuteMs };
}

function ofEdits({ editsPerMinute = Number.POSITIVE_INFINITY }: PaceRule): Window {
  return { count: editsPerMinute, ms: minuteMs };
}

/** When there is room for one more: as soon as enough of the others have left the window. What is held counts as of now. */
function roomAt({ sent, held }: Sent, { count, ms }: Window, share: number, at: Instant): number {
  if (count === Number.POSITIVE_INFINITY) return 0;
  const counted = held.map((left) => Math.min(at, left + heldMaxMs));
  const all = held.length === 0 ? sent : [...sent, ...counted].toSorted((a, b) => a - b);
  const last = all.at(-Math.max(1, Math.floor(count * share)));
  return last === undefined ? 0 : last + ms;
}

/** One is let through; it leaves when it is stored, or at once. */
export function letThrough(before: Sent, leaves: number): Sent {
  return { ...before, held: [...before.held, leaves] };
}

/** What was let through at a moment really leaves at another. */
export function leftNow(before: Sent, leaves: number, at: Instant): Sent {
  return { ...before, held: without(before.held, leaves).concat(at) };
}

/** What left then is answered; null when it never left. `everyMs` is the pause that it costs. */
export function answeredAt(
  rule: PaceRule,
  before: Sent,
  left: number,
  at: Instant | null,
  everyMs = rule.chatEveryMs,
): Sent {
  const held = without(before.held, left);
  if (at === null) return { ...before, held };
  const { perGroupMinute = 1, editsPerMinute = 1 } = rule;
  const most = Math.max(overall(rule).count, perGroupMinute, editsPerMinute);
  const paidAt = Math.max(before.paidAt, at) + everyMs;
  return { ...before, held, sent: [...before.sent, at].slice(-most), paidAt };
}

function without(list: readonly number[], one: number): readonly number[] {
  const place = list.indexOf(one);
  return place === -1 ? list : list.toSpliced(place, 1);
}

/** Nothing is left of a burst: after the pause there is room for one. */
export function exhausted(before: Sent, { everyMs, burst }: LearnedPace, freeAt: Instant): Sent {
  return { ...before, paidAt: Math.max(before.paidAt, freeAt + (burst - 1) * everyMs) };
}

/** The platform asked for a pause. */
export function rested(before: Sent, at: Instant, afterMs: number): Sent {
  return { ...before, restsUntil: Math.max(before.restsUntil, later(at, afterMs)) as Instant };
}

/** Nothing of it matters any more. */
export function isForgotten({ sent, held, restsUntil, paidAt }: Sent, at: Instant): boolean {
  const last = sent.at(-1) ?? 0;
  return held.length === 0 && restsUntil <= at && paidAt <= at && last + minuteMs <= at;
}
