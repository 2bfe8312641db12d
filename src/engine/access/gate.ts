// Asked before anything else is done with a message: may whoever wrote it speak here? What is read for it costs as much
// as one person and one chat; where settings have no access rules, nothing is read at all.

import { type Access, isAdmin, judgeAccess, placeOf, senderOf } from "../../core/access/access.ts";
import type { Change } from "../../core/change.ts";
import { type Inbound, formatAddress } from "../../core/message.ts";
import { type Parts, settingsOf } from "../parts.ts";

export type Admission =
  /** With what is written beside the message. */
  { readonly type: "speak"; readonly changes: readonly Change[] } | Exclude<Access, { readonly type: "speak" }>;

export async function admit(parts: Parts, inbound: Inbound): Promise<Admission> {
  const { platform, account } = inbound.from;
  const { access: rules, admins } = settingsOf(parts, platform);
  if (rules === null) return { type: "speak", changes: [] };
  const sender = senderOf(inbound);
  const known = await parts.store.paired(platform, account, sender.id);
  const loop = await botsAt(parts, inbound);
  const access = judgeAccess({ sender, place: placeOf(inbound), rules, admins, known, botsInARow: loop.count });
  if (access.type === "speak") return { type: "speak", changes: sender.isBot ? loop.another : loop.over };
  // Nobody is waiting for an answer to what they only changed.
  if (access.type === "pair" && inbound.replaces !== undefined)
    return { type: "ignore", why: "a stranger's new wording" };
  return access;
}

/** Whether somebody who speaks may command the gateway itself. */
export async function isAdminHere(parts: Parts, inbound: Inbound): Promise<boolean> {
  const { platform, account } = inbound.from;
  const { access, admins } = settingsOf(parts, platform);
  const known = access === null ? null : await parts.store.paired(platform, account, inbound.sender);
  return isAdmin(senderOf(inbound), admins, known);
}

type Loop = { readonly count: number; readonly another: readonly Change[]; readonly over: readonly Change[] };

/** Kept in the store, so that two bots do not begin anew with each of our lives. A chat of two humans has none. */
async function botsAt({ store }: Parts, { from, isBot, group }: Inbound): Promise<Loop> {
  if (isBot !== true && group === undefined) return { count: 0, another: [], over: [] };
  const { platform, account, chat } = from;
  const name = `bots:${formatAddress({ platform, account, chat })}`;
  const count = Number((await store.fact(name)) ?? 0);
  return {
    count,
    another: [{ put: "fact", name, value: String(count + 1) }],
    over: count === 0 ? [] : [{ drop: "fact", name }],
  };
}
