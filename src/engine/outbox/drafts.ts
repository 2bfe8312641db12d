// The message of the platform that a turn's answer grows in, as the store knows it: noted with the turn before anything is
// written into it, forgotten in the commit that ends it.

import type { Change } from "../../core/change.ts";
import type { Instant, TurnId } from "../../core/ids.ts";
import type { Address } from "../../core/message.ts";
import { hintsFor } from "../../core/notice.ts";
import type { Turn } from "../../core/turn.ts";
import type { PlaceKey } from "../../ports/platform.ts";
import { type Parts, platformOf } from "../parts.ts";
import { removeLost } from "./previews.ts";

function nameOf(turn: TurnId): string {
  return `draft/${turn}`;
}

/** Before the key of a message that is being placed; its id replaces it. */
const intent = "placing:";

/** What the platform knows the message by. */
export function placeKey(key: string, placedSince: Instant | null): PlaceKey {
  return { id: `draft-${key}`, placedSince };
}

/** That a message is about to be placed under this key, where it can be found again by it. */
export function noteIntent(turn: TurnId, key: string): Change {
  return { put: "fact", name: nameOf(turn), value: `${intent}${key}` };
}

export function noteDraft(turn: TurnId, remoteId: string): Change {
  return { put: "fact", name: nameOf(turn), value: remoteId };
}

/** What goes into the commit that ends a turn, where answers grow in messages. */
export function forgetDraft(parts: Parts, to: Address, turn: TurnId): readonly Change[] {
  return platformOf(parts, to)?.drafts === undefined ? [] : [{ drop: "fact", name: nameOf(turn) }];
}

export async function draftOf(parts: Parts, to: Address, turn: TurnId): Promise<string | null> {
  const { id } = await leftBy(parts, to, turn);
  return id;
}

/** `key`: one may stand there that was placed under this key, and whose id was not stored. */
export type DraftLeft = { readonly id: string | null; readonly key: string | null };

export async function leftBy(parts: Parts, to: Address, turn: TurnId): Promise<DraftLeft> {
  const fact = platformOf(parts, to)?.drafts === undefined ? null : await parts.store.fact(nameOf(turn));
  return fact?.startsWith(intent) === true ? { id: null, key: fact.slice(intent.length) } : { id: fact, key: null };
}

/**
 * For a turn that ends without a run. Answers what is to be called after the commit: it removes the message whose id was lost,
 * or does nothing where there is none.
 */
export async function lostDraft(parts: Parts, to: Address, turn: Turn): Promise<() => void> {
  const { key } = await leftBy(parts, to, turn.id);
  if (key === null) return () => undefined;
  const hints = hintsFor(to, turn.input.hints, turn.input.anchor);
  return () => void removeLost(parts, to, hints, placeKey(key, turn.acceptedAt));
}
