// The one way to start: take over what dead boots held. Reads the unfinished, asks core what becomes of it, and stores
// all of it in one commit before anything runs.

import type { Change } from "../../core/change.ts";
import { Bug, type TurnId } from "../../core/ids.ts";
import { type ToolEffect, diedOfIt, follows, madeProgress } from "../../core/journal.ts";
import { limits } from "../../core/limits.ts";
import { hintsFor, restarted } from "../../core/notice.ts";
import { decideInDoubt } from "../../core/outbox.ts";
import { type Boot, type HeldTurn, type TurnVerdict, decideItem, decideTurns, wasMarked } from "../../core/recovery.ts";
import { markResume } from "../../core/resume.ts";
import type { Session } from "../../core/session.ts";
import type { Turn } from "../../core/turn.ts";
import { type Counters, type Merged, mergeCounters, settleCounters } from "./counters.ts";
import { type Parts, platformOf, settingsOf, toolNamed } from "../parts.ts";
import { draftOf, forgetDraft, lostDraft } from "../outbox/drafts.ts";
import { holdReply, untoldNotices } from "../outbox/held.ts";
import { writeReply } from "../outbox/replies.ts";

export type Recovered = {
  /** Conversations with unfinished turns, parked or cut short. */
  readonly turns: number;
  readonly items: number;
  /** Conversations that start over. */
  readonly suspended: number;
  readonly hold: TurnId | null;
  readonly runnable: readonly Session[];
  readonly sendable: readonly Session[];
  /** Tells the tools of what was given up that nobody waits for them; to be called when there is time. */
  readonly drop: () => void;
};

/** How much of a journal is read to see whether its last run got anything done: mostly its very end tells. */
const endOf = 3;
const moreOf = 50;

/** Null when another boot took over meanwhile. */
export async function recover(parts: Parts, self: Boot, found: Counters | null = null): Promise<Recovered | null> {
  const { store, ledger } = parts;
  const dead = await store.deadBoots();
  const counters = await mergeCounters(parts, found);
  const turns = await turnChanges(parts, self, dead, counters);
  const answers = (await store.restarting()).flatMap((turn) => answer(parts, turn));
  const items = await itemChanges(parts, dead);
  const changes = [...counters.changes, ...turns.changes, ...answers, ...items];
  if (changes.length > 0) {
    const result = await ledger.keep(changes);
    if (result === "fenced") return null;
    if (result !== "committed") throw new Bug(`recovery was refused: ${result}`);
  }
  await settleCounters(parts, found);
  const runnable = await store.runnable();
  return {
    turns: runnable.length,
    items: items.length,
    suspended: turns.suspended,
    hold: turns.hold,
    runnable,
    sendable: await store.sendable(),
    drop: turns.drop,
  };
}

async function turnChanges(parts: Parts, self: Boot, dead: readonly Boot[], counters: Merged) {
  const { store, world } = parts;
  const sessions = new Map<TurnId, Session>();
  const held: HeldTurn[] = [];
  const struckOut = new Set(await counters.struckOut());
  const isQuiet = dead.length === 0 && struckOut.size === 0 && parts.settings.recovery.afterCrash !== "suspend";
  if (isQuiet) return { changes: [], suspended: 0, hold: null, drop: () => undefined };
  // Most lives follow one that left nothing behind.
  const [{ recentlyActive, suspensions }, { leftBy }] = await Promise.all([
    import("./suspend.ts"),
    import("../turns/calls/left.ts"),
  ]);
  const recent = await recentlyActive(parts, self, dead);
  for (const boot of dead) {
    for (const turn of await store.heldTurns(boot.id)) {
      const session = await store.session(turn.session);
      if (session === null) throw new Bug(`turn ${turn.id} belongs to no session`);
      sessions.set(turn.id, session);
      const { stop } = boot;
      const { progressed, follows } = await howFar(parts, turn, boot);
      held.push({
        turn,
        boot,
        progressed,
        follows,
        // A turn with progress gets no strike, so its count is read only where its session is suspended anyway.
        strikes: progressed && !struckOut.has(session.key) ? 0 : await counters.strikesOf(session.key),
        interruptions: stop === null && !struckOut.has(session.key) ? 0 : await store.interruptions(session.key),
        marked: wasMarked(session.resume, stop),
        suspend: stop === null && recent.has(session.id),
      });
      // What a stop interrupted is to be resumed, and no crash rule looks at it.
      if (stop !== null) recent.delete(session.id);
    }
  }
  const { turns, hold } = decideTurns(held, self.machine, world.now());
  const ends = await suspensions(parts, turns, sessions, [...struckOut], recent);
  const changes: Change[] = [];
  const drops = [...ends.drops];
  for (const [i, verdict] of turns.entries()) {
    const [session, before] = [sessions.get(verdict.turn.id), held[i]];
    if (session === undefined || before === undefined) throw new Bug("a verdict without its turn");
    changes.push(...(await verdictChanges(parts, session, before, verdict)));
    if (verdict.type !== "convicted") continue;
    const left = await leftBy(parts, { turn: verdict.turn, session }, "the turn was given up", world.now());
    changes.push(...left.changes);
    drops.push(left.drop, await lostDraft(parts, session.address, verdict.turn));
  }
  const drop = () => {
    for (const one of drops) one();
  };
  return { changes: [...changes, ...ends.changes], suspended: ends.count, hold, drop };
}

async function verdictChanges(
  parts: Parts,
  session: Session,
  before: HeldTurn,
  verdict: TurnVerdict,
): Promise<readonly Change[]> {
  const { type, turn, strikes, interruptions } = verdict;
  if (type === "suspended") return [];
  const changes: Change[] = [{ put: "turn", turn }];
  if (type === "convicted") {
    parts.world.log("warn", "a turn was given up: the gateway died each time while working on it", {
      turn: turn.id,
      session: session.id,
      deaths: strikes,
    });
    changes.push({ drop: "strikes", key: session.key }, ...(await sorry(parts, session, turn.id)));
    if (session.resume !== null) changes.push({ put: "resume", session: session.id, resume: null });
    return changes;
  }
  if (strikes !== before.strikes) changes.push({ put: "strikes", key: session.key, strikes });
  if (interruptions !== before.interruptions) changes.push({ put: "interruptions", key: session.key, interruptions });
  const marked = before.marked ? null : markResume(session, parts.world.now(), verdict.reason);
  if (marked !== null) changes.push({ put: "resume", session: session.id, resume: marked.resume });
  return changes;
}

/**
 * A result since its last start, or a call that goes on without us and was followed for a while: that did not bring the
 * process down. But whoever dies in the same call again got nowhere, whatever came between.
 */
async function howFar(parts: Parts, turn: Turn, boot: Boot): Promise<Pick<HeldTurn, "progressed" | "follows">> {
  const something = await gotSomething(parts, turn.id);
  if (turn.attempt < 2) return { progressed: something, follows: false };
  const effectOf = (name: string): ToolEffect => toolNamed(parts.agent, name)?.effect ?? "pure";
  const journal = await parts.store.journalOf(turn.id);
  const followed = follows(journal);
  const begunAt = turn.now.state === "running" ? turn.now.startedAt : boot.beatAt;
  const forLong = followed && boot.beatAt - begunAt >= limits.beatMs;
  return { progressed: (something || forLong) && !diedOfIt(journal, effectOf), follows: followed };
}

async function gotSomething({ store }: Parts, turn: TurnId): Promise<boolean> {
  for (const limit of [endOf, moreOf]) {
    const tail = await store.journalTail(turn, limit);
    if (madeProgress(tail)) return true;
    if (tail.length < limit || tail.some((entry) => entry.type === "resumed")) return false;
  }
  return false;
}

/** The answer of a turn that was given up; it takes the place of what was shown of it. */
async function sorry(parts: Parts, session: Session, turn: TurnId): Promise<readonly Change[]> {
  const text =
    "I had to give this up: the gateway broke down three times while working on it. The rest of our conversation is not affected; please try it in another way.";
  const at = parts.world.now();
  const reply = {
    id: turn,
    session: session.id,
    turn,
    to: session.address,
    role: "assistant",
    text,
    parts: [text],
    edits: await draftOf(parts, session.address, turn),
    at,
  } as const;
  return [...writeReply(reply, null).changes, ...forgetDraft(parts, session.address, turn)];
}

/** This start is what the turn asked for. */
function answer(parts: Parts, asked: Turn): readonly Change[] {
  const at = parts.world.now();
  const { turn, text } = restarted(asked, at);
  const { id, session, input } = turn;
  const hints = hintsFor(input.from, input.hints, input.anchor);
  const reply = { id, session, turn: id, to: input.from, role: "assistant", text, parts: [text], hints, at } as const;
  return [{ put: "turn", turn }, ...writeReply(reply, null).changes];
}

async function itemChanges(parts: Parts, dead: readonly Boot[]): Promise<readonly Change[]> {
  const changes: Change[] = [];
  const at = parts.world.now();
  for (const boot of dead) {
    for (const item of await parts.store.heldItems(boot.id)) {
      const can = platformOf(parts, item.to)?.can ?? { keyedSend: false };
      if (item.now.state !== "sending") continue;
      const tries = { ...item.now, doubts: (item.now.doubts ?? 0) + 1 };
      const doubt = decideInDoubt(item, can, settingsOf(parts, item.to.platform).inDoubt, tries);
      const next = decideItem(item, doubt, at);
      changes.push({ put: "item", item: next });
      if (next.now.state === "in-doubt") changes.push(...(await holdReply(parts, next, at)));
    }
  }
  return onlyOnce([...changes, ...(await untoldNotices(parts, changes, at))]);
}

/** Two items of one reply may hold the same rest and write the same notice; twice in one commit, nothing could ever start. */
function onlyOnce(changes: readonly Change[]): readonly Change[] {
  const known = new Set<string>();
  return changes.filter((change) => {
    const name = nameOf(change);
    if (name === null) return true;
    const isNew = !known.has(name);
    known.add(name);
    return isNew;
  });
}

function nameOf(change: Change): string | null {
  if (!("put" in change)) return null;
  if (change.put === "item") return `item ${change.item.id}`;
  return change.put === "message" ? `message ${change.message.key}` : null;
}
