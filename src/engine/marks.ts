// Notes on a session what interrupted its turn, counts it where nothing was gained, and takes both away when a turn ends.
// Only what runs at that very moment is marked; whoever finishes first was not interrupted.

import type { Change } from "../core/change.ts";
import { follows } from "../core/journal.ts";
import type { StopClass } from "../core/recovery.ts";
import { clearResume, markResume, resumeReason } from "../core/resume.ts";
import type { Session } from "../core/session.ts";
import type { Parts } from "./parts.ts";
import type { Running } from "./turns/run.ts";

/** A mark meets a conflict only when a turn ended at that moment; each time there is at least one less. */
const conflictsMax = 10;

/**
 * At the end of a drain, before anything is interrupted: marks the sessions of all these turns and counts one strike
 * for each that has no result since its start, in one commit. A turn that is being broken off already, or has ended by
 * the time of the commit, is left out. Answers how many were marked. A mistake of ours accuses nobody by its stop.
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
    const isLost = !one.hasResult && !follows(await store.journalOf(one.turn.id));
    if (isLost && stop !== "fault") {
      changes.push({ put: "strikes", key, strikes: (await store.strikes(key)) + 1 });
    }
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

/** What the end of a turn takes off its session; the mark stays for a turn that still waits to go on. */
export async function unmark({ store }: Parts, session: Session): Promise<readonly Change[]> {
  const cleared = clearResume(session);
  if (cleared === null) return [];
  const waits = (await store.readyTurns(session.id)).some(({ now }) => now.state === "parked");
  return waits ? [] : [{ put: "resume", session: session.id, resume: cleared.resume }];
}
