// How a command or the operator ends things: what runs, what waits, or the whole conversation.

import { gist } from "../../core/asked/asking.ts";
import type { Change } from "../../core/change.ts";
import type { Instant, SessionId } from "../../core/ids.ts";
import { stoppedWords } from "../../core/running/stopped.ts";
import { type Session, newSession } from "../../core/session.ts";
import { type Turn, advanceTurn } from "../../core/turn.ts";
import type { Lane, Lanes } from "../lanes/lanes.ts";
import { draftOf, forgetDraft, lostDraft } from "../outbox/drafts.ts";
import { removeDraft } from "../outbox/previews.ts";
import { type Parts, platformOf } from "../parts.ts";
import { type Left, type Owned, leftBy } from "../turns/calls/left.ts";
import { Interruption } from "../turns/interruption.ts";
import type { Running } from "../turns/run.ts";
import { activityAt, askedTexts, listed, stopActivityAt } from "./beside.ts";
import { type Obeyed, nothing, only } from "./obeyed.ts";

/**
 * Ends what runs at this place, or else what was interrupted, or else what waits for an answer, or else what goes on in
 * the background; the session stays. What was begun before its user started over counts as well, after what the present
 * conversation has. What is left is told.
 */
export async function stop(parts: Parts, lanes: Lanes, lane: Lane, at: Instant): Promise<Obeyed> {
  const why = "stopped by its user";
  const working = workingAt(lanes, lane);
  const found: Owned | null = working ?? (await interruptedAt(parts, lane)) ?? (await askingAt(parts, lane));
  if (found === null) return { ...only(await stoppedBeside(parts, lane)), ...forgotten(lane) };
  const { turn } = found;
  const { changes, drop } = await cancelled(parts, found, why, at);
  return {
    text: await stoppedText(parts, lane, turn),
    changes,
    before: working === null ? [] : shownOf(parts, working, at),
    stored() {
      const its = lanes.laneOf(turn.session);
      if (its !== null) lanes.interrupt(its, new Interruption("cancelled", "Stopped by its user"), { is: turn.id });
      drop();
      parts.events.emit({ type: "turn-ended", session: turn.session, turn: turn.id, outcome: "cancelled", why });
    },
  };
}

/** A failed turn left its interruption behind; stopping drops that as well. */
function forgotten(lane: Lane): Pick<Obeyed, "changes" | "stored"> {
  return {
    changes: dropInterruption(lane.session),
    stored() {
      lane.session = { ...lane.session, resume: null };
    },
  };
}

function dropInterruption({ id, key, resume }: Session): readonly Change[] {
  const counts: Change = { drop: "strikes", key };
  return resume === null ? [counts] : [counts, { put: "resume", session: id, resume: null }];
}

async function stoppedBeside(parts: Parts, { session }: Lane): Promise<string> {
  const before = await activityAt(parts, session.address);
  if (before.length === 0) return "There is nothing to stop.";
  const ended = await stopActivityAt(parts, session.address);
  const left = before.length - ended.length;
  const rest = left > 0 ? `\n${left} of ${before.length} did not end. /status tells which.` : "";
  return ended.length === 0
    ? `What runs in the background did not end:${listed(before)}`
    : `Stopped in the background:${listed(ended)}${rest}`;
}

async function stoppedText(parts: Parts, { session }: Lane, turn: Turn): Promise<string> {
  const open = await parts.store.questionsAt(session.key);
  const others = askedTexts(open.filter((one) => one.turn !== turn.id));
  const withdrawn = open.find((one) => one.turn === turn.id);
  const which = withdrawn?.kind === "approval" && others.length > 0 ? [`That was: ${gist(withdrawn.text)}`] : [];
  const question = turn.now.state === "waiting" ? ["The question is withdrawn.", ...which] : [];
  const beside = await activityAt(parts, session.address);
  const more = beside.length === 0 ? "" : `\nThis goes on in the background; /stop once more ends it:${listed(beside)}`;
  const stopped = ["Stopped.", ...question].join(" ");
  return `${[stopped, ...others].join(which.length > 0 ? "\n" : " ")}${more}`;
}

/**
 * What people were shown of an answer that ends here. It stays in the transcript: our own clients show that alone, and
 * whoever says "go on" means these words.
 */
export function shownOf(parts: Parts, { turn, session, words }: Running, at: Instant): readonly Change[] {
  const text = stoppedWords(parts.hide(words));
  const every = platformOf(parts, session.address)?.can.draftEveryMs ?? null;
  if (text === null || every === null || turn.now.state !== "running") return [];
  const message = {
    key: `${turn.id}.stopped`,
    session: session.id,
    turn: turn.id,
    role: "assistant",
    text,
    at,
  } as const;
  return [{ put: "message", message }];
}

/** The turn that runs at the place of a lane: its own, or the latest of a session that it succeeded. */
export function workingAt(lanes: Lanes, { session }: Lane): Running | null {
  const here = lanes.running().filter((one) => one.session.key === session.key && one.turn.now.state === "running");
  return here.find((one) => one.session.id === session.id) ?? here.at(-1) ?? null;
}

async function interruptedAt({ store }: Parts, { session }: Lane): Promise<Owned | null> {
  const here = (await store.runnable()).filter(({ key }) => key === session.key);
  for (const own of here.toSorted((a, b) => Number(b.id === session.id) - Number(a.id === session.id))) {
    const turn = await store.nextTurn(own.id);
    if (turn?.now.state === "parked") return { turn, session: own };
  }
  return null;
}

async function askingAt({ store }: Parts, { session }: Lane): Promise<Owned | null> {
  const asked = (await store.questionsAt(session.key)).at(-1);
  const turn = asked === undefined ? null : await store.turn(asked.turn);
  const own = turn === null ? null : await store.session(turn.session);
  return turn === null || own === null ? null : { turn, session: own };
}

/**
 * The end of a turn by somebody's wish. With it goes what was counted against it, and its question; what was open in it
 * is told in its journal, by its run if it has one.
 */
export async function cancelled(parts: Parts, { turn, session }: Owned, why: string, at: Instant): Promise<Left> {
  const { state } = turn.now;
  const ended = advanceTurn(turn, { type: "ended", outcome: "cancelled", why, at });
  const changes: Change[] = [
    { put: "turn", turn: ended },
    ...dropInterruption(state === "running" || state === "parked" ? session : { ...session, resume: null }),
    ...forgetDraft(parts, session.address, turn.id),
  ];
  if (turn.now.state === "waiting") changes.push({ drop: "timer", id: turn.now.question });
  if (state === "running") return { changes, drop: nothing };
  const left = await leftBy(parts, { turn, session }, why, at);
  const shown = await draftOf(parts, session.address, turn.id);
  const removeLost = await lostDraft(parts, session.address, turn);
  return {
    changes: [...changes, ...left.changes],
    drop() {
      left.drop();
      removeLost();
      // What was shown of it is half an answer.
      if (shown !== null) void removeDraft(parts, session.address, shown);
    },
  };
}

/** What was asked before is still answered; the next message meets an empty memory. */
export async function startOver(parts: Parts, lanes: Lanes, lane: Lane, at: Instant): Promise<Obeyed> {
  const text = "A new conversation begins here. I no longer look at what was said before.";
  // Somebody else started over at the same moment; once is enough.
  if (lane.session.endedAt !== null) return { text, changes: [], stored: () => lanes.succeed(lane) };
  const { changes, drop } = await succession(parts, lane.session, at);
  return {
    text,
    changes,
    stored() {
      lanes.succeed(lane);
      drop();
    },
  };
}

/** Another session takes the place of this one; what is asked there is withdrawn, and an interruption is forgotten. */
export async function succession(parts: Parts, session: Session, at: Instant): Promise<Left> {
  const next = newSession(parts.world.id() as SessionId, session.address, parts.boot, at, session.model);
  const changes: Change[] = [
    { put: "ended", session: session.id, at },
    { put: "session", session: next },
  ];
  if (!(await isBusy(parts, session.id))) changes.push(...dropInterruption(session));
  const drops: (() => void)[] = [];
  for (const { turn: id } of await parts.store.questionsAt(session.key)) {
    const turn = await parts.store.turn(id);
    const own = turn === null ? null : await parts.store.session(turn.session);
    if (turn === null || own === null) continue;
    const left = await cancelled(parts, { turn, session: own }, "its user started over", at);
    changes.push(...left.changes);
    drops.push(left.drop);
  }
  return {
    changes,
    drop() {
      for (const drop of drops) drop();
    },
  };
}

/** A turn that runs or waits to continue is still answered, and keeps its counts. */
async function isBusy({ store, boot }: Parts, session: SessionId): Promise<boolean> {
  if ((await store.heldTurns(boot)).some((turn) => turn.session === session)) return true;
  return (await store.readyTurns(session)).some(({ now }) => now.state === "parked");
}
