// Asked before anything else is done with a message: may whoever wrote it speak here? What is read for it costs as much
// as one person and one chat; where settings have no access rules, nothing is read at all.

import { type Access, type Known, judgeAccess, placeOf, senderOf } from "../../core/access/access.ts";
import { type Standing, standingOf } from "../../core/access/standing.ts";
import type { Change } from "../../core/change.ts";
import { type Inbound, formatAddress } from "../../core/message.ts";
import type { Party } from "../../core/requester.ts";
import { type Parts, settingsOf } from "../parts.ts";
import { rememberApprover } from "./approvers.ts";

/** The sender of what comes in by the control API and the command line. */
export const operatorSender = "operator";

export type Admission =
  /** With what is written beside the message. */
  | { readonly type: "speak"; readonly changes: readonly Change[]; readonly party: Party }
  | Exclude<Access, { readonly type: "speak" }>;

export async function admit(parts: Parts, inbound: Inbound): Promise<Admission> {
  const { platform, account } = inbound.from;
  const { access: rules, admins } = settingsOf(parts, platform);
  if (rules === null) return { type: "speak", changes: [], party: "owner" };
  const sender = senderOf(inbound);
  const known = await parts.store.paired(platform, account, sender.id);
  const loop = await botsAt(parts, inbound);
  const access = judgeAccess({ sender, place: placeOf(inbound), rules, admins, known, botsInARow: loop.count });
  if (access.type === "speak") {
    const standing = standingAt(parts, inbound, known);
    const reachable = standing.approves ? await rememberApprover(parts, inbound) : [];
    const bots = sender.isBot ? loop.another : loop.over;
    return { type: "speak", changes: [...bots, ...reachable], party: standing.party };
  }
  // Nobody is waiting for an answer to what they only changed.
  if (access.type === "pair" && inbound.replaces !== undefined)
    return { type: "ignore", why: "a stranger's new wording" };
  return access;
}

/** What the sender of an accepted message may do. */
export async function standingHere(parts: Parts, inbound: Inbound): Promise<Standing> {
  // The intake alone sets the party, so no platform can hand over a message of the operator.
  if (inbound.sender === operatorSender && inbound.party === "owner")
    return { party: "owner", commands: true, approves: true };
  const { platform, account } = inbound.from;
  const { access } = settingsOf(parts, platform);
  return standingAt(
    parts,
    inbound,
    access === null ? null : await parts.store.paired(platform, account, inbound.sender),
  );
}

function standingAt(parts: Parts, inbound: Inbound, known: Known): Standing {
  const { platform } = inbound.from;
  const { access: rules, admins, approvers } = settingsOf(parts, platform);
  const isGroup = inbound.group !== undefined;
  return standingOf({ platform, sender: senderOf(inbound), isGroup, rules, admins, approvers, known });
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
