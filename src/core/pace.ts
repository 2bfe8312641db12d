// How fast one account may send, decided from when it sent last: by the second over all, by a pause within a chat, by the
// minute where several people write. What must arrive waits; a preview is dropped, and leaves half of everything to the
// rest, so that an answer never waits for the previews before it.

import { type Instant, later } from "./ids.ts";

export type PaceRule = {
  readonly perSecond: number;
  readonly chatEveryMs: number;
  readonly perGroupMinute?: number;
};

/** What is known of an account, or of one chat of it: when it was sent to, oldest first, and until when it must rest. */
export type Sent = { readonly sent: readonly Instant[]; readonly restsUntil: Instant };

export const nothingSent: Sent = { sent: [], restsUntil: 0 as Instant };

export type PaceRequest = { readonly kind: "final" | "preview"; readonly isGroup: boolean; readonly at: Instant };

export type PaceVerdict =
  | { readonly type: "now" }
  /** `all`: nobody else on the account may go earlier. */
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
  const whole = rule === null ? at : roomAt(account.sent, overall(rule), share);
  const all = Math.max(account.restsUntil, whole);
  const pause = rule === null ? at : (chat.sent.at(-1) ?? -rule.chatEveryMs) + rule.chatEveryMs;
  const minute = rule === null || !isGroup ? at : roomAt(chat.sent, inGroup(rule), share);
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

/** When there is room for one more: as soon as all but `count - 1` have left the window. */
function roomAt(sent: readonly Instant[], { count, ms }: Window, share: number): number {
  const last = sent.at(-Math.max(1, Math.floor(count * share)));
  return last === undefined || count === Number.POSITIVE_INFINITY ? 0 : last + ms;
}

/** One more was sent; what no rule asks for any more is forgotten. */
export function notedSent(rule: PaceRule | null, before: Sent, at: Instant): Sent {
  if (rule === null) return before;
  const most = Math.max(overall(rule).count, rule.perGroupMinute ?? 1);
  return { ...before, sent: [...before.sent, at].slice(-most) };
}

/** What was let through at a moment really left later. */
export function leftLater(before: Sent, admitted: Instant, at: Instant): Sent {
  const place = before.sent.indexOf(admitted);
  return place === -1 ? before : { ...before, sent: [...before.sent.toSpliced(place, 1), at] };
}

/** The platform asked for a pause. */
export function rested(before: Sent, at: Instant, afterMs: number): Sent {
  return { ...before, restsUntil: Math.max(before.restsUntil, later(at, afterMs)) as Instant };
}

/** Nothing of it matters any more. */
export function isForgotten(rule: PaceRule | null, { sent, restsUntil }: Sent, at: Instant): boolean {
  const last = sent.at(-1) ?? 0;
  return restsUntil <= at && last + Math.max(minuteMs, rule?.chatEveryMs ?? 0) <= at;
}
