// What must hold after every story for answers that grew in a message: it was finished by its end, once, or taken away.
// Half an answer stays nowhere; at worst an empty message does, where nobody could learn of it.

import { stoppedMark } from "../../core/running/stopped.ts";
import type { Turn } from "../../core/turn.ts";
import { type Grown, placeholder } from "./growing.ts";
import type { Server } from "../platform.ts";
import type { Told } from "../story.ts";

export async function brokenPreviews(told: Told, turns: readonly Turn[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const on of told.servers) {
    if (on.growing === null) continue;
    const byId = new Map(turns.map((turn) => [turn.id as string, turn]));
    const left = [...on.growing.messages.values()].filter((one) => !one.isRemoved && one.finishedBy === null);
    const empty = left.filter((one) => one.text === placeholder && !one.isKept).length;
    const excuses = told.lives - 1 + told.ends + on.doubts + told.story.diskFull.length;
    if (empty > excuses) found.push(`${empty} empty messages were left`);
    for (const one of left) found.push(...halfAnswer(told, one, byId.get(told.notedFor(one.id) ?? "")));
    for (const turn of turns) if (turn.input.from.platform === on.name) found.push(...(await doubled(told, on, turn)));
  }
  return found;
}

/** Taking it away is tried; it cannot be promised where the gateway died or the platform would not. */
function halfAnswer(told: Told, { id, text, isKept }: Grown, turn: Turn | undefined): readonly string[] {
  if (text === placeholder) return [];
  if (turn === undefined) return [`${id} holds half an answer, and no turn knows of it`];
  if (turn.now.state !== "done") return [`${id} holds half an answer of ${turn.input.key}, which is ${turn.now.state}`];
  const { outcome } = turn.now;
  if (outcome === "replied" || outcome === "failed")
    return [`${id} still holds half an answer of ${turn.input.key}, which ended in other words`];
  // What its user has stopped stays, and says so.
  if (outcome === "cancelled" && text.endsWith(stoppedMark)) return [];
  return isKept || told.lives > 1 ? [] : [`${id} still holds half an answer of ${turn.input.key} (${outcome})`];
}

/** An edit is seen once, key or no key. */
async function doubled(told: Told, on: Server, turn: Turn): Promise<readonly string[]> {
  const items = await told.store.items({ turn: turn.id, limit: 100 });
  return items.flatMap(({ id, edits, now }) => {
    if (edits === undefined) return [];
    const times = on.seen.filter((seen) => seen.item === id).length;
    if (times > 1) return [`${id} finished ${edits} and was seen ${times} times`];
    return times === 0 && now.state === "delivered" ? [`${id} was delivered into ${edits} and never seen`] : [];
  });
}
