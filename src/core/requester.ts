// Who asked for a turn, for what its tools may do. Pure.

import type { Entry } from "./journal.ts";
import { type Address, type Group, type Inbound, formatAddress } from "./message.ts";

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
export type Maker = {
  readonly party: Party;
  readonly sender: string;
  readonly group?: Group;
  /** It was made in a conversation with text from outside, and marks the one that it speaks in. */
  readonly outside?: true;
};

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
 * The journal alone says who joined, so a turn that goes on after a crash has the same rights. In a group everybody sees
 * what the tools find, so the group has a workspace of its own for all its writers. A private chat is one person, also when a
 * reminder speaks in it.
 */
export function requesterOf(input: Inbound, journal: readonly Entry[]): Requester {
  const joined = journal.flatMap((entry) => (entry.type === "joined" ? [partyOf(entry.message)] : []));
  const party = lowestParty([partyOf(input), ...joined]);
  const isOwn = input.group === undefined && party !== "person";
  return { party, person: isOwn ? ownerPerson : personAt(input.from) };
}

/** The person of a private chat, the group of another one, or the API key. Threads do not matter. */
export function personAt({ platform, account, chat }: Address): string {
  return formatAddress({ platform, account, chat });
}
