// People around a gateway that asks who may speak: strangers alone with it, members of a group, admins, bots.

import assert from "node:assert/strict";
import type { AccessRules } from "../../src/core/access/access.ts";
import type { Change, CommitResult } from "../../src/core/change.ts";
import type { Instant } from "../../src/core/ids.ts";
import type { Body, Inbound } from "../../src/core/message.ts";
import type { OutboxItem } from "../../src/core/outbox.ts";
import type { Receipt } from "../../src/ports/platform.ts";
import type { FullStore } from "../../src/sim/power.ts";
import { type Living, type Stage, type StageOptions, at } from "../stop/stage.ts";

export const closed: AccessRules = { allow: [], groups: "mention", chats: {}, pairing: true };

/** `boss` is the admin of the platform that asks; whoever writes at `web` owns the gateway. */
export function asking(rules: Partial<AccessRules> = {}, more: StageOptions = {}): StageOptions {
  const chat = { access: { ...closed, ...rules }, admins: ["boss"] };
  const web = { admins: ["*"] };
  return { platforms: { chat: {}, web: {} }, settings: { chat, web }, ...more };
}

let count = 0;

export type Spoken = Partial<Inbound> & { readonly cursor?: string };

/** Somebody writes, in a chat of two unless it says otherwise. */
export function message(sender: string, said: string | Body, more: Partial<Inbound> = {}): Inbound {
  const body: Body = typeof said === "string" ? { kind: "text", text: said, files: [] } : said;
  return { key: `p${++count}`, from: at(`with ${sender}`), sender, body, sentAt: 0 as Instant, ...more };
}

/** What the platform is told, once time has passed. */
export async function hand(on: Stage, inbound: Inbound, cursor: string | null = null): Promise<Receipt> {
  const accept = on.servers.get(inbound.from.platform)?.accept;
  assert.ok(accept, `nobody listens at ${inbound.from.platform}`);
  const answer = accept(inbound, cursor);
  let isOver = false;
  const over = () => void (isOver = true);
  answer.then(over, over);
  await on.until(() => isOver, `a receipt for ${inbound.key}`);
  return answer;
}

export function write(on: Stage, sender: string, said: string | Body, more: Partial<Inbound> = {}): Promise<Receipt> {
  return hand(on, message(sender, said, more));
}

export const inGroup = (called: boolean, more: Partial<Inbound> = {}): Partial<Inbound> => ({
  from: at("group"),
  group: { called },
  ...more,
});

export const web = { from: { platform: "web", account: "bot", chat: "mine" } } as const;

/** A repeated send is seen once: it goes under its key. */
export function seenBy(on: Stage, chat: string, platform = "chat"): readonly string[] {
  const sent: readonly OutboxItem[] = on.servers.get(platform)?.sent ?? [];
  const first = sent.filter(({ id }, n) => sent.findIndex((one) => one.id === id) === n);
  return first.filter(({ to }) => to.chat === chat).map(({ text }) => text);
}

/** Waits for the next thing somebody is told, and answers it. */
export async function nextFor(on: Stage, chat: string, before: number, platform = "chat"): Promise<string> {
  await on.until(() => seenBy(on, chat, platform).length > before, `words for ${chat}`);
  return seenBy(on, chat, platform)[before] ?? "";
}

/** Somebody writes and is answered. */
export async function talk(on: Stage, sender: string, said: string, more: Partial<Inbound> = {}): Promise<string> {
  const inbound = message(sender, said, more);
  const { chat, platform } = inbound.from;
  const before = seenBy(on, chat, platform).length;
  assert.equal(await hand(on, inbound), "accepted");
  return nextFor(on, chat, before, platform);
}

export async function codeFor(on: Stage, sender: string): Promise<string> {
  const code = /: ([2-9A-HJ-NP-Z]{8})\n/.exec(await talk(on, sender, "hello"))?.[1];
  assert.ok(code, "a code was told");
  return code;
}

/** Lets time pass until it is decided. */
export async function decided<T>(on: Stage, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => void (isOver = true);
  work.then(over, over);
  await on.until(() => isOver, "a decision");
  return work;
}

/** Counts what is written. */
export function counting(on: Stage): { readonly store: FullStore; readonly changes: Change[] } {
  const changes: Change[] = [];
  const commit: FullStore["commit"] = async (list, by) => {
    const result = await on.store.commit(list, by);
    if (result === "committed") changes.push(...list);
    return result;
  };
  return { store: { ...on.store, commit }, changes };
}

export type Cut = { readonly commit: number; readonly when: "before" | "after" };

/** A store whose life ends before or after its n-th commit; `living` is told once it is known. */
export function mortal(on: Stage, cut: Cut | null) {
  const made = { commits: 0, dead: false, living: null as Living | null };
  const die = (): Promise<CommitResult> => {
    made.dead = true;
    made.living?.life.kill();
    const server = on.servers.get("chat");
    if (server) server.accept = null;
    return new Promise(() => undefined);
  };
  const commit: FullStore["commit"] = async (list, by) => {
    if (made.dead) return new Promise(() => undefined);
    const isNow = ++made.commits === cut?.commit;
    if (isNow && cut.when === "before") return die();
    const result = await on.store.commit(list, by);
    return isNow ? die() : result;
  };
  return { made, store: { ...on.store, commit } as FullStore };
}
