// Messages of a simulated platform that grow: placed, filled, finished by an edit, taken away. Requests are answered late,
// with a pause, without saying what happened, or never, like all others. An edit that is repeated changes nothing.

import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import { stoppedMark } from "../../core/running/stopped.ts";
import type { DraftMessages, PlaceKey } from "../../ports/platform.ts";
import type { Life } from "../life.ts";
import type { Dice } from "../time.ts";

/** What stands in a message before anything was written into it. */
export const placeholder = "…";

export type Grown = {
  readonly id: string;
  readonly chat: string;
  text: string;
  /** The item that finished it. */
  finishedBy: string | null;
  isRemoved: boolean;
  /** It could not be learned whether it was taken away or got its last words, or that was refused. */
  isKept: boolean;
};

export type Request = {
  readonly chat: string;
  readonly life: Life;
  readonly signal: AbortSignal;
  readonly kind: "send" | "preview" | "uncounted";
  readonly lagMs?: number;
  /** The item of the outbox, where it is one. */
  readonly item?: string;
};

/** `done` is called when the platform does it, if it does. */
export type Answering = (request: Request, done: () => SendResult) => Promise<SendResult>;

export type GrowingNews = {
  /** The turn that this message was noted with in the store; null when nobody has noted it. */
  readonly notedFor: (remoteId: string) => string | null;
  /** A frozen life may still do what it was about to do. */
  readonly isCurrent: (life: Life) => boolean;
  readonly onBreach: (what: string) => void;
};

export interface Growing {
  readonly messages: ReadonlyMap<string, Grown>;
  /** Something was neither finished nor taken away. */
  isLeft(): boolean;
  connect(life: Life): DraftMessages;
  /** Writes the end into a message; whether that was news to its readers. */
  finish(item: OutboxItem, remoteId: string): boolean;
}

/** `isKeyed`: a message that may have been placed is looked for by its key, and placed where it is not found. */
export function growing(
  name: string,
  isKeyed: boolean,
  chances: Dice,
  answering: Answering,
  news: GrowingNews,
): Growing {
  const messages = new Map<string, Grown>();
  const keys = new Map<string, { readonly id: string; readonly by: Life }>();

  /** As on Slack: the look comes first and the message a while later, so two at the same time place one each. */
  function placing(chat: string, { id: key, placedSince }: PlaceKey, life: Life): () => SendResult {
    const known = isKeyed && placedSince !== null ? keys.get(key) : undefined;
    return () => (known === undefined ? place(chat, key, life) : { type: "accepted", remoteId: known.id });
  }

  function place(chat: string, key: string, by: Life): SendResult {
    if (isKeyed && keys.get(key)?.by === by) news.onBreach(`two messages were placed under the key ${key}`);
    const id = `${name}-${messages.size + 1}`;
    keys.set(key, { id, by });
    const fresh = { finishedBy: null, isRemoved: false, isKept: false };
    messages.set(id, { id, chat, text: placeholder, ...fresh });
    return { type: "accepted", remoteId: id };
  }

  function fill(remoteId: string, text: string, life: Life): SendResult {
    const one = messages.get(remoteId);
    if (one === undefined || one.isRemoved) return { type: "refused", why: "there is no such message" };
    if (!news.isCurrent(life)) return { type: "accepted", remoteId };
    if (one.finishedBy !== null) news.onBreach(`a preview overwrote ${one.finishedBy} in ${remoteId}`);
    one.text = text;
    return { type: "accepted", remoteId };
  }

  function take(remoteId: string): SendResult {
    const one = messages.get(remoteId);
    if (one !== undefined) one.isRemoved = true;
    return { type: "accepted", remoteId };
  }

  /** The last request about a message that nothing finishes. */
  async function last(remoteId: string, answer: Promise<SendResult>): Promise<SendResult> {
    const one = messages.get(remoteId);
    if (one !== undefined) one.isKept = true;
    const result = await answer;
    if (one !== undefined && result.type === "accepted") one.isKept = false;
    return result;
  }

  return {
    messages,
    isLeft: () => messages.values().some((one) => one.finishedBy === null && !one.isRemoved),
    connect: (life) => ({
      ...(isKeyed ? { isKeyed } : {}),
      place({ chat }, _hints, signal, key) {
        // One that may stand there is also looked for to remove it, which is never counted.
        const kind = key.placedSince === null ? "preview" : "uncounted";
        return answering({ chat, life, signal, kind }, placing(chat, key, life));
      },
      async fill({ chat }, remoteId, text, signal) {
        if (news.notedFor(remoteId) === null) news.onBreach(`${remoteId} was filled before it was stored`);
        // Some take their time on the way.
        const lagMs = chances.chance(0.2) ? chances.between(50, 400) : 0;
        const isLast = text.endsWith(stoppedMark);
        const kind = isLast ? "uncounted" : "preview";
        const answer = answering({ chat, life, signal, kind, lagMs }, () => fill(remoteId, text, life));
        return isLast ? last(remoteId, answer) : answer;
      },
      remove({ chat }, remoteId, signal) {
        if ((messages.get(remoteId)?.finishedBy ?? null) !== null)
          news.onBreach(`${remoteId} was finished and taken away`);
        return last(
          remoteId,
          answering({ chat, life, signal, kind: "uncounted" }, () => take(remoteId)),
        );
      },
    }),
    finish(item, remoteId) {
      const one = messages.get(remoteId);
      if (one === undefined || one.isRemoved) {
        news.onBreach(`${item.id} finished ${remoteId}, which is not there`);
        return true;
      }
      if (one.finishedBy === item.id) return false;
      if (one.finishedBy !== null) news.onBreach(`${remoteId} was finished by ${one.finishedBy} and by ${item.id}`);
      one.finishedBy = item.id;
      one.text = item.text;
      return true;
    },
  };
}
