// The one way to start: take over what dead boots held. Reads the unfinished, asks core what becomes of it, and stores
// all of it in one commit before anything runs.

import type { Change } from "../core/change.ts";
import { Bug, type SessionId, type TurnId } from "../core/ids.ts";
import { madeProgress } from "../core/journal.ts";
import { decideInDoubt } from "../core/outbox.ts";
import { type Boot, type HeldTurn, decideItem, decideTurns } from "../core/recovery.ts";
import type { Session } from "../core/session.ts";
import type { Turn } from "../core/turn.ts";
import { type Parts, platformOf, settingsOf } from "./parts.ts";
import { writeReply } from "./outbox/replies.ts";

export type Recovered = {
  /** Conversations with unfinished turns, parked or cut short. */
  readonly turns: number;
  readonly items: number;
  readonly hold: TurnId | null;
  readonly runnable: readonly Session[];
  readonly sendable: readonly SessionId[];
};

/** How much of a journal is read to see whether its last run got anything done: mostly its very end tells. */
const endOf = 3;
const moreOf = 50;

/** Null when another boot took over meanwhile. */
export async function recover(parts: Parts, self: Boot): Promise<Recovered | null> {
  const { store, ledger } = parts;
  const dead = await store.deadBoots();
  const turns = await turnChanges(parts, self, dead);
  const items = await itemChanges(parts, dead);
  const changes = [...turns.changes, ...items];
  if (changes.length > 0) {
    const result = await ledger.keep(changes);
    if (result === "fenced") return null;
    if (result !== "committed") throw new Bug(`recovery was refused: ${result}`);
  }
  const runnable = await store.runnable();
  return { turns: runnable.length, items: items.length, hold: turns.hold, runnable, sendable: await store.sendable() };
}

async function turnChanges(parts: Parts, self: Boot, dead: readonly Boot[]) {
  const { store, world } = parts;
  const accused = new Map<TurnId, Session>();
  const held: HeldTurn[] = [];

  /** Of a turn that got something done, nobody asks. */
  async function strikesOf(turn: Turn): Promise<number> {
    const session = await store.session(turn.session);
    if (session === null) throw new Bug(`turn ${turn.id} belongs to no session`);
    accused.set(turn.id, session);
    return store.strikes(session.key);
  }

  for (const boot of dead) {
    for (const turn of await store.heldTurns(boot.id)) {
      const progressed = await gotSomething(parts, turn.id);
      held.push({ turn, boot, progressed, strikes: progressed ? 0 : await strikesOf(turn) });
    }
  }
  const { turns, hold } = decideTurns(held, self.machine, world.now());
  const changes: Change[] = [];
  for (const { type, turn, strikes } of turns) {
    changes.push({ put: "turn", turn });
    const session = accused.get(turn.id);
    if (session === undefined) continue;
    if (type === "convicted") {
      parts.world.log("warn", "a turn was given up: the gateway died each time while working on it", {
        turn: turn.id,
        session: session.id,
        deaths: strikes,
      });
      changes.push({ drop: "strikes", key: session.key }, ...sorry(parts, session, turn.id));
    } else if (strikes > 0) changes.push({ put: "strikes", key: session.key, strikes });
  }
  return { changes, hold };
}

async function gotSomething({ store }: Parts, turn: TurnId): Promise<boolean> {
  for (const limit of [endOf, moreOf]) {
    const tail = await store.journalTail(turn, limit);
    if (madeProgress(tail)) return true;
    if (tail.length < limit || tail.some((entry) => entry.type === "resumed")) return false;
  }
  return false;
}

/** The answer of a turn that was given up. */
function sorry(parts: Parts, session: Session, turn: TurnId): readonly Change[] {
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
    at,
  } as const;
  return writeReply(reply, null).changes;
}

async function itemChanges(parts: Parts, dead: readonly Boot[]): Promise<readonly Change[]> {
  const changes: Change[] = [];
  for (const boot of dead) {
    for (const item of await parts.store.heldItems(boot.id)) {
      const can = platformOf(parts, item.to)?.can ?? { keyedSend: false };
      const doubts = (item.now.state === "sending" ? (item.now.doubts ?? 0) : 0) + 1;
      const doubt = decideInDoubt(can, settingsOf(parts, item.to.platform).inDoubt, doubts);
      changes.push({ put: "item", item: decideItem(item, doubt, parts.world.now()) });
    }
  }
  return changes;
}
