// Suspends a session at a boot: what was interrupted in it ends with a word to its user, and whatever else was accepted
// there goes on in the session that takes its place. Changes only; the boot commits them with everything else.

import type { Change } from "../../core/change.ts";
import { type SessionId, type TurnId, later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import { bringsOutside } from "../../core/message.ts";
import { type Boot, type SuspendCause, type TurnVerdict, decideSuspension } from "../../core/recovery.ts";
import { type Session, followerOf } from "../../core/session.ts";
import { type Turn, advanceTurn } from "../../core/turn.ts";
import { draftOf, forgetDraft, lostDraft } from "../outbox/drafts.ts";
import { writeReply } from "../outbox/replies.ts";
import type { Parts } from "../parts.ts";
import { leftBy } from "../turns/calls/left.ts";

const whys: Readonly<Record<SuspendCause, string>> = {
  strikes: "it was interrupted three times without getting anywhere",
  interruptions: `it was interrupted ${limits.interruptionsMax} times by stops and restarts`,
  crash: "the gateway broke down while working on this",
};

/** A session that is to be suspended, with the turns of it that a dead boot was running. */
type Due = { readonly session: Session; readonly cause: SuspendCause; readonly held: Turn[] };

/**
 * The sessions that were active when the process died, where the owner wants them suspended then. One that is to be
 * resumed is left alone, and one that is suspended needs nothing.
 */
export async function recentlyActive(
  parts: Parts,
  self: Boot,
  dead: readonly Boot[],
): Promise<Map<SessionId, Session>> {
  const { store, archive, world, settings, platforms } = parts;
  const found = new Map<SessionId, Session>();
  if (settings.recovery.afterCrash !== "suspend") return found;
  const last = (await archive.lastBoots(2)).filter(({ id }) => id !== self.id);
  if (![...last, ...dead].some(({ stop }) => stop === null)) return found;
  const since = later(world.now(), -limits.recentMs);
  for (const name of new Set(platforms.map((one) => one.name))) {
    for (const session of await store.activeSince(name, since)) {
      if (session.standing === "active" && session.resume === null) found.set(session.id, session);
    }
  }
  return found;
}

/** Everything that is suspended at this boot: by verdict, by the number of strikes, or because it was active. */
export async function suspensions(
  parts: Parts,
  verdicts: readonly TurnVerdict[],
  sessions: ReadonlyMap<TurnId, Session>,
  struckOut: readonly string[],
  recent: ReadonlyMap<SessionId, Session>,
): Promise<{ readonly changes: readonly Change[]; readonly drops: readonly (() => void)[]; readonly count: number }> {
  const due = new Map<SessionId, Due>();
  for (const verdict of verdicts) {
    const session = sessions.get(verdict.turn.id);
    if (verdict.type !== "suspended" || session === undefined) continue;
    due.set(session.id, { session, cause: verdict.cause, held: [verdict.turn] });
  }
  const done = new Set([...due.values()].map(({ session }) => session.key));
  const changes: Change[] = [];
  for (const key of struckOut) {
    if (done.has(key)) continue;
    changes.push({ drop: "strikes", key });
    const cause = await causeOf(parts, key);
    for (const session of await interruptedAt(parts, key)) due.set(session.id, { session, cause, held: [] });
  }
  for (const session of recent.values()) {
    if (!due.has(session.id)) due.set(session.id, { session, cause: "crash", held: [] });
  }
  const drops: (() => void)[] = [];
  for (const one of due.values()) changes.push(...(await suspension(parts, one, drops)));
  return { changes, drops, count: due.size };
}

/** An imported count is not in the store yet; such counts are strikes. */
async function causeOf({ store }: Parts, key: string): Promise<SuspendCause> {
  const counts = { strikes: await store.strikes(key), interruptions: await store.interruptions(key) };
  return decideSuspension(counts) ?? "strikes";
}

/** The sessions of a key with a turn that waits to go on; else the one that is there, unless it is suspended already. */
async function interruptedAt({ store }: Parts, key: string): Promise<readonly Session[]> {
  const found: Session[] = [];
  for (const session of await store.runnable()) {
    if (session.key !== key) continue;
    if ((await store.readyTurns(session.id)).some(({ now }) => now.state === "parked")) found.push(session);
  }
  if (found.length > 0) return found;
  const there = await store.sessionOf(key);
  return there === null || there.standing === "suspended" ? [] : [there];
}

async function suspension(
  parts: Parts,
  { session, cause, held }: Due,
  drops: (() => void)[],
): Promise<readonly Change[]> {
  const { store, world } = parts;
  world.log("warn", "a conversation was suspended and starts over with its next message", {
    session: session.id,
    why: whys[cause],
  });
  const ready = await store.readyTurns(session.id);
  const interrupted = [...held, ...ready.filter(({ now }) => now.state === "parked")];
  const kept = [...ready.filter(({ now }) => now.state === "queued"), ...(await store.waitingTurns(session.id))];
  const changes: Change[] = [
    { put: "standing", session: session.id, standing: "suspended" },
    { drop: "strikes", key: session.key },
  ];
  for (const turn of interrupted) {
    changes.push(...(await givenUp(parts, session, turn, cause)));
    const left = await leftBy(parts, { turn, session }, "the turn was given up", world.now());
    changes.push(...left.changes);
    drops.push(left.drop, await lostDraft(parts, session.address, turn));
  }
  // Without anything to go on, the next message makes the session that follows.
  if (kept.length > 0) changes.push(...(await succeededBy(parts, session, kept)));
  return changes;
}

/** The end of an interrupted turn, with its answer in the place of what was shown of it. */
async function givenUp(parts: Parts, session: Session, turn: Turn, cause: SuspendCause): Promise<readonly Change[]> {
  const at = parts.world.now();
  const why = whys[cause];
  const text = `I had to give this up: ${why}. A new conversation begins here, and I no longer look at what was said before. Whatever else you have sent is still answered.`;
  const said = { id: turn.id, session: session.id, turn: turn.id, to: session.address, role: "assistant" } as const;
  return [
    {
      put: "turn",
      turn: advanceTurn(turn, {
        type: "ended",
        outcome: "failed",
        why,
        failure: { code: cause === "crash" ? "gateway-crash" : "interrupted-too-often" },
        at,
      }),
    },
    ...writeReply({ ...said, text, parts: [text], edits: await draftOf(parts, session.address, turn.id), at }, null)
      .changes,
    ...forgetDraft(parts, session.address, turn.id),
  ];
}

/** Turns that have not begun or wait for an answer move on, with their words and the end of their questions. */
async function succeededBy(parts: Parts, session: Session, kept: readonly Turn[]): Promise<readonly Change[]> {
  const { store, world, boot } = parts;
  const at = world.now();
  const there = session.endedAt === null ? null : await store.sessionOf(session.key);
  const next = there ?? followerOf(session, world.id() as SessionId, boot, at);
  const changes: Change[] = [];
  if (session.endedAt === null) changes.push({ put: "ended", session: session.id, at });
  if (there === null) changes.push({ put: "session", session: next });
  for (const { id: turn, now, input } of kept) {
    changes.push({ put: "rebound", turn, session: next.id });
    changes.push({ put: "words", turn, from: session.id, session: next.id });
    // What strangers wrote moves on with it.
    if (bringsOutside(input)) changes.push({ put: "outside", session: next.id });
    if (now.state !== "waiting") continue;
    const { question: id, until: dueAt } = now;
    changes.push({ drop: "timer", id }, { put: "timer", timer: { id, session: next.id, turn, dueAt, text: "" } });
  }
  return changes;
}
