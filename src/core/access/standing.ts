// What somebody who may speak may also do: whose rights their turns have, whether they command the gateway, whether they
// approve. Pure.

import type { Party } from "../requester.ts";
import { type AccessRules, type Known, type Sender, isAdmin, isTheirs } from "./access.ts";

export type Standing = {
  readonly party: Party;
  /** May use the commands that change the gateway itself. */
  readonly commands: boolean;
  /** May approve what an agent wants to do. */
  readonly approves: boolean;
};

/** What runs outside of the sandbox is for the owner and admins. */
export function mayAllow({ approves, party }: Standing, needsAdmin: boolean): boolean {
  return approves && (!needsAdmin || party !== "person");
}

export type StandingFacts = {
  readonly platform: string;
  readonly sender: Sender;
  /** Several people write there. */
  readonly isGroup: boolean;
  /** Null at our own clients. */
  readonly rules: AccessRules | null;
  readonly admins: readonly string[];
  /** Null where none are configured. */
  readonly approvers: readonly string[] | null;
  readonly known: Known;
};

/** How the HTTP API calls the holder of the control token. No key may have this name. */
export const apiOwner = "owner";

/** Who sends a webhook is a program, and who wrote a mail is only as certain as somebody else's server. */
const neverApproves: ReadonlySet<string> = new Set(["hooks", "email"]);

export function standingOf({ platform, sender, isGroup, rules, admins, approvers, known }: StandingFacts): Standing {
  if (rules === null) return { party: "owner", commands: isAdmin(sender, admins, known), approves: true };
  if (platform === "api") {
    if (sender.id === apiOwner) return { party: "owner", commands: true, approves: true };
    return { party: "person", commands: false, approves: approvers?.includes(sender.id) === true };
  }
  if (platform === "hooks") return { party: hookParty(sender, admins), commands: false, approves: false };
  if (sender.isBot) return { party: "person", commands: false, approves: false };
  // "*" lets everybody use the commands and gives nothing else: only named people are trusted.
  const isNamedAdmin = isNamed(sender, admins) || known?.admin === true;
  const isAlone = approvers === null && isNamed(sender, onlyOne(rules, admins, isGroup));
  const isApprover = isNamedAdmin || isAlone || isNamed(sender, approvers ?? []);
  return {
    // A name can be given up and taken by another person; an id cannot.
    party: isNamedAdmin || (isAlone && isProven(platform, sender) && rules.allow[0] === sender.id) ? "admin" : "person",
    // With /pair a mail could make somebody an approver.
    commands: isAdmin(sender, admins, known) && platform !== "email",
    approves: isApprover && isProven(platform, sender),
  };
}

/** Where one person alone may speak and no admin is named, the gateway is theirs; others may listen in a group. */
function onlyOne({ allow }: AccessRules, admins: readonly string[], isGroup: boolean): readonly string[] {
  return admins.length === 0 && allow.length === 1 && !isGroup ? allow : [];
}

/** A webhook has the rights that its configuration gives it, whatever sender its body names. */
function hookParty({ id }: Sender, admins: readonly string[]): Party {
  return admins.includes(id.split("/")[0] ?? id) ? "admin" : "person";
}

function isNamed(sender: Sender, entries: readonly string[]): boolean {
  return entries.some((entry) => entry !== "*" && isTheirs(sender, entry));
}

/** On IRC anybody can take a nickname; only somebody who is logged in is known. */
function isProven(platform: string, { id }: Sender): boolean {
  return !neverApproves.has(platform) && (platform !== "irc" || id.startsWith("account:"));
}
