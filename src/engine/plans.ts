// What an inbound message will write, as a plan: the changes of one commit, and what follows in memory once it stands or
// was refused. Where the session is idle, the turn starts in the very commit that accepts it.

import type { TurnId } from "../core/ids.ts";
import type { Inbound } from "../core/message.ts";
import { type OpenQuestion, type Route, commandRoles, decided } from "../core/route.ts";
import { type Turn, advanceTurn, asNew, newTurn, reworded } from "../core/turn.ts";
import { standingHere } from "./access/gate.ts";
import { type Guesses, guesses } from "./access/guesses.ts";
import { type Plan, alongside } from "./accepting.ts";
import { only, refusedText, unclearText } from "./commands/obeyed.ts";
import type { Lane, Lanes } from "./lanes/lanes.ts";
import type { Outlet } from "./outbox/pump.ts";
import type { Parts } from "./parts.ts";
import { decidable, judgeAnswer } from "./plans/answering.ts";
import { type Answers, answers } from "./plans/answers.ts";
import { type Pieces, pieces } from "./plans/pieces.ts";

export interface Plans extends Pick<Answers, "answer">, Pick<Pieces, "message" | "post" | "nothing"> {
  /** Whatever came in: a command, an answer, a new wording, or the start of a turn. */
  inbound(lane: Lane, inbound: Inbound): Promise<Plan>;
  /** Codes that were tried, here and by the operator. */
  readonly guesses: Guesses;
}

type Command = Route & { readonly type: "command" };

export function plans(parts: Parts, lanes: Lanes, outlet: Outlet, onRestartAsked: (turn: Turn) => void): Plans {
  const { store, world, events } = parts;
  const made = pieces(parts, lanes, outlet);
  const { answer: planAnswer, decision } = answers(parts, lanes, made, outlet);
  const tried = guesses(parts);

  async function planCommand(
    lane: Lane,
    inbound: Inbound,
    command: Exclude<Route, { type: "turn" | "answer" }>,
  ): Promise<Plan> {
    await lanes.settled(lane);
    // Loaded with the first command, or when there is time.
    const { obey } = await import("./commands/obey.ts");
    return made.said(lane, inbound, await obey(parts, lanes, lane, command, inbound, world.now()));
  }

  /** Nothing is answered now: whatever start comes next does, because by then it has happened. */
  function planRestart(lane: Lane, inbound: Inbound): Plan {
    const at = world.now();
    const turn = newTurn(world.id() as TurnId, lane.session.id, inbound, at);
    const asked = asNew(advanceTurn(turn, { type: "restart-asked", at }));
    return {
      changes: [
        made.inbox(inbound, turn.id),
        ...made.session(lane),
        ...made.words(inbound, lane, turn.id),
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

  async function planInbound(lane: Lane, inbound: Inbound): Promise<Plan> {
    if (inbound.replaces !== undefined) return planReworded(inbound, inbound.replaces);
    const open = lane.stored ? await store.questionsAt(lane.session.key) : [];
    const judged = await judgeAnswer(parts, inbound, open);
    if (judged.type === "refused") {
      const plan = made.said(lane, inbound, only(judged.text));
      return inbound.body.kind === "answer" ? { ...plan, isVoid: true } : plan;
    }
    if (judged.type === "answer")
      return (await planAnswer(lane, inbound, judged.answer)) ?? planTooLate(lane, inbound, judged.answer);
    const { route: found } = judged;
    switch (found.type) {
      case "turn":
        return made.message(lane, inbound);
      case "command":
        if (!(await mayCommand(inbound, found)))
          return made.said(lane, inbound, only(refusedText(found.name, inbound)));
        return (await planSpecial(lane, inbound, found, open)) ?? planCommand(lane, inbound, found);
      case "late-answer":
        return planLate(lane, inbound, found);
      default:
        return planCommand(lane, inbound, found);
    }
  }

  /** The press does not count, so its message must not show it as the choice that was made. */
  async function planLate(lane: Lane, inbound: Inbound, late: Route & { type: "late-answer" }): Promise<Plan> {
    return { ...(await planCommand(lane, inbound, late)), isVoid: true };
  }

  async function mayCommand(inbound: Inbound, { name }: Command): Promise<boolean> {
    return commandRoles[name] === "person" || (await standingHere(parts, inbound)).commands;
  }

  /** What its user wrote anew takes the place of what waits; what has begun is answered as it was. */
  async function planReworded(inbound: Inbound, replaces: string): Promise<Plan> {
    const { platform, account } = inbound.from;
    const turn = await store.turnBy(platform, account, replaces);
    const input = turn === null ? null : reworded(turn, inbound);
    if (turn === null || input === null) return made.nothing(inbound, turn?.id ?? inbound.key);
    const { text, files } = input.body;
    return {
      changes: [
        made.inbox(inbound, turn.id),
        { put: "input", turn: turn.id, version: turn.version + 1, input },
        { put: "wording", session: turn.session, key: input.key, text, files },
      ],
      stored: () => undefined,
      refused: () => undefined,
    };
  }

  /** Somebody else answered at that moment: a press is told so, words are a message like any other. */
  async function planTooLate(lane: Lane, inbound: Inbound, { question }: Route & { type: "answer" }): Promise<Plan> {
    if (inbound.body.kind !== "answer") return made.message(lane, inbound);
    return planLate(lane, inbound, { type: "late-answer", question });
  }

  /** The commands that move a turn or somebody else; null where there is none to move, and they are only answered. */
  async function planSpecial(
    lane: Lane,
    inbound: Inbound,
    { name, rest }: Command,
    open: readonly OpenQuestion[],
  ): Promise<Plan | null> {
    switch (name) {
      case "approve":
      case "deny": {
        const which = await decidable(parts, inbound, name === "approve" ? "allow" : "deny", open);
        if (typeof which === "string") return made.said(lane, inbound, only(which));
        const found = decided(name, rest, which);
        if (found === "unclear") return made.said(lane, inbound, only(unclearText(rest)));
        return found === null ? null : decision(lane, inbound, found);
      }
      case "retry": {
        await lanes.settled(lane);
        const { lastExchange, saidAgain } = await import("./commands/exchange.ts");
        const last = await lastExchange(parts, lane);
        if (typeof last === "string") return made.said(lane, inbound, only(last));
        return made.message(lane, saidAgain(last, inbound), last.undone);
      }
      case "resend":
        return planResend(lane, inbound);
      case "restart":
        return planRestart(lane, inbound);
      case "pair":
        return planPair(lane, inbound, rest);
      default:
        return null;
    }
  }

  /** What is held here goes out again, before the answer to this command. */
  async function planResend(lane: Lane, inbound: Inbound): Promise<Plan> {
    const { resendAt } = await import("./outbox/held.ts");
    const { items, changes } = await resendAt(parts, inbound.from, world.now());
    if (items.length === 0) return made.said(lane, inbound, only("There is nothing to send again."));
    const stored = () => {
      for (const { session, to } of items) outlet.poke(session, to);
    };
    return made.said(lane, inbound, { text: "I am sending it again.", changes, stored });
  }

  /** Whoever is let in by it hears of it in the same commit. */
  async function planPair(lane: Lane, inbound: Inbound, rest: string): Promise<Plan> {
    const { platform, account } = inbound.from;
    // A redelivered approval must not count as a code that was tried and is wrong by now.
    if ((await store.turnBy(platform, account, inbound.key)) !== null) return made.nothing(inbound, inbound.key);
    const { pair } = await import("./commands/pair.ts");
    const { welcome, ...obeyed } = await pair(parts, tried, inbound, rest);
    const said = made.said(lane, inbound, obeyed);
    if (welcome === null) return said;
    const its = await lanes.enter(welcome.to.from);
    const leave = () => lanes.leave(its);
    const told = made.post(its, welcome.to, welcome.text);
    return alongside(said, alongside({ changes: [], stored: leave, refused: leave }, told));
  }

  return {
    inbound: planInbound,
    message: made.message,
    answer: planAnswer,
    post: made.post,
    nothing: made.nothing,
    guesses: tried,
  };
}
