// Requests about messages that grow: placed, filled, taken away. Best effort and bounded: a slow platform holds up nobody.
// They go through the account's gate and are dropped where it has no room; and nothing is placed before what still waits to
// be sent there, because it would stand above it. Whoever is about to finish such a message asks
// here whether something is still being written into it: what lands later would overwrite the end.

import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import type { Address, Hints } from "../../core/message.ts";
import type { SendResult } from "../../core/outbox.ts";
import type { DraftMessages, PlaceKey } from "../../ports/platform.ts";
import { childOf, over } from "../abort.ts";
import { type Parts, platformOf } from "../parts.ts";
import type { Gate } from "./pace.ts";

export interface Previews {
  /** Null when there is no room for it now, or something else goes first. */
  place(to: Address, hints: Hints, key: PlaceKey): Promise<SendResult | null>;
  fill(to: Address, remoteId: string, text: string): Promise<SendResult | null>;
  remove(to: Address, remoteId: string): void;
  /** Removes the message that was placed under this key and whose id was lost. */
  removeLost(to: Address, hints: Hints, key: PlaceKey): void;
  /** Its last words, where nothing else finishes it. */
  close(to: Address, remoteId: string, text: string): void;
  /** Resolves when nothing is being written into the message any more; null when nothing is. */
  busy(to: Address, remoteId: string): Promise<unknown> | null;
  /** Whether anything may be shown at all. */
  mayShow(to: Address): boolean;
  /** Resolves when everything under way is answered. */
  settled(): Promise<unknown>;
}

/** The outbox, as far as previews have to know it. */
export type Line = {
  isOpen(): boolean;
  /** Something is being sent to this place, or waits to be. */
  waits(to: Address): boolean;
};

export function previews(parts: Parts, gate: Gate, { isOpen, waits }: Line): Previews {
  const filling = new Map<string, Promise<unknown>>();
  const underWay = new Set<Promise<unknown>>();

  const nameOf = (to: Address, remoteId: string): string =>
    JSON.stringify([to.platform, to.account, to.chat, remoteId]);

  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
    return work;
  }

  async function ask(to: Address, call: Call): Promise<SendResult | null> {
    const room = isOpen() ? gate.preview(to) : null;
    if (room === null) return null;
    const result = await bounded(parts, to, call);
    room.answered(result);
    return result;
  }

  return {
    async place(to, hints, key) {
      return waits(to) ? null : track(ask(to, (drafts, signal) => drafts.place(to, hints, signal, key)));
    },
    fill(to, remoteId, text) {
      const work = track(ask(to, (drafts, signal) => drafts.fill(to, remoteId, text, signal)));
      const name = nameOf(to, remoteId);
      filling.set(name, work);
      void work.finally(() => {
        if (filling.get(name) === work) filling.delete(name);
      });
      return work;
    },
    remove: (to, remoteId) => void track(removeDraft(parts, to, remoteId)),
    removeLost: (to, hints, key) => void track(removeLost(parts, to, hints, key)),
    close: (to, remoteId, text) =>
      void track(insist(parts, to, (drafts, signal) => drafts.fill(to, remoteId, text, signal))),
    busy: (to, remoteId) => filling.get(nameOf(to, remoteId)) ?? null,
    mayShow: (to) => isOpen() && !gate.rests(to),
    settled: () => Promise.all(underWay),
  };
}

type Call = (drafts: DraftMessages, signal: AbortSignal) => Promise<SendResult>;

/** Never rejects, and never takes longer than a preview may. */
async function bounded(parts: Parts, to: Address, call: Call): Promise<SendResult> {
  const { world } = parts;
  const drafts = platformOf(parts, to)?.drafts;
  if (drafts === undefined) return { type: "refused", why: `${to.platform} has no drafts` };
  const own = childOf(parts.closing);
  const silence = world
    .sleep(later(world.now(), limits.previewMs), own.signal)
    .then((): SendResult => ({ type: "unknown", why: "the platform did not answer" }));
  try {
    return await Promise.race([call(drafts, own.signal), silence]);
  } catch (error) {
    world.log("debug", "a preview failed", { platform: to.platform, why: sentenceOf(error) });
    return { type: "unknown", why: sentenceOf(error) };
  } finally {
    own.abort(over);
  }
}

/** Takes a message away that nobody will finish. */
export async function removeDraft(parts: Parts, to: Address, remoteId: string): Promise<void> {
  await insist(parts, to, (drafts, signal) => drafts.remove(to, remoteId, signal));
}

/** Placed once more under its key, it is the same message, and its id is known. */
export async function removeLost(parts: Parts, to: Address, hints: Hints, key: PlaceKey): Promise<void> {
  const found = await insist(parts, to, (drafts, signal) => drafts.place(to, hints, signal, key));
  if (found?.type === "accepted") await removeDraft(parts, to, found.remoteId);
}

/** What ends a message. Not counted: there are few, and half an answer must not stay as if it went on. */
async function insist(parts: Parts, to: Address, call: Call): Promise<SendResult | null> {
  const { world, closing } = parts;
  for (let tries = 1; !closing.aborted; tries++) {
    const result = await bounded(parts, to, call);
    if (result.type !== "retry" || tries >= limits.removalsMax) return result;
    await world.sleep(later(world.now(), Math.max(result.afterMs, limits.retryMinMs)), closing);
  }
  return null;
}
