// What the commands inside a chat do and answer. Each is carried out in the very commit that accepts it, so a command
// that was acknowledged has happened, once.

import type { Change } from "../core/change.ts";
import type { Instant, SessionId } from "../core/ids.ts";
import { type Inbound, formatAddress } from "../core/message.ts";
import { type Route, commands } from "../core/route.ts";
import { type Session, newSession } from "../core/session.ts";
import { type Turn, advanceTurn } from "../core/turn.ts";
import type { Lane, Lanes } from "./lanes/lanes.ts";
import type { Parts } from "./parts.ts";
import { Interruption } from "./turns/interruption.ts";

export type Obeyed = {
  readonly text: string;
  readonly changes: readonly Change[];
  /** What follows in memory once the commit stands. */
  readonly stored: () => void;
};

type Command = Route & { type: "command" | "unknown-command" | "late-answer" };

const nothing = () => undefined;

export async function obey(
  parts: Parts,
  lanes: Lanes,
  lane: Lane,
  route: Command,
  inbound: Inbound,
  at: Instant,
): Promise<Obeyed> {
  if (route.type === "late-answer")
    return { text: "That question was answered already, or its time is over.", changes: [], stored: nothing };
  if (route.type === "unknown-command") {
    const hint = route.nearest === null ? "Send /help to see what there is." : `Did you mean /${route.nearest}?`;
    return { text: `I do not know /${route.name}. ${hint}`, changes: [], stored: nothing };
  }
  switch (route.name) {
    case "help":
      return { text: helpText(), changes: [], stored: nothing };
    case "whoami":
      return {
        text: `You are ${inbound.sender}, writing from ${formatAddress(inbound.from)}.`,
        changes: [],
        stored: nothing,
      };
    case "status":
      return { text: await statusText(parts, lane), changes: [], stored: nothing };
    case "stop":
      return stop(parts, lanes, lane, at);
    case "new":
      return startOver(parts, lanes, lane, at);
    case "restart":
      // Whoever may restart has a turn that waits for the next start, and is answered by it.
      return { text: refusedRestart(inbound), changes: [], stored: nothing };
  }
}

function refusedRestart({ sender, from }: Inbound): string {
  return `Only those named as admins of ${from.platform} may restart the gateway, and ${sender} is not among them. Ask whoever runs it.`;
}

function helpText(): string {
  const lines = Object.entries(commands).map(([name, what]) => `- /${name}: ${what}`);
  return ["Write to me, and I answer. These commands work at any time:", ...lines].join("\n");
}

async function statusText(parts: Parts, lane: Lane): Promise<string> {
  const { running } = lane;
  const { length: queued } = await parts.store.queuedTurns(lane.session.id, 100);
  const { length: asked } = await parts.store.openQuestions(lane.session.id);
  const waits = [
    ...(queued > 0 ? [`${queued} more ${queued === 1 ? "message waits" : "messages wait"}.`] : []),
    ...(asked > 0
      ? [`${asked === 1 ? "A question of mine waits" : `${asked} questions of mine wait`} for an answer.`]
      : []),
  ];
  if (waits.length === 0) waits.push("Nothing waits.");
  if (running === null || running === "starting") return ["I am not working on anything here.", ...waits].join(" ");
  const { now } = running.turn;
  const seconds = now.state === "running" ? Math.round((parts.world.now() - now.startedAt) / 1000) : 0;
  const steps = `${running.steps} ${running.steps === 1 ? "step" : "steps"}`;
  return [`I have been working for ${seconds} s and finished ${steps}.`, ...waits].join(" ");
}

/** Ends what runs, or else what was interrupted, or else what waits for an answer; the session stays. */
async function stop(parts: Parts, lanes: Lanes, lane: Lane, at: Instant): Promise<Obeyed> {
  const { running } = lane;
  if (running !== null && running !== "starting" && running.turn.now.state === "running") {
    const { turn, session } = running;
    return {
      text: "Stopped.",
      changes: cancelled(turn, session, "stopped by its user", at),
      stored: () => lanes.interrupt(lane, new Interruption("cancelled", "Stopped by its user"), { is: turn.id }),
    };
  }
  const next = await parts.store.nextTurn(lane.session.id);
  if (next?.now.state === "parked") {
    return { text: "Stopped.", changes: cancelled(next, lane.session, "stopped by its user", at), stored: nothing };
  }
  const asked = (await parts.store.openQuestions(lane.session.id)).at(-1);
  const turn = asked === undefined ? null : await parts.store.turn(asked.turn);
  if (turn === null) return { text: "There is nothing to stop.", changes: [], stored: nothing };
  const changes = cancelled(turn, lane.session, "stopped by its user", at);
  return { text: "Stopped. The question is withdrawn.", changes, stored: nothing };
}

/** The end of a turn by somebody's wish; with it goes what was counted against it, and its question. */
export function cancelled(turn: Turn, session: Session, why: string, at: Instant): readonly Change[] {
  const changes: Change[] = [
    { put: "turn", turn: advanceTurn(turn, { type: "ended", outcome: "cancelled", why, at }) },
    { drop: "strikes", key: session.key },
  ];
  const { state } = turn.now;
  if (state === "waiting") changes.push({ drop: "timer", id: turn.now.question });
  if (session.resume !== null && (state === "running" || state === "parked")) {
    changes.push({ put: "resume", session: session.id, resume: null });
  }
  return changes;
}

/** What was asked before is still answered; the next message meets an empty memory. */
async function startOver(parts: Parts, lanes: Lanes, lane: Lane, at: Instant): Promise<Obeyed> {
  const text = "A new conversation begins here. I no longer look at what was said before.";
  // Somebody else started over at the same moment; once is enough.
  if (lane.session.endedAt !== null) return { text, changes: [], stored: () => lanes.succeed(lane) };
  return { text, changes: await succession(parts, lane.session, at), stored: () => lanes.succeed(lane) };
}

/** Another session takes the place of this one; its open questions are withdrawn. */
export async function succession(parts: Parts, session: Session, at: Instant): Promise<readonly Change[]> {
  const next = newSession(parts.world.id() as SessionId, session.address, parts.boot, at);
  const changes: Change[] = [
    { put: "ended", session: session.id, at },
    { put: "session", session: next },
  ];
  for (const { turn: id } of await parts.store.openQuestions(session.id)) {
    const turn = await parts.store.turn(id);
    if (turn !== null) changes.push(...cancelled(turn, session, "its user started over", at));
  }
  return changes;
}
