// Who asked for a turn, for what its tools may do. Pure.

import type { Entry } from "./journal.ts";
import { type Group, type Inbound, formatAddress } from "./message.ts";

/**
 * `owner`: at the machine itself. `admin`: named or paired as one. `person`: may speak and use tools in the sandbox.
 */
export type Party = "owner" | "admin" | "person";

export type Requester = {
  readonly party: Party;
  /** Whose workspace, home, jobs and files the tools see: `owner`, or one person, group or API key. */
  readonly person: string;
};

/** Who made a reminder, as it is stored with it. */
export type Maker = Requester & { readonly sender: string; readonly group?: Group };

/** Owner and admins share one workspace. */
export const ownerPerson = "owner";

const ownPlatforms: ReadonlySet<string> = new Set(["web", "terminal"]);

/** From the least rights to the most. */
const ranks: readonly Party[] = ["person", "admin", "owner"];

export function lowestParty(parties: readonly Party[]): Party {
  const rank = Math.min(...parties.map((party) => ranks.indexOf(party)));
  return ranks[rank] ?? "person";
}

/** A turn stored by an earlier version has no party: then only our own clients are the owner's. */
export function partyOf({ party, from }: Pick<Inbound, "party" | "from">): Party {
  return party ?? (ownPlatforms.has(from.platform) ? "owner" : "person");
}

/**
 * Somebody with fewer rights who joins a running turn takes them from the rest of it, because the agent reads their words.
 * The journal alone says who joined, so a turn that goes on after a crash has the same rights.
 */
export function requesterOf(input: Inbound, journal: readonly Entry[]): Requester {
  const joined = journal.flatMap((entry) => (entry.type === "joined" ? [partyOf(entry.message)] : []));
  const party = lowestParty([partyOf(input), ...joined]);
  return { party, person: personOf(input, party) };
}

/** In a group everybody sees what the tools find, so the group has a workspace of its own, whoever writes. */
function personOf({ from, sender, group, body, maker }: Inbound, party: Party): string {
  const { platform, account, chat } = from;
  // Whoever joined with fewer rights does not get into the owner's workspace.
  if (maker !== undefined && (maker.person !== ownerPerson || party !== "person")) return maker.person;
  if (group !== undefined) return formatAddress({ platform, account, chat });
  if (party !== "person") return ownerPerson;
  // A reminder of an earlier version names nobody; it belongs to its chat.
  return formatAddress({ platform, account, chat: body.kind === "timer" ? chat : sender });
}
