// What must hold after every story, whatever was done to the gateway on the way.

import { isHeldNotice } from "../core/held.ts";
import type { Turn } from "../core/turn.ts";
import { limits } from "../core/limits.ts";
import { answerTo, deadly, waits } from "./agent.ts";
import { brokenCalls } from "./calls.ts";
import type { Server } from "./platform.ts";
import { brokenPreviews } from "./outbound/previews.ts";
import type { Said, Told } from "./story.ts";

/** Everything that went wrong, in sentences; empty when the promise was kept. */
export async function broken(told: Told): Promise<readonly string[]> {
  if (told.breaches.length > 0) return told.breaches;
  const turns = await told.store.turns({ limit: 100_000 });
  const held = (await told.store.items({ state: "in-doubt", limit: 100_000 })).filter((item) => !isHeldNotice(item));
  const found = held.map((item) => `${item.id} is still held`);
  for (const said of told.story.said) {
    const mine = turns.filter((turn) => turn.input.key === said.name);
    const [turn] = mine;
    if (mine.length === 0 && (await wasAnAnswer(told, said, turns))) continue;
    if (mine.length !== 1 || turn === undefined) found.push(`${said.name} made ${mine.length} turns`);
    else found.push(...unanswered(told, said, turn, await joinedWhatEnded(told, turn, turns)));
  }
  found.push(...(await lostReminders(told, turns)), ...(await brokenCalls(told, turns)));
  found.push(...(await brokenPreviews(told, turns)));
  for (const one of told.servers)
    found.push(...outOfOrder(told, one, turns), ...repeatedNotices(one), ...copied(told, one));
  const budget = told.story.drainMs + limits.stopMs;
  for (const ms of told.stopMs)
    if (ms > budget) found.push(`a stop took ${ms} ms of virtual time, more than ${budget}`);
  return found;
}

/** Words said while a question was open are its answer and make no turn of their own. */
async function wasAnAnswer(told: Told, said: Said, turns: readonly Turn[]): Promise<boolean> {
  const address = { platform: said.server, account: "sim", chat: said.chat };
  const lines = (await told.store.messagesAfter(address, 0, 100_000)).filter((line) => line.key === said.name);
  const asked = turns.find((turn) => turn.id === lines[0]?.turn);
  return lines.length === 1 && asked !== undefined && asked.input.key !== said.name && asked.now.state === "done";
}

/** Joined a turn that did not answer in the usual way: stopped, or given up after three deaths. */
async function joinedWhatEnded(told: Told, joined: Turn, turns: readonly Turn[]): Promise<boolean> {
  if (joined.now.state !== "done" || joined.now.outcome !== "joined") return false;
  for (const turn of turns) {
    const journal = await told.store.journalOf(turn.id);
    if (!journal.some((entry) => entry.type === "joined" && entry.message.key === joined.input.key)) continue;
    if (turn.now.state !== "done") return false;
    const { outcome } = turn.now;
    const mayFail = interruptions(told) >= limits.strikesMax || startsOver(told);
    return outcome === "cancelled" || (outcome === "failed" && mayFail);
  }
  return false;
}

/** Answered once; where the platform takes no key, as often again as something was in doubt. */
function unanswered(told: Told, said: Said, turn: Turn, isExcused: boolean): readonly string[] {
  if (turn.now.state !== "done") return [`${said.name} is ${turn.now.state}`];
  const { outcome } = turn.now;
  const on = told.servers.find((one) => one.name === said.server);
  if (on === undefined) return [`no server ${said.server}`];
  // Answered again, it is a message like any other.
  const isAgain = said.text === "/retry" && outcome !== "replied";
  if (said.text !== undefined && !isAgain) {
    if (outcome !== "replied") return [`the command ${said.text} was ${outcome}`];
    const times = on.seen.filter((seen) => seen.item === `${turn.id}.0`).length;
    if (times === 0) return isExcused ? [] : [`the command ${said.text} was never answered`];
    return on.habits.keyedSend && times > 1 ? [`the command ${said.text} was answered ${times} times`] : [];
  }
  const answers = on.seen
    .flatMap((seen) => seen.text.split(", "))
    .filter((text) => text === answerTo(said.name)).length;
  switch (outcome) {
    case "replied":
    case "joined":
      if (isAgain) return [];
      if (answers === 0) return isExcused ? [] : [`${said.name} (${outcome}) was never answered`];
      if (on.habits.keyedSend && answers > 1 + retries(told, said))
        return [`${said.name} was answered ${answers} times under one key`];
      // A stop while the disk is full cannot store the answer to a send.
      if (answers > 1 + retries(told, said) + on.doubts + told.ends + told.story.diskFull.length)
        return [`${said.name} was answered ${answers} times`];
      return isExcused ? [] : lostParts(on, said, turn);
    case "failed":
      return mayBeGivenUp(told, said) ? [] : [`${said.name} failed: ${turn.now.why}`];
    case "cancelled":
      return told.story.busy === "interrupt" || wasStopped(told, said) ? [] : [`${said.name} was cancelled`];
    case "silent":
      return [`${said.name} ended without a word`];
  }
}

/** Under a key an item is seen once; elsewhere at most once more for each send of it that stayed uncertain. */
function copied({ ends, story }: Told, on: Server): readonly string[] {
  const items = Map.groupBy(on.seen, ({ item }) => item);
  return [...items].flatMap(([item, seen]) => {
    // A stop while the disk is full cannot store the answer to a send.
    const most = on.habits.keyedSend ? 1 : 1 + on.doubtsOf(item) + ends + story.diskFull.length;
    return seen.length > most ? [`${item} was seen ${seen.length} times, more than ${most}`] : [];
  });
}

/** How often its user may have wanted it answered again. */
function retries({ story }: Told, { server, chat }: Said): number {
  return story.said.filter((one) => one.server === server && one.chat === chat && one.text === "/retry").length;
}

function wasStopped({ story }: Told, said: Said): boolean {
  const ends = (text: string | undefined) => text === "/stop" || text === "/new";
  return story.said.some((one) => one.server === said.server && one.chat === said.chat && ends(one.text));
}

/** After three ends that nobody else can have caused; a poisonous turn takes no innocent one with it. */
function mayBeGivenUp(told: Told, said: Said): boolean {
  if (startsOver(told)) return true;
  return said.acts.some((act) => deadly.has(act)) || interruptions(told) - told.poisonings >= limits.strikesMax;
}

/** Whoever was at work when the process died begins anew, where that is wanted. */
function startsOver(told: Told): boolean {
  return told.story.recovery.afterCrash === "suspend" && told.ends > 0;
}

/** Deaths and stops, also those asked in a chat: all count for a turn that gets nowhere. */
function interruptions(told: Told): number {
  return told.lives - 1;
}

/** Parts of a long answer arrive all, and each after the one before. */
function lostParts(on: Server, said: Said, turn: Turn): readonly string[] {
  if (!said.name.endsWith("L") || (turn.now.state === "done" && turn.now.outcome === "joined")) return [];
  const first = on.seen.findIndex((seen) => seen.text.split(", ").includes(answerTo(said.name)));
  const second = on.seen.findIndex((seen) => seen.text === `${said.name} part 2`);
  const third = on.seen.findIndex((seen) => seen.text === `${said.name} part 3`);
  return first < second && second < third ? [] : [`the parts of ${said.name} came as ${first}, ${second}, ${third}`];
}

/** A life tells of its end once, and only where somebody waits for it. */
function repeatedNotices(on: Server): readonly string[] {
  const notices = on.seen.filter(({ text }) => text.startsWith("Gateway "));
  const places = Map.groupBy(notices, ({ life, chat }) => `${chat} by life ${life}`);
  return [...places].flatMap(([place, told]) => (told.length > 1 ? [`${told.length} notices in ${place}`] : []));
}

/** A reminder that a tool set has become a turn, once. */
async function lostReminders(told: Told, turns: readonly Turn[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const turn of turns) {
    for (const entry of await told.store.journalOf(turn.id)) {
      if (entry.type !== "tool-ended" || entry.result.type !== "ok") continue;
      if (entry.result.wishes?.[0]?.type !== "wake") continue;
      const mine = (key: string) => key.startsWith(`=timer:${turn.id}:`) && key.endsWith(`:${entry.call}.0`);
      const fired = turns.filter((one) => mine(one.input.key)).length;
      if (fired !== 1) found.push(`the reminder of call ${entry.call} fired ${fired} times`);
    }
  }
  return found;
}

/**
 * Replies of one chat come in the order of its messages, also across sessions that follow one another there. A turn that
 * waited for an answer lets others pass, and where its user started over, one that was still at work.
 */
function outOfOrder(told: Told, on: Server, turns: readonly Turn[]): readonly string[] {
  const found: string[] = [];
  // Of messages that came at the same moment none is the first.
  if (on.habits.parallel > 1) return found;
  const asked = told.story.said.filter(
    (one) => one.server === on.name && one.text === undefined && !one.acts.some((act) => waits.has(act)),
  );
  const startedOver = new Set(told.story.said.filter((one) => one.text === "/new").map((one) => one.chat));
  for (const chat of new Set(asked.map((one) => one.chat))) {
    const mine = new Set(asked.filter((one) => one.chat === chat).map((one) => one.name));
    // In the order in which they were accepted; the store lists the newest first.
    const names = turns.toReversed().flatMap(({ id, input: { key }, acceptedAt, now }) => {
      if (!mine.has(key) || now.state !== "done" || now.outcome !== "replied") return [];
      const place = on.seen.findIndex((seen) => seen.text.split(", ").includes(answerTo(key)));
      // What was held is passed by later answers.
      return place === -1 || told.held.wasHeld(id) ? [] : [{ key, place, acceptedAt, doneAt: now.doneAt }];
    });
    for (const [i, { key, place, acceptedAt }] of names.entries()) {
      const due = names.slice(0, i).filter(({ doneAt }) => !startedOver.has(chat) || doneAt < acceptedAt);
      const passed = due.find((one) => one.place > place);
      if (passed !== undefined) found.push(`in ${chat} the answer to ${key} came before that to ${passed.key}`);
    }
  }
  return found;
}
