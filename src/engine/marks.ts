// Marks a session whose turn a stop interrupts, counts the interruption, and clears both when a turn ends well. Only turns
// that run at that moment are marked; a turn that finishes first was not interrupted.

import type { Change } from "../core/change.ts";
import { follows } from "../core/journal.ts";
import { type StopClass, countInterruption } from "../core/recovery.ts";
import { clearResume, markResume, resumeReason } from "../core/resume.ts";
import type { Resume, Session } from "../core/session.ts";
import type { Parts } from "./parts.ts";
import type { Running } from "./turns/run.ts";

/** A mark meets a conflict only when a turn ended at that moment; each time there is at least one less. */
const conflictsMax = 10;

/**
 * At the end of a drain, before anything is interrupted: marks the sessions of all these turns and counts the
 * interruption of each, in one commit. A turn that is being broken off already, or has ended by the time of the commit,
 * is left out. Returns how many were marked.
 */
export async function markRunning(parts: Parts, running: readonly Running[], stop: StopClass): Promise<number> {
  const { store, world, ledger } = parts;
  const reason = resumeReason({ class: stop });

  async function changesFor(one: Running): Promise<readonly Change[]> {
    const marked = markResume(one.session, world.now(), reason);
    if (marked === null) return [];
    const { id, key, fence } = marked;
    const changes: Change[] = [
      { check: "turn", turn: one.turn.id, version: one.turn.version, session: id, fence },
      { put: "resume", session: id, resume: marked.resume },
    ];
    const before = { strikes: await store.strikes(key), interruptions: await store.interruptions(key) };
    const isFollowing = follows(await store.journalOf(one.turn.id));
    const { strikes, interruptions } = countInterruption(before, {
      stop,
      progressed: one.hasResult,
      follows: isFollowing,
      attempt: one.turn.attempt,
    });
    if (strikes !== before.strikes) changes.push({ put: "strikes", key, strikes });
    if (interruptions !== before.interruptions) changes.push({ put: "interruptions", key, interruptions });
    // Noted here first: an end that is committed right behind this takes the mark away.
    one.session = marked;
    return changes;
  }

  let left = running.filter(({ abort, turn }) => !abort.signal.aborted && turn.now.state === "running");
  for (let tries = 0; tries < conflictsMax && left.length > 0; tries++) {
    const marks = await Promise.all(left.map(changesFor));
    const result = await ledger.commit(marks.flat());
    if (result === "committed") return marks.filter((changes) => changes.length > 0).length;
    if (result !== "conflict") return 0;
    const found = await Promise.all(left.map(({ turn }) => store.turn(turn.id)));
    left = left.filter(({ turn }, i) => found[i]?.now.state === "running" && found[i]?.version === turn.version);
  }
  return 0;
}

/** Clears the mark of a session when a turn ends well, unless an interrupted turn still waits to continue. */
export async function unmark({ store }: Parts, session: Session): Promise<readonly Change[]> {
  const cleared = clearResume(session);
  if (cleared === null) return [];
  const waits = (await store.readyTurns(session.id)).some(({ now }) => now.state === "parked");
  return waits ? [] : [{ put: "resume", session: session.id, resume: cleared.resume }];
}

/**
 * What interrupted the previous turn of a session, where that turn was never finished and a new one begins. Null while
 * the interrupted turn only waits for an answer.
 */
export async function interruptedBefore({ store }: Parts, { session }: Running): Promise<Resume | null> {
  if (session.resume === null) return null;
  return (await store.waitingTurns(session.id)).length === 0 ? session.resume : null;
}
