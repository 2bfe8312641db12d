// Where approvers can be reached: the private chats they have written from, kept as one small fact, and else the homes.
// What is stored only says where somebody was; whether they still approve is decided when they are asked.

import type { Sender } from "../../core/access/access.ts";
import { mayAllow, standingOf } from "../../core/access/standing.ts";
import { visibleLine } from "../../core/asked/visible.ts";
import type { Change } from "../../core/change.ts";
import type { SessionId } from "../../core/ids.ts";
import { type Address, type Inbound, formatAddress } from "../../core/message.ts";
import { type Parts, platformOf, settingsOf } from "../parts.ts";
import { homesNow } from "./home.ts";

const factName = "approver-chats";
/** More approvers than this are not asked at once. */
const chatsMax = 20;

/** A private chat of an approver. */
type ApproverChat = { readonly address: Address; readonly sender: string; readonly name: string | null };

/** A conversation in which a question can be put to an approver. */
export type ApproverRoute = { readonly to: Address; readonly session: SessionId; readonly name: string };

/** Programs read the API when they like, and a mail approves nothing. */
const unreachable: ReadonlySet<string> = new Set(["api", "hooks", "email"]);

/** The chat that an approver writes from, where it is new. */
export async function rememberApprover(parts: Parts, inbound: Inbound): Promise<readonly Change[]> {
  const { from: address, sender, name = null, group } = inbound;
  if (group !== undefined || unreachable.has(address.platform)) return [];
  const own: ApproverChat = { address, sender, name };
  const known = await chatsOf(parts);
  const before = known.find((one) => isSamePerson(one, own));
  if (before !== undefined && JSON.stringify(before) === JSON.stringify(own)) return [];
  const others = known.filter((one) => !isSamePerson(one, own));
  return [{ put: "fact", name: factName, value: JSON.stringify([own, ...others].slice(0, chatsMax)) }];
}

/**
 * Where a question goes that no one in its own conversation may answer: to the private chats of the approvers of its
 * platform, else to those of all platforms, else to the homes; and to the conversation that is open on the page.
 */
export async function approverRoutes(
  parts: Parts,
  asked: Address,
  needsAdmin: boolean,
): Promise<readonly ApproverRoute[]> {
  const chats: ApproverChat[] = [];
  for (const chat of await chatsOf(parts)) if (await mayAllowStill(parts, chat, needsAdmin)) chats.push(chat);
  const near = chats.filter(({ address }) => address.platform === asked.platform);
  const people = (near.length > 0 ? near : chats).map(({ address, sender, name }) => {
    return { to: address, name: visibleLine(name ?? sender) };
  });
  const ours = parts.platforms.map(({ name: platform, account }) => ({ platform, account }));
  const homes = people.length > 0 ? [] : await homesNow(parts.store, parts.settings.platforms, ours);
  const asHome = homes.map((to) => ({ to, name: `the home at ${to.platform}` }));
  const [page] = parts.settings.platforms["web"] === undefined ? [] : await parts.archive.sessions(onPage);
  const asPage = page === undefined ? [] : [{ to: page.address, name: "the owner on the page" }];
  const routes: ApproverRoute[] = [];
  for (const { to, name } of [...people, ...asHome, ...asPage]) {
    const key = formatAddress(to);
    const session = key === formatAddress(asked) ? null : await parts.store.sessionOf(key);
    if (session !== null && !routes.some((one) => one.session === session.id))
      routes.push({ to, session: session.id, name });
  }
  return routes;
}

/** Whether a conversation is the private chat of somebody who may allow it, for questions without a named requester. */
export async function isWithApprover(parts: Parts, asked: Address, needsAdmin: boolean): Promise<boolean> {
  const here = (await chatsOf(parts)).find(({ address }) => formatAddress(address) === formatAddress(asked));
  return here !== undefined && (await mayAllowStill(parts, here, needsAdmin));
}

const onPage = { platform: "web", limit: 1 } as const;

async function mayAllowStill(
  parts: Parts,
  { address, sender: id, name }: ApproverChat,
  needsAdmin: boolean,
): Promise<boolean> {
  const { platform, account } = address;
  const { access: rules, admins, approvers } = settingsOf(parts, platform);
  if (platformOf(parts, address) === null || rules === null) return false;
  const known = await parts.store.paired(platform, account, id);
  const sender: Sender = { id, ...(name === null ? {} : { name }), isBot: false };
  const standing = standingOf({ platform, sender, isGroup: false, rules, admins, approvers, known });
  return mayAllow(standing, needsAdmin);
}

async function chatsOf({ store }: Parts): Promise<readonly ApproverChat[]> {
  const text = await store.fact(factName);
  return text === null ? [] : (JSON.parse(text) as readonly ApproverChat[]);
}

function isSamePerson(a: ApproverChat, b: ApproverChat): boolean {
  return a.sender === b.sender && a.address.platform === b.address.platform && a.address.account === b.address.account;
}
