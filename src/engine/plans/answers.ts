// What is answered to a question or an approval: the turn that waits for it goes on, in the lane of its own session.

import { gist } from "../../core/asked/asking.ts";
import type { Change } from "../../core/change.ts";
import type { Entry } from "../../core/journal.ts";
import { type Inbound, formatAddress } from "../../core/message.ts";
import type { Decided, Route } from "../../core/route.ts";
import { type Turn, advanceTurn } from "../../core/turn.ts";
import { type Plan, alongside } from "../accepting.ts";
import type { Lane, Lanes } from "../lanes/lanes.ts";
import type { Outlet } from "../outbox/pump.ts";
import type { Parts } from "../parts.ts";
import { closeCopies, decidedText } from "./copies.ts";
import type { Pieces } from "./pieces.ts";

type Answer = Route & { readonly type: "answer" };

export interface Answers {
  /** The waiting turn goes on with what was answered, or with null when its time is over; null when it does not wait. */
  answer(lane: Lane, inbound: Inbound, answer: Answer): Promise<Plan | null>;
  /** The same by /approve or /deny: where several wait, it is said which one was meant. */
  decision(lane: Lane, inbound: Inbound, decided: Decided): Promise<Plan | null>;
}

export function answers(parts: Parts, lanes: Lanes, pieces: Pieces, outlet: Outlet): Answers {
  const { store, world } = parts;

  /** It goes on in the lane of its own session, also when its user has started over since, or an approver is elsewhere. */
  async function planAnswer(lane: Lane, inbound: Inbound, answer: Answer): Promise<Plan | null> {
    const turn = await store.turn(answer.turn);
    if (turn?.now.state !== "waiting" || turn.now.question !== answer.question) return null;
    if (turn.session === lane.session.id) return planAnswered(lane, inbound, answer, turn);
    const session = await store.session(turn.session);
    if (session === null) return null;
    const its = await lanes.enterSession(session);
    const plan = await planAnswered(its, inbound, answer, turn);
    const leave = () => lanes.leave(its);
    const left = alongside({ changes: [], stored: leave, refused: leave }, plan);
    return session.key === lane.session.key ? left : alongside(left, confirmed(lane, inbound, answer));
  }

  /** An approver who decides about another conversation reads in their own that it counts. */
  function confirmed(lane: Lane, inbound: Inbound, { choice }: Answer): Plan {
    const text = `${decidedText(inbound, choice)} The turn goes on.`;
    const said = pieces.reply(lane, {
      id: `note-${world.id()}`,
      turn: null,
      text,
      shown: text,
      at: world.now(),
      answered: inbound,
    });
    return {
      changes: [...pieces.session(lane), ...said.changes],
      stored() {
        lane.stored = true;
        said.stored();
      },
      refused: said.refused,
    };
  }

  async function planAnswered(lane: Lane, inbound: Inbound, { question, choice }: Answer, turn: Turn): Promise<Plan> {
    const journal = await store.journalOf(turn.id);
    const by = choice === null ? {} : { by: `${inbound.sender} at ${formatAddress(inbound.from)}` };
    const entries: Entry[] = [{ type: "answered", question, choice, ...by }];
    // The answer is words; what came with them reaches the agent as a message that joined.
    if (inbound.body.kind === "text" && inbound.body.files.length > 0)
      entries.push({ type: "joined", message: inbound });
    const closed = await closeCopies(parts, outlet, journal, question, decidedText(inbound, choice));
    const before: Change[] = [
      pieces.inbox(inbound, turn.id),
      ...pieces.session(lane),
      ...pieces.words(inbound, lane, turn.id),
      ...entries.map((entry, i): Change => {
        return { put: "entry", turn: turn.id, n: journal.length + i, at: world.now(), entry };
      }),
      { drop: "timer", id: question },
    ];
    const plan = pieces.turn(lane, advanceTurn(turn, { type: "answered" }), false, before, [...journal, ...entries]);
    return alongside(plan, closed);
  }

  return {
    answer: planAnswer,
    async decision(lane, inbound, { asked, answer, others }) {
      const plan = await planAnswer(lane, inbound, answer);
      if (plan === null || others === 0) return plan;
      const more = others === 1 ? "One more waits" : `${others} more wait`;
      const text = `That was for: ${gist(asked.text)}\n${more} to be allowed.`;
      const words = { id: `note-${world.id()}`, turn: null, text, at: world.now(), answered: inbound };
      return alongside(plan, pieces.reply(lane, words));
    },
  };
}
