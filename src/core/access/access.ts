// Who may speak, and where. Deny by default: whoever is not named, paired or an admin is a stranger, and what strangers
// write is never read. A name is only ever compared as a name and an id as an id, so that nobody gets in by calling
// themselves like somebody's number. Pure.

import { limits } from "../limits.ts";
import type { Inbound } from "../message.ts";

/** In chats of several people: only what is meant for us, everything, or nothing. */
export type Groups = "mention" | "all" | "off";

/** For one chat, instead of those of the platform. */
export type ChatRules = { readonly allow?: readonly string[]; readonly groups?: Groups };

export type AccessRules = {
  /** Ids or names; "*" is everybody. */
  readonly allow: readonly string[];
  readonly groups: Groups;
  readonly chats: Readonly<Record<string, ChatRules>>;
  /** A stranger in a chat of two gets a code that lets them in once it is approved. */
  readonly pairing: boolean;
};

export type Sender = { readonly id: string; readonly name?: string; readonly isBot: boolean };

/** `called`: the words are meant for us. */
export type Place = { readonly chat: string; readonly group: { readonly called: boolean } | null };

/** What was decided about a person before; null for somebody who was never let in. */
export type Known = { readonly admin: boolean } | null;

export type Ask = {
  readonly sender: Sender;
  readonly place: Place;
  readonly rules: AccessRules;
  readonly admins: readonly string[];
  readonly known: Known;
  /** Messages of bots that were taken in this chat since a human's. */
  readonly botsInARow: number;
};

export type Access =
  | { readonly type: "speak" }
  /** A stranger, where a code can be given to them alone. */
  | { readonly type: "pair" }
  | { readonly type: "ignore"; readonly why: string };

const speak: Access = { type: "speak" };
const ignore = (why: string): Access => ({ type: "ignore", why });

export function judgeAccess({ sender, place, rules, admins, known, botsInARow }: Ask): Access {
  const own = Object.hasOwn(rules.chats, place.chat) ? (rules.chats[place.chat] ?? {}) : {};
  const { allow = rules.allow, groups = rules.groups } = own;
  if (place.group !== null && groups === "off") return ignore("groups are switched off");
  if (place.group !== null && groups === "mention" && !place.group.called) return ignore("it was not meant for us");
  if (sender.isBot) {
    // "*" is every human: bots that answer each other never end by themselves.
    if (sender.id === "*" || !allow.includes(sender.id)) return ignore("a bot that is not allowed by its id");
    return botsInARow < limits.botsInARowMax ? speak : ignore("bots talk to each other without a human");
  }
  if (isNamed(sender, admins) || known?.admin === true) return speak;
  if (allow.includes("*") || isNamed(sender, allow)) return speak;
  // A list for this chat alone says who may speak in it, whoever was let in elsewhere.
  if (known !== null && own.allow === undefined) return speak;
  if (place.group !== null) return ignore("a stranger in a group");
  if (own.allow !== undefined) return ignore("a stranger where only those may speak who are named");
  return rules.pairing ? { type: "pair" } : ignore("a stranger, and pairing is switched off");
}

/** Whether somebody who may speak may also command the gateway; "*" is everybody who may speak. */
export function isAdmin(sender: Pick<Sender, "id" | "name">, admins: readonly string[], known: Known): boolean {
  return admins.includes("*") || isNamed(sender, admins) || known?.admin === true;
}

export function senderOf({ sender, name, isBot }: Inbound): Sender {
  return { id: sender, ...(name === undefined ? {} : { name }), isBot: isBot === true };
}

/** A press of our button and a command that the platform handed over as one are always meant for us. */
export function placeOf({ from, group, body }: Inbound): Place {
  const called = group?.called === true || body.kind === "answer" || body.kind === "command";
  return { chat: from.chat, group: group === undefined ? null : { called } };
}

/** Whether one of these ids or names is theirs. "*" names nobody here. */
function isNamed(sender: Pick<Sender, "id" | "name">, entries: readonly string[]): boolean {
  return entries.some((entry) => entry !== "*" && isTheirs(sender, entry));
}

export function isTheirs({ id, name }: { readonly id: string; readonly name?: string }, entry: string): boolean {
  if (entry === id) return true;
  return name !== undefined && !looksLikeId(entry) && isSameName(bare(entry), bare(name));
}

/** Numbers, addresses, ids of Matrix (@ann:server) and of Slack (U024BE7LH): what anybody could take for a name. */
function looksLikeId(entry: string): boolean {
  return /^[+-]?\d+$|.[@:]|^(?=.*\d)[A-Z][A-Z0-9]{6,}$/.test(entry);
}

function bare(name: string): string {
  return name.replace(/^@/, "");
}

/** Both cases are compared: the Kelvin sign has the lower case of a K, and is none. */
function isSameName(a: string, b: string): boolean {
  return a !== "" && a.toLowerCase() === b.toLowerCase() && a.toUpperCase() === b.toUpperCase();
}
