// What an inbound message will write, as a plan: the changes of one commit, and what follows in memory once it stands or
// was refused. Where the session is idle, the turn starts in the very commit that accepts it.

import { gist } from "../core/asked/asking.ts";
import type { Change } from "../core/change.ts";
import type { Instant, TurnId } from "../core/ids.ts";
import type { Entry } from "../core/journal.ts";
import { type Inbound, formatAddress } from "../core/message.ts";
import { hintsFor } from "../core/notice.ts";
import { type Decided, type OpenQuestion, type Route, decided, mayRestart, route } from "../core/route.ts";
import { takenBy } from "../core/session.ts";
import { type Turn, advanceTurn, asNew, newTurn } from "../core/turn.ts";
import { type Plan, alongside, inboxRow, saidRow } from "./accepting.ts";
import { type Obeyed, only, unclearText } from "./commands/obeyed.ts";
import { type Lane, type Lanes, ownership } from "./lanes/lanes.ts";
import type { Outlet } from "./outbox/pump.ts";
import { writeReply } from "./outbox/replies.ts";
import { type Parts, platformOf, settingsOf } from "./parts.ts";
import { Interruption } from "./turns/interruption.ts";

export interface Plans {
  /** Whatever came in: a command, an answer, or the start of a turn. */
  inbound(lane: Lane, inbound: Inbound): Promise<Plan>;
  message(lane: Lane, inbound: Inbound): Plan;
  /** The waiting turn goes on with what was answered, or with null when its time is over; null when it does not wait. */
  answer(lane: Lane, inbound: Inbound, answer: Route & { type: "answer" }): Promise<Plan | null>;
  /** Something said by us without being asked. */
  post(lane: Lane, inbound: Inbound, text: string): Plan;
  /** Only remembers the key. */
  nothing(inbound: Inbound, turn: TurnId): Plan;
}

export function plans(parts: Parts, lanes: Lanes, outlet: Outlet, onRestartAsked: (turn: Turn) => void): Plans {
  const { store, world, boot, events } = parts;

  const inboxOf = (inbound: Inbound, turn: string) => inboxRow(inbound, turn, world.now());
  const wordsOf = (inbound: Inbound, { session }: Lane, turn: TurnId) =>
    saidRow(inbound, session.id, turn, world.now());

  function sessionOf(lane: Lane): readonly Change[] {
    const at = world.now();
    if (lane.stored) return [{ put: "active", session: lane.session.id, at }];
    const made: Change = { put: "session", session: lane.session };
    return lane.follows === null ? [made] : [{ put: "ended", session: lane.follows, at }, made];
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
        if (arrival === "wait-and-interrupt") {
          const why = new Interruption("superseded", "A newer message took its place");
          void lanes.settled(lane).then(() => lanes.interrupt(lane, why, { isNot: turn.id }));
        }
      },
      refused: () => undefined,
    };
  }

  function planMessage(lane: Lane, inbound: Inbound, more: readonly Change[] = []): Plan {
    const turn = newTurn(world.id() as TurnId, lane.session.id, inbound, world.now());
    return planTurn(
      lane,
      turn,
      true,
      [inboxOf(inbound, turn.id), ...sessionOf(lane), ...wordsOf(inbound, lane, turn.id), ...more],
      [],
    );
  }

  /**
   * The waiting turn goes on with what was answered; null stands for a question whose time is over. It does so in the
   * lane of its own session, also when its user has started over since.
   */
  async function planAnswer(lane: Lane, inbound: Inbound, answer: Route & { type: "answer" }): Promise<Plan | null> {
    const turn = await store.turn(answer.turn);
    if (turn?.now.state !== "waiting" || turn.now.question !== answer.question) return null;
    if (turn.session === lane.session.id) return planAnswered(lane, inbound, answer, turn);
    const session = await store.session(turn.session);
    if (session === null || session.key !== lane.session.key) return null;
    const its = await lanes.enterSession(session);
    const plan = await planAnswered(its, inbound, answer, turn);
    const leave = () => lanes.leave(its);
    return alongside({ changes: [], stored: leave, refused: leave }, plan);
  }

  async function planAnswered(
    lane: Lane,
    inbound: Inbound,
    { question, choice }: Route & { type: "answer" },
    turn: Turn,
  ): Promise<Plan> {
    const journal = await store.journalOf(turn.id);
    const by = choice === null ? {} : { by: `${inbound.sender} at ${formatAddress(inbound.from)}` };
    const entries: Entry[] = [{ type: "answered", question, choice, ...by }];
    // The answer is words; what came with them reaches the agent as a message that joined.
    if (inbound.body.kind === "text" && inbound.body.files.length > 0)
      entries.push({ type: "joined", message: inbound });
    const before: Change[] = [
      inboxOf(inbound, turn.id),
      ...sessionOf(lane),
      ...wordsOf(inbound, lane, turn.id),
      ...entries.map((entry, i): Change => {
        return { put: "entry", turn: turn.id, n: journal.length + i, at: world.now(), entry };
      }),
      { drop: "timer", id: question },
    ];
    return planTurn(lane, advanceTurn(turn, { type: "answered" }), false, before, [...journal, ...entries]);
  }

  async function planCommand(
    lane: Lane,
    inbound: Inbound,
    command: Exclude<Route, { type: "turn" | "answer" }>,
  ): Promise<Plan> {
    await lanes.settled(lane);
    // Loaded with the first command, or when there is time.
    const { obey } = await import("./commands/obey.ts");
    return planSaid(lane, inbound, await obey(parts, lanes, lane, command, inbound, world.now()));
  }

  function planSaid(lane: Lane, inbound: Inbound, obeyed: Obeyed): Plan {
    const at = world.now();
    const turn = newTurn(world.id() as TurnId, lane.session.id, inbound, at);
    const done = asNew(advanceTurn(turn, { type: "ended", outcome: "replied", at }));
    const reply = planReply(lane, turn.id, turn.id, obeyed.text, at, inbound);
    return {
      changes: [
        inboxOf(inbound, turn.id),
        ...sessionOf(lane),
        ...wordsOf(inbound, lane, turn.id),
        { put: "turn", turn: done },
        ...reply.changes,
        ...obeyed.changes,
        // What is said between a user and the gateway is nothing the agent has to remember.
        { put: "undone", session: lane.session.id, turn: turn.id },
      ],
      stored() {
        lane.stored = true;
        reply.stored();
        obeyed.stored();
      },
      refused: reply.refused,
    };
  }

  /** Nothing is answered now: whatever start comes next does, because by then it has happened. */
  function planRestart(lane: Lane, inbound: Inbound): Plan {
    const at = world.now();
    const turn = newTurn(world.id() as TurnId, lane.session.id, inbound, at);
    const asked = asNew(advanceTurn(turn, { type: "restart-asked", at }));
    return {
      changes: [
        inboxOf(inbound, turn.id),
        ...sessionOf(lane),
        ...wordsOf(inbound, lane, turn.id),
        { put: "turn", turn: asked },
      ],
      stored() {
        lane.stored = true;
        events.emit({ type: "accepted", session: turn.session, turn: turn.id, from: inbound.from });
        onRestartAsked(asked);
      },
      refused: () => undefined,
    };
  }

  function isRestart(found: Route, { sender, from }: Inbound): boolean {
    return (
      found.type === "command" &&
      found.name === "restart" &&
      mayRestart(sender, settingsOf(parts, from.platform).admins)
    );
  }

  function planReply(lane: Lane, id: string, turn: TurnId | null, text: string, at: Instant, answered?: Inbound): Plan {
    const to = lane.session.address;
    const texts = platformOf(parts, to)?.parts(text) ?? [text];
    const hints = hintsFor(to, answered?.hints, answered?.anchor);
    const slot = outlet.reserve(lane.session.id, to);
    const written = writeReply(
      { id, session: lane.session.id, turn, to, role: "assistant", text, parts: texts, hints, at },
      slot.free ? boot : null,
    );
    return {
      changes: written.changes,
      stored: () => slot.send(written.taken, written.more),
      refused: () => slot.send(null, false),
    };
  }

  async function planInbound(lane: Lane, inbound: Inbound): Promise<Plan> {
    const open = lane.stored ? await store.questionsAt(lane.session.key) : [];
    const found = route(inbound, open);
    if (isRestart(found, inbound)) return planRestart(lane, inbound);
    switch (found.type) {
      case "turn":
        return planMessage(lane, inbound);
      case "answer":
        return (await planAnswer(lane, inbound, found)) ?? planTooLate(lane, inbound, found);
      case "command":
        return (await planSpecial(lane, inbound, found, open)) ?? planCommand(lane, inbound, found);
      default:
        return planCommand(lane, inbound, found);
    }
  }

  /** Somebody else answered at that moment: a press is told so, words are a message like any other. */
  async function planTooLate(lane: Lane, inbound: Inbound, { question }: Route & { type: "answer" }): Promise<Plan> {
    if (inbound.body.kind !== "answer") return planMessage(lane, inbound);
    return planCommand(lane, inbound, { type: "late-answer", question });
  }

  /** The commands that move a turn; null where there is none to move, and they are only answered. */
  async function planSpecial(
    lane: Lane,
    inbound: Inbound,
    { name, rest }: Route & { type: "command" },
    open: readonly OpenQuestion[],
  ): Promise<Plan | null> {
    switch (name) {
      case "approve":
      case "deny": {
        const found = decided(name, rest, open);
        if (found === "unclear") return planSaid(lane, inbound, only(unclearText(rest)));
        return found === null ? null : planDecision(lane, inbound, found);
      }
      case "retry": {
        await lanes.settled(lane);
        const { lastExchange, saidAgain } = await import("./commands/exchange.ts");
        const last = await lastExchange(parts, lane);
        if (typeof last === "string") return planSaid(lane, inbound, only(last));
        return planMessage(lane, saidAgain(last, inbound), last.undone);
      }
      default:
        return null;
    }
  }

  /** Where several wait, it is said which one was meant. */
  async function planDecision(lane: Lane, inbound: Inbound, { asked, answer, others }: Decided): Promise<Plan | null> {
    const plan = await planAnswer(lane, inbound, answer);
    if (plan === null || others === 0) return plan;
    const more = others === 1 ? "One more waits" : `${others} more wait`;
    const text = `That was for: ${gist(asked.text)}\n${more} to be allowed.`;
    const note = planReply(lane, `note-${world.id()}`, null, text, world.now(), inbound);
    return alongside(plan, note);
  }

  return {
    inbound: planInbound,
    message: planMessage,
    answer: planAnswer,
    post(lane, inbound, text) {
      const reply = planReply(lane, `post-${world.id()}`, null, text, world.now());
      return {
        changes: [inboxOf(inbound, inbound.key), ...sessionOf(lane), ...reply.changes],
        stored() {
          lane.stored = true;
          reply.stored();
        },
        refused: reply.refused,
      };
    },
    nothing: (inbound, turn) => ({
      changes: [inboxOf(inbound, turn)],
      stored: () => undefined,
      refused: () => undefined,
    }),
  };
}
