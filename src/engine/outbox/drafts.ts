// The message of the platform that a turn's answer grows in, as the store knows it: noted with the turn before anything is
// written into it, forgotten in the commit that ends it.

import type { Change } from "../../core/change.ts";
import type { TurnId } from "../../core/ids.ts";
import type { Address } from "../../core/message.ts";
import { type Parts, platformOf } from "../parts.ts";

function nameOf(turn: TurnId): string {
  return `draft/${turn}`;
}

/** Before the key of a message that is being placed; its id replaces it. */
const intent = "placing:";

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
