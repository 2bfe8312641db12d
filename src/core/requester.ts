// Who asked for a turn, for what its tools may do. Pure.

import { type Inbound, formatAddress } from "./message.ts";

/**
 * `owner`: at the machine itself. `admin`: named or paired as one. `person`: may speak and use tools in the sandbox.
 */
export type Party = "owner" | "admin" | "person";

export type Requester = {
  readonly party: Party;
  /** Whose workspace, home, jobs and files the tools see: `owner`, or one person, group or API key. */
  readonly person: string;
};

/** Owner and admins share one workspace. */
export const ownerPerson = "owner";

const ownPlatforms: ReadonlySet<string> = new Set(["web", "terminal"]);

/**
 * In a group everybody sees what the tools find, so the group has a workspace of its own, whoever writes. A private chat
 * is one person, also when a reminder speaks in it.
 */
export function requesterOf(input: Inbound): Requester {
  const { platform, account, chat } = input.from;
  const party = input.party ?? (ownPlatforms.has(platform) ? "owner" : "person");
  const isOwn = input.group === undefined && party !== "person";
  return { party, person: isOwn ? ownerPerson : formatAddress({ platform, account, chat }) };
}
