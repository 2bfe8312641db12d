// Accepts what comes in: routes it, stores it, and only then lets the platform forget it. One commit holds the inbox key,
// the session, the words, the turn and the cursor; where the session is idle, the turn starts in that same commit.

import type { Change } from "../core/change.ts";
import { Fault } from "../core/fault.ts";
import { Bug, type Instant, type TurnId } from "../core/ids.ts";
import type { Entry } from "../core/journal.ts";
import { limits } from "../core/limits.ts";
import { type Address, type Inbound, textOf } from "../core/message.ts";
import { type Route, route } from "../core/route.ts";
import { sessionKey, takenBy } from "../core/session.ts";
import { type Timer, toInbound } from "../core/timer.ts";
import { type Turn, advanceTurn, asNew, newTurn } from "../core/turn.ts";
import { obey } from "./commands.ts";
import { type Lane, type Lanes, ownership } from "./lanes/lanes.ts";
import { type Parts, platformOf } from "./parts.ts";
import type { Outlet } from "./outbox/pump.ts";
import { writeReply } from "./outbox/replies.ts";

export type Accepted = "accepted" | "duplicate";

export interface Intake {
  accept(inbound: Inbound, cursor: string | null): Promise<Accepted>;
  fire(timer: Timer): Promise<void>;
  /** One message out, through the outbox. */
  post(to: Address, text: string, key: string): Promise<"posted" | "duplicate">;
}

/** An acceptance ready to be committed. `stored` and `refused` say what follows in memory. */
type Plan = { readonly changes: readonly Change[]; readonly stored: () => void; readonly refused: () => void };

/** A plan meets a conflict only when the turn it touches moved at that moment. */
const conflictsMax = 10;

export function intake(parts: Parts, lanes: Lanes, outlet: Outlet): Intake {
  const { store, world, ledger, boot, events } = parts;
  let inFlight = 0;

  function inboxOf(inbound: Inbound, turn: string): Change {
    const { platform, account } = inbound.from;
    return { put: "inbox", platform, account, key: inbound.key, turn: turn as TurnId, at: world.now() };
  }

  function sessionOf(lane: Lane): Change {
    if (!lane.stored) return { put: "session", session: lane.session };
    return { put: "active", session: lane.session.id, at: world.now() };
  }

  function wordsOf(inbound: Inbound, lane: Lane, turn: TurnId): Change {
    const role = inbound.body.kind === "timer" ? "notice" : "user";
    const { key, body } = inbound;
    return {
      put: "message",
      message: { key, session: lane.session.id, turn, role, text: textOf(body), at: world.now() },
    };
  }

  /** Starts the turn at once where the lane allows it, else leaves it in the store behind others. */
  function planTurn(
    lane: Lane,
    turn: Turn,
    isNew: boolean,
    before: readonly Change[],
    journal: readonly Entry[],
  ): Plan {
    const arrival = lanes.arrive(lane);
    const from = turn.input.from;
    const accepted = () => {
      lane.stored = true;
      events.emit({ type: "accepted", session: turn.session, turn: turn.id, from });
    };
    if (arrival === "start-now") {
      const claimed = advanceTurn(turn, { type: "claimed", boot, at: world.now() });
      const running = isNew ? asNew(claimed) : { ...claimed, version: turn.version };
      return {
        changes: [...before, ...(lane.stored ? ownership(lane.session, parts) : []), { put: "turn", turn: running }],
        stored() {
          accepted();
          lane.session = takenBy(lane.session, boot);
          lanes.run(lane, running, journal);
        },
        refused: () => lanes.release(lane),
      };
    }
    return {
      changes: [...before, { put: "turn", turn }],
      stored() {
        accepted();
        lanes.queue(lane);
        if (arrival === "wait-and-interrupt") lanes.interrupt(lane, "superseded");
      },
      refused: () => undefined,
    };
  }

  function planMessage(lane: Lane, inbound: Inbound): Plan {
    const turn = newTurn(world.id() as TurnId, lane.session.id, inbound, world.now());
    return planTurn(
      lane,
      turn,
      true,
      [inboxOf(inbound, turn.id), sessionOf(lane), wordsOf(inbound, lane, turn.id)],
      [],
    );
  }

  /** The waiting turn goes on with what was answered; null stands for a question whose time is over. */
  async function planAnswer(lane: Lane, inbound: Inbound, answer: Route & { type: "answer" }): Promise<Plan | null> {
    const turn = await store.turn(answer.turn);
    if (turn?.now.state !== "waiting" || turn.now.question !== answer.question) return null;
    if (turn.session !== lane.session.id) return null;
    const journal = await store.journalOf(turn.id);
    const entry: Entry = { type: "answered", question: answer.question, choice: answer.choice };
    const before: Change[] = [
      inboxOf(inbound, turn.id),
      sessionOf(lane),
      ...(answer.choice === null ? [] : [wordsOf(inbound, lane, turn.id)]),
      { put: "entry", turn: turn.id, n: journal.length, at: world.now(), entry },
      { drop: "timer", id: answer.question },
    ];
    return planTurn(lane, advanceTurn(turn, { type: "answered" }), false, before, [...journal, entry]);
  }

  async function planCommand(
    lane: Lane,
    inbound: Inbound,
    command: Exclude<Route, { type: "turn" | "answer" }>,
  ): Promise<Plan> {
    const at = world.now();
    const obeyed = await obey(parts, lanes, lane, command, inbound, at);
    const turn = newTurn(world.id() as TurnId, lane.session.id, inbound, at);
    const done = asNew(advanceTurn(turn, { type: "ended", outcome: "replied", at }));
    const reply = planReply(lane, turn.id, turn.id, obeyed.text, at);
    return {
      changes: [
        inboxOf(inbound, turn.id),
        sessionOf(lane),
        wordsOf(inbound, lane, turn.id),
        { put: "turn", turn: done },
        ...reply.changes,
        ...obeyed.changes,
      ],
      stored() {
        lane.stored = true;
        reply.stored();
        obeyed.stored();
      },
      refused: reply.refused,
    };
  }

  function planReply(lane: Lane, id: string, turn: TurnId | null, text: string, at: Instant): Plan {
    const to = lane.session.address;
    const slot = outlet.reserve(lane.session.id);
    const texts = platformOf(parts, to)?.parts(text) ?? [text];
    const written = writeReply(
      { id, session: lane.session.id, turn, to, role: "assistant", text, parts: texts, at },
      slot.free ? boot : null,
    );
    return {
      changes: written.changes,
      stored: () => slot.send(written.taken, written.more),
      refused: () => slot.send(null, false),
    };
  }

  /** An answer belongs to the session of its question, also when its user has started over since. */
  async function laneFor({ from, body }: Inbound): Promise<Lane> {
    const turn = body.kind === "answer" ? await store.waitingFor(body.question) : null;
    const session = turn === null ? null : await store.session(turn.session);
    if (session === null || session.key !== sessionKey(from)) return lanes.enter(from);
    return lanes.enterSession(session);
  }

  async function planInbound(lane: Lane, inbound: Inbound): Promise<Plan> {
    const open = lane.stored ? await store.openQuestions(lane.session.id) : [];
    const found = route(inbound, open);
    switch (found.type) {
      case "turn":
        return planMessage(lane, inbound);
      case "answer":
        return (await planAnswer(lane, inbound, found)) ?? planMessage(lane, inbound);
      default:
        return planCommand(lane, inbound, found);
    }
  }

  /** Commits a plan, made anew when the world moved between reading and writing. */
  async function commitPlan(
    enter: () => Promise<Lane>,
    cursor: readonly Change[],
    make: (lane: Lane) => Promise<Plan>,
  ): Promise<Accepted> {
    if (inFlight >= limits.acceptsMax) throw new Fault("busy", "Too many messages at once. Send it again in a moment.");
    inFlight++;
    try {
      return await commitIn(await enter(), cursor, make);
    } finally {
      inFlight--;
    }
  }

  async function commitIn(
    lane: Lane,
    cursor: readonly Change[],
    make: (lane: Lane) => Promise<Plan>,
  ): Promise<Accepted> {
    try {
      for (let tries = 0; tries < conflictsMax; tries++) {
        const result = await tryOnce(await make(lane), cursor);
        if (result === "committed") return "accepted";
        if (result === "duplicate") return "duplicate";
        if (result === "fenced") throw new Fault("stopping", "Another gateway has taken over. Send it again.");
        const fresh = await store.session(lane.session.id);
        if (fresh !== null) lane.session = fresh;
      }
      throw new Bug("an acceptance met one conflict after another");
    } finally {
      lanes.leave(lane);
    }
  }

  async function tryOnce(plan: Plan, cursor: readonly Change[]) {
    try {
      const result = await ledger.commit([...plan.changes, ...cursor]);
      if (result === "committed") plan.stored();
      else plan.refused();
      return result;
    } catch (error) {
      plan.refused();
      throw error;
    }
  }

  return {
    async accept(inbound, cursor) {
      refuseUnusable(inbound);
      const { platform, account } = inbound.from;
      const moved: Change[] = cursor === null ? [] : [{ put: "cursor", platform, account, value: cursor }];
      const result = await commitPlan(
        () => laneFor(inbound),
        moved,
        (lane) => planInbound(lane, inbound),
      );
      // The message is known, its place in the platform's stream may not be.
      if (result === "duplicate" && cursor !== null) await ledger.commit(moved);
      return result;
    },
    async fire(timer) {
      const session = await store.session(timer.session);
      if (session === null) throw new Bug(`timer ${timer.id} belongs to no session`);
      const inbound = toInbound(timer, session);
      const drop: Change[] = [{ drop: "timer", id: timer.id }];
      const make = async (lane: Lane): Promise<Plan> => {
        if (timer.turn === null) return planMessage(lane, inbound);
        const { turn, id: question } = timer;
        const expired = await planAnswer(lane, inbound, { type: "answer", turn, question, choice: null });
        return expired ?? { changes: [inboxOf(inbound, turn)], stored: () => undefined, refused: () => undefined };
      };
      const result = await commitPlan(
        () => (timer.turn === null ? lanes.enter(session.address) : lanes.enterSession(session)),
        drop,
        make,
      );
      if (result === "duplicate") await ledger.commit(drop);
    },
    async post(to, text, key) {
      refuseUnusable({ key, from: to, sender: "", sentAt: world.now(), body: { kind: "text", text, files: [] } });
      const inbound: Inbound = {
        key: `post:${key}`,
        from: to,
        sender: "post",
        sentAt: world.now(),
        body: { kind: "text", text, files: [] },
      };
      const result = await commitPlan(
        () => lanes.enter(to),
        [],
        async (lane) => {
          const reply = planReply(lane, `post-${world.id()}`, null, text, world.now());
          const stored = () => {
            lane.stored = true;
            reply.stored();
          };
          return {
            changes: [inboxOf(inbound, key), sessionOf(lane), ...reply.changes],
            stored,
            refused: reply.refused,
          };
        },
      );
      return result === "accepted" ? "posted" : "duplicate";
    },
  };
}

function refuseUnusable({ body, key }: Inbound): void {
  if (key === "" || key.length > 512) throw new Fault("not-possible", "A message needs a key of 1 to 512 characters.");
  if (body.kind !== "text") return;
  if (body.text.trim() === "" && body.files.length === 0)
    throw new Fault("empty", "The message is empty. Write something.");
  if (body.text.length > limits.textMax) {
    throw new Fault(
      "too-large",
      `The message has ${body.text.length} characters; at most ${limits.textMax} are taken. Send it in parts.`,
    );
  }
}
