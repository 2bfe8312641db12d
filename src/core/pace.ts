// How fast one account may send, decided from when it sent last: by the second over all, by a pause within a chat, by the
// minute where several people write. What must arrive waits; a preview is dropped, and leaves half of everything to the
// rest, so that an answer never waits for the previews before it.

import { type Instant, later } from "./ids.ts";

export type PaceRule = {
  readonly perSecond: number;
  readonly chatEveryMs: number;
  readonly perGroupMinute?: number;
};

/** What is known of an account, or of one chat of it. */
export type Sent = {
  /** When requests left, oldest first. */
  readonly sent: readonly Instant[];
  /** Let through and not yet gone: each counts as if it left at this very moment, however long that takes. */
  readonly held: number;
  readonly restsUntil: Instant;
};

export const nothingSent: Sent = { sent: [], held: 0, restsUntil: 0 as Instant };

export type PaceRequest = { readonly kind: "final" | "preview"; readonly isGroup: boolean; readonly at: Instant };

export type PaceVerdict =
  | { readonly type: "now" }
  /** `all`: nobody else on the account may go earlier. Without end: until something that is held has gone. */
  | { readonly type: "wait"; readonly until: Instant; readonly all: boolean }
  | { readonly type: "drop" };

const secondMs = 1_000;
const minuteMs = 60_000;
/** The part of a budget that previews may use up. */
const previewShare = 0.5;

/** `rule` is null where nobody counts; then only what the platform asked for is kept. */
export function decidePace(rule: PaceRule | null, account: Sent, chat: Sent, request: PaceRequest): PaceVerdict {
  const { kind, isGroup, at } = request;
  const share = kind === "preview" ? previewShare : 1;
  const whole = rule === null ? at : roomAt(account, overall(rule), share);
  const all = Math.max(account.restsUntil, whole);
  const pause = rule === null || rule.chatEveryMs === 0 ? at : roomAt(chat, { count: 1, ms: rule.chatEveryMs }, 1);
  const minute = rule === null || !isGroup ? at : roomAt(chat, inGroup(rule), share);
  const own = Math.max(chat.restsUntil, pause, minute);
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

function inGroup({ perGroupMinute = Number.POSITIVE_INFINITY }: PaceRule): Window {
  return { count: perGroupMinute, ms: minuteMs };
}

/** When there is room for one more: as soon as enough of the others have left the window. */
function roomAt({ sent, held }: Sent, { count, ms }: Window, share: number): number {
  if (count === Number.POSITIVE_INFINITY) return 0;
  const left = Math.max(1, Math.floor(count * share)) - held;
  if (left <= 0) return Number.POSITIVE_INFINITY;
  const last = sent.at(-left);
  return last === undefined ? 0 : last + ms;
}

/** One is let through, and goes when it is stored. */
export function letThrough(before: Sent): Sent {
  return { ...before, held: before.held + 1 };
}

/** What was let through goes now, or never. */
export function letGo(rule: PaceRule | null, before: Sent, at: Instant | null): Sent {
  const after = { ...before, held: before.held - 1 };
  return at === null ? after : notedSent(rule, after, at);
}

/** One more was sent; what no rule asks for any more is forgotten. */
export function notedSent(rule: PaceRule | null, before: Sent, at: Instant): Sent {
  if (rule === null) return before;
  const most = Math.max(overall(rule).count, rule.perGroupMinute ?? 1);
  return { ...before, sent: [...before.sent, at].slice(-most) };
}

/** The platform asked for a pause. */
export function rested(before: Sent, at: Instant, afterMs: number): Sent {
  return { ...before, restsUntil: Math.max(before.restsUntil, later(at, afterMs)) as Instant };
}

/** Nothing of it matters any more. */
export function isForgotten(rule: PaceRule | null, { sent, held, restsUntil }: Sent, at: Instant): boolean {
  const last = sent.at(-1) ?? 0;
  return held === 0 && restsUntil <= at && last + Math.max(minuteMs, rule?.chatEveryMs ?? 0) <= at;
}
