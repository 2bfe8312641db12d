// One lane per busy session: one turn at a time, the oldest first, a cap on how many lanes run, and fair order among
// those that wait. A session at rest has no lane and costs no memory.

import type { Change } from "../../core/change.ts";
import { type SessionId, type TurnId, later } from "../../core/ids.ts";
import type { Entry } from "../../core/journal.ts";
import { type Arrival, type NextTurn, decideArrival, decideNextTurn, mayWaitForInput } from "../../core/lane.ts";
import { limits } from "../../core/limits.ts";
import type { Address } from "../../core/message.ts";
import { type Session, decideAccess, followerOf, newSession, sessionKey, takenBy } from "../../core/session.ts";
import { type Turn, advanceTurn } from "../../core/turn.ts";
import { type Parts, settingsOf } from "../parts.ts";
import { quarantine } from "./quarantine.ts";
import { runIn } from "./running.ts";
import { Interruption } from "../turns/interruption.ts";
import type { Running } from "../turns/run.ts";

export type Lane = {
  /** As the store has it, or will have it with the next commit. */
  session: Session;
  /** Whether the session's row is known to be in the store. */
  stored: boolean;
  /** The suspended session whose place this one takes in the commit that stores it. */
  readonly follows: SessionId | null;
  running: Running | "starting" | null;
  /** Called when what is starting runs or was let go. */
  readonly onSettled: (() => void)[];
  /** Turns wait in the store, as far as we know. */
  queued: boolean;
  /** An interrupted turn waits for the next message, which joins it. */
  parked: boolean;
  /** Messages on their way into the store; the lane stays in hand meanwhile. */
  entering: number;
};

export interface Lanes {
  /** The lane of a place, made if need be. Every `enter` is followed by one `leave`. */
  enter(from: Address): Promise<Lane>;
  /** The lane of a session, also of one that was succeeded by another at its place. */
  enterSession(session: Session): Promise<Lane>;
  leave(lane: Lane): void;
  /** Looks the session up again, after a commit was refused. */
  refresh(lane: Lane): Promise<void>;
  /** What a new turn may do; `start-now` reserves the lane until `run` or `release`. */
  arrive(lane: Lane): Arrival;
  release(lane: Lane): void;
  /** Runs a turn that was committed as running in a reserved lane. */
  run(lane: Lane, turn: Turn, journal: readonly Entry[]): void;
  /** A turn was stored behind others. */
  queue(lane: Lane): void;
  /** The user started over: the next message at this place belongs to another session. */
  succeed(lane: Lane): void;
  /** Breaks off the turn that runs, if it is (or, where so asked, is not) this one. */
  interrupt(lane: Lane, why: Interruption, turn: { readonly is: TurnId } | { readonly isNot: TurnId }): void;
  /** Resolves when the lane is not just starting something, or after a while. */
  settled(lane: Lane): Promise<void>;
  laneOf(session: SessionId): Lane | null;
  running(): readonly Running[];
  open(waiting: readonly Session[], hold: TurnId | null): void;
  /** Nothing starts any more; what runs goes on until it is parked, and is told why in these words. */
  close(why: string): void;
  /** Interrupts everything that runs; resolves when all of it has settled. */
  park(): Promise<void>;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
}

/** The change that makes the session ours, where it is not yet. */
export function ownership(session: Session, parts: Parts): readonly Change[] {
  const taken = takenBy(session, parts.boot);
  return taken === session ? [] : [{ put: "owner", session: taken.id, boot: parts.boot, fence: taken.fence }];
}

export function lanes(parts: Parts, runTurn: (running: Running, journal: readonly Entry[]) => Promise<void>): Lanes {
  const { store, world, ledger, boot } = parts;
  const byPlace = new Map<string, Lane>();
  const bySession = new Map<SessionId, Lane>();
  const opening = new Map<string, Promise<Lane>>();
  const ready: Lane[] = [];
  const closing = new AbortController();
  const suspects = quarantine<Lane>(world, closing.signal, queue);
  const idlers: (() => void)[] = [];
  let reserved = 0;
  let isOpen = false;
  let ending = new Interruption("shutdown", "The gateway is starting");

  function hold(session: Session, known: Partial<Lane> = {}): Lane {
    const fresh = { running: null, onSettled: [], queued: false, parked: false, entering: 0 };
    const lane: Lane = { session, stored: true, follows: null, ...fresh, ...known };
    if (session.endedAt === null) byPlace.set(session.key, lane);
    bySession.set(session.id, lane);
    return lane;
  }

  async function find(from: Address, key: string): Promise<Lane> {
    const found = await store.sessionOf(key);
    const id = () => world.id() as SessionId;
    if (found === null) return hold(newSession(id(), from, boot, world.now()), { stored: false });
    if (decideAccess(found).type === "start-over") {
      return hold(followerOf(found, id(), boot, world.now()), { stored: false, follows: found.id });
    }
    const waits = waitsForInput(found) ? await store.readyTurns(found.id) : [];
    return hold(found, { parked: waits.some(({ now }) => now.state === "parked") });
  }

  /** Messages of one place that come at once share one look into the store. */
  function load(from: Address, key: string): Promise<Lane> {
    const loading = find(from, key).finally(() => opening.delete(key));
    opening.set(key, loading);
    return loading;
  }

  function restIfDone(lane: Lane): void {
    if (lane.running !== null || lane.queued || lane.entering > 0 || suspects.keeps(lane)) return;
    if (bySession.get(lane.session.id) === lane) bySession.delete(lane.session.id);
    if (byPlace.get(lane.session.key) === lane) byPlace.delete(lane.session.key);
  }

  function reserve(lane: Lane): void {
    lane.running = "starting";
    reserved++;
  }

  function settle(lane: Lane, running: Running | null): void {
    lane.running = running;
    for (const resolve of lane.onSettled.splice(0)) resolve();
  }

  function release(lane: Lane): void {
    settle(lane, null);
    reserved--;
    if (reserved === 0) for (const resolve of idlers.splice(0)) resolve();
    if (lane.queued) ready.push(lane);
    else restIfDone(lane);
    pick();
  }

  function pick(): void {
    while (isOpen && reserved < parts.settings.lanesMax) {
      const lane = ready.shift();
      if (lane === undefined) return;
      if (lane.running !== null || !lane.queued) continue;
      reserve(lane);
      startNext(lane).catch(parts.broken);
    }
  }

  const waitsForInput = (session: Session) => !parts.settings.recovery.autoResume && mayWaitForInput(session);

  async function nextOf({ session }: Lane): Promise<NextTurn> {
    if (waitsForInput(session)) return decideNextTurn(await store.readyTurns(session.id));
    const turn = await store.nextTurn(session.id);
    return turn === null ? { type: "nothing" } : { type: "turn", turn, joins: 0 };
  }

  async function startNext(lane: Lane): Promise<void> {
    lane.queued = false;
    const next = await nextOf(lane);
    lane.parked = next.type === "waits-for-input";
    if (next.type !== "turn") return release(lane);
    const { turn, joins } = next;
    const suspect = turn.now.state === "parked" && (await store.strikes(lane.session.key)) >= limits.strikesMax - 1;
    if (suspects.admit(lane, turn.id, suspect) === "after-quarantine") return release(lane);
    lane.queued = true; // there may be more behind this one
    await claim(lane, turn, joins);
  }

  async function claim(lane: Lane, turn: Turn, joins: number): Promise<void> {
    const journal = [...(await store.journalOf(turn.id))];
    const claimed = advanceTurn(turn, { type: "claimed", boot, at: world.now() });
    const changes: Change[] = [...ownership(lane.session, parts), { put: "turn", turn: claimed }];
    if (turn.now.state === "parked") {
      const { resume } = lane.session;
      const why = resume === null ? {} : { reason: resume.reason };
      const entry: Entry = { type: "resumed", attempt: claimed.attempt, ...why };
      changes.push({ put: "entry", turn: turn.id, n: journal.length, at: world.now(), entry });
      journal.push(entry);
    }
    if (!isOpen) return release(lane);
    const result = await ledger.keep(changes);
    if (result === "committed") {
      lane.session = takenBy(lane.session, boot);
      return begin(lane, claimed, journal, joins);
    }
    suspects.leave(turn.id);
    // Somebody moved the turn or the session at that very moment; the pause keeps a surprise from becoming a storm.
    await world.sleep(later(world.now(), limits.retryMinMs), closing.signal);
    lane.session = (await store.session(lane.session.id)) ?? lane.session;
    release(lane);
  }

  function begin(lane: Lane, turn: Turn, journal: readonly Entry[], joins: number): void {
    const { session } = lane;
    const running = runIn(lane, turn, joins, (isClear) => suspects.show(turn.id, isClear));
    settle(lane, running);
    parts.events.emit({ type: "turn-started", session: session.id, turn: turn.id, attempt: turn.attempt });
    if (!isOpen) running.abort.abort(ending);
    runTurn(running, journal)
      .catch(parts.broken)
      .finally(() => {
        suspects.leave(turn.id);
        release(lane);
      });
  }

  function queue(lane: Lane): void {
    lane.queued = true;
    if (lane.running === null) ready.push(lane);
    else if (lane.running !== "starting" && settingsOf(parts, lane.session.address.platform).busy === "steer") {
      lane.running.join = limits.joinsMax;
    }
    pick();
  }

  function runningOf(lane: Lane): Running | null {
    return lane.running === "starting" ? null : lane.running;
  }

  function idle(): Promise<void> {
    return reserved === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve));
  }

  async function enter(from: Address): Promise<Lane> {
    const key = sessionKey(from);
    const lane = byPlace.get(key) ?? (await (opening.get(key) ?? load(from, key)));
    lane.entering++;
    return lane;
  }

  return {
    enter,
    async enterSession(session) {
      if (session.endedAt === null) return enter(session.address);
      const lane = bySession.get(session.id) ?? hold(session);
      lane.entering++;
      return lane;
    },
    leave(lane) {
      lane.entering--;
      restIfDone(lane);
    },
    async refresh(lane) {
      const fresh = (await store.session(lane.session.id)) ?? (await store.sessionOf(lane.session.key));
      // Not there yet, and nobody else has taken the place.
      if (fresh === null || fresh.id === lane.follows) return;
      bySession.delete(lane.session.id);
      bySession.set(fresh.id, lane);
      lane.session = fresh;
      lane.stored = true;
    },
    arrive(lane) {
      const room = { open: isOpen && !suspects.held(), running: reserved, max: parts.settings.lanesMax };
      const view = { running: lane.running !== null, queued: lane.queued || lane.parked || suspects.keeps(lane) };
      const arrival = decideArrival(view, room, settingsOf(parts, lane.session.address.platform).busy);
      if (arrival === "start-now") reserve(lane);
      return arrival;
    },
    release,
    run: (lane, turn, journal) => begin(lane, turn, journal, 0),
    queue,
    succeed(lane) {
      if (byPlace.get(lane.session.key) === lane) byPlace.delete(lane.session.key);
      lane.session = { ...lane.session, endedAt: world.now() };
      if (lane.parked) queue(lane);
    },
    interrupt(lane, why, which) {
      const running = runningOf(lane);
      if (running === null) return;
      if ("is" in which ? running.turn.id === which.is : running.turn.id !== which.isNot) running.abort.abort(why);
    },
    settled(lane) {
      if (lane.running !== "starting") return Promise.resolve();
      const started = new Promise<void>((resolve) => lane.onSettled.push(resolve));
      return Promise.race([started, world.sleep(later(world.now(), limits.parkMs), closing.signal)]);
    },
    laneOf: (session) => bySession.get(session) ?? null,
    running: () =>
      [...bySession.values()].flatMap(({ running }) => (running === null || running === "starting" ? [] : [running])),
    open(waiting, held) {
      isOpen = true;
      if (held !== null) suspects.hold();
      for (const session of waiting) queue(bySession.get(session.id) ?? hold(session, { queued: true }));
      pick();
    },
    close(why) {
      isOpen = false;
      ending = new Interruption("shutdown", why);
      closing.abort();
    },
    park() {
      for (const lane of bySession.values()) runningOf(lane)?.abort.abort(ending);
      return idle();
    },
    idle,
  };
}
