// The message of the platform that a turn's answer grows in, as the store knows it: noted with the turn before anything is
// written into it, forgotten in the commit that ends it.

import type { Change } from "../../core/change.ts";
import type { TurnId } from "../../core/ids.ts";
import type { Address } from "../../core/message.ts";
import { type Parts, platformOf } from "../parts.ts";

function nameOf(turn: TurnId): string {
  return `draft/${turn}`;
}

export function noteDraft(turn: TurnId, remoteId: string): Change {
  return { put: "fact", name: nameOf(turn), value: remoteId };
}

/** What goes into the commit that ends a turn, where answers grow in messages. */
export function forgetDraft(parts: Parts, to: Address, turn: TurnId): readonly Change[] {
  return platformOf(parts, to)?.drafts === undefined ? [] : [{ drop: "fact", name: nameOf(turn) }];
}

export async function draftOf(parts: Parts, to: Address, turn: TurnId): Promise<string | null> {
  return platformOf(parts, to)?.drafts === undefined ? null : parts.store.fact(nameOf(turn));
}
