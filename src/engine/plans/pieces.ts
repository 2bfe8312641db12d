// What the plans of inbound messages are made of: rows that each of them has, a turn that starts or waits, and a reply. The
// reply goes to wherever the session is, with what the platform wants back.

import type { Change } from "../../core/change.ts";
import { postId } from "../../core/delivery.ts";
import type { Instant, TurnId } from "../../core/ids.ts";
import type { Entry } from "../../core/journal.ts";
import type { FileRef, Inbound } from "../../core/message.ts";
import { hintsFor } from "../../core/notice.ts";
import { markBy } from "../../core/outside.ts";
import { type Session, takenBy } from "../../core/session.ts";
import { type Turn, advanceTurn, asNew, newTurn } from "../../core/turn.ts";
import { type Plan, inboxRow, saidRow } from "../accepting.ts";
import type { Obeyed } from "../commands/obeyed.ts";
import { type Lane, type Lanes, ownership } from "../lanes/lanes.ts";
import type { Outlet } from "../outbox/pump.ts";
import { writeReply } from "../outbox/replies.ts";
import { type Parts, platformOf } from "../parts.ts";
import { Interruption } from "../turns/interruption.ts";

/** What is said, and to which turn or message it belongs. */
export type Words = {
  readonly id: string;
  readonly turn: TurnId | null;
  readonly text: string;
  readonly at: Instant;
  /** The message that it answers. */
  readonly answered?: Inbound;
  /** What the transcript shows of it, where that is not all; such a line is the gateway's own. */
  readonly shown?: string;
  readonly files?: readonly FileRef[];
};

export interface Pieces {
  inbox(inbound: Inbound, turn: string): Change;
  session(lane: Lane): readonly Change[];
  words(inbound: Inbound, lane: Lane, turn: TurnId): readonly Change[];
  /** Starts the turn at once where the lane allows it, else leaves it in the store behind others. */
  turn(lane: Lane, turn: Turn, isNew: boolean, before: readonly Change[], journal: readonly Entry[]): Plan;
  message(lane: Lane, inbound: Inbound, more?: readonly Change[]): Plan;
  reply(lane: Lane, words: Words): Plan;
  /** A command with its answer. */
  said(lane: Lane, inbound: Inbound, obeyed: Obeyed): Plan;
  /** Something said by us without a turn; `shown` as above. */
  post(lane: Lane, inbound: Inbound, text: string, more?: Pick<Words, "answered" | "shown" | "files">): Plan;
  /** Only remembers the key. */
  nothing(inbound: Inbound, turn: string): Plan;
}

export function pieces(parts: Parts, lanes: Lanes, outlet: Outlet): Pieces {
  const { world, boot, events } = parts;

  function session(lane: Lane): readonly Change[] {
    const at = world.now();
    if (lane.stored) return [{ put: "active", session: lane.session.id, at }];
    const made: Change = { put: "session", session: lane.session };
    return lane.follows === null ? [made] : [{ put: "ended", session: lane.follows, at }, made];
  }

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
      const mark = markBy(turn.input);
      if (mark === "everybody") lane.session = { ...lane.session, outside: true };
      if (mark === "guests") lane.session = { ...lane.session, guests: true };
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

  function reply(lane: Lane, { id, turn, text, at, answered, shown, files = [] }: Words): Plan {
    const to = lane.session.address;
    const texts = platformOf(parts, to)?.parts(text) ?? [text];
    const hints = hintsFor(to, answered?.hints, answered?.anchor);
    const slot = outlet.reserve(lane.session.id, to);
    const role = shown === undefined ? "assistant" : "notice";
    const written = writeReply(
      { id, session: lane.session.id, turn, to, role, text, parts: texts, hints, files, at },
      slot.free ? boot : null,
    );
    return {
      changes: shown === undefined ? written.changes : written.changes.map((one) => showing(one, shown)),
      stored: () => slot.send(written.taken, written.more),
      refused: () => slot.send(null, false),
    };
  }

  const self: Pieces = {
    inbox: (inbound, turn) => inboxRow(inbound, turn, world.now()),
    session,
    words: (inbound, lane, turn) => saidRow(inbound, lane.session.id, turn, world.now()),
    turn: planTurn,
    message(lane, inbound, more = []) {
      const turn = newTurn(world.id() as TurnId, lane.session.id, inbound, world.now());
      const strange = marksOf(inbound, lane.session);
      const words = [...strange, ...self.words(inbound, lane, turn.id)];
      return planTurn(lane, turn, true, [self.inbox(inbound, turn.id), ...session(lane), ...words, ...more], []);
    },
    reply,
    said(lane, inbound, obeyed) {
      const at = world.now();
      const turn = newTurn(world.id() as TurnId, lane.session.id, inbound, at);
      const done = asNew(advanceTurn(turn, { type: "ended", outcome: "replied", at }));
      const answer = reply(lane, { id: turn.id, turn: turn.id, text: obeyed.text, at, answered: inbound });
      return {
        changes: [
          self.inbox(inbound, turn.id),
          ...session(lane),
          ...(obeyed.before ?? []),
          ...self.words(inbound, lane, turn.id),
          { put: "turn", turn: done },
          ...answer.changes,
          ...obeyed.changes,
          // What is said between a user and the gateway is nothing the agent has to remember.
          { put: "undone", session: lane.session.id, turn: turn.id },
        ],
        stored() {
          lane.stored = true;
          answer.stored();
          obeyed.stored();
        },
        refused: answer.refused,
      };
    },
    post(lane, inbound, text, more = {}) {
      const said = reply(lane, { id: postId(inbound.from, inbound.key), turn: null, text, at: world.now(), ...more });
      return {
        changes: [self.inbox(inbound, inbound.key), ...session(lane), ...said.changes],
        stored() {
          lane.stored = true;
          said.stored();
        },
        refused: said.refused,
      };
    },
    nothing: (inbound, turn) => ({
      changes: [self.inbox(inbound, turn)],
      stored: () => undefined,
      refused: () => undefined,
    }),
  };
  return self;
}

/** A mark that is there already needs no write. */
function marksOf(inbound: Inbound, { id: session, outside, guests }: Session): readonly Change[] {
  const mark = outside ? null : markBy(inbound);
  if (mark === "everybody") return [{ put: "outside", session }];
  return mark === "guests" && guests !== true ? [{ put: "guests", session }] : [];
}

function showing(change: Change, text: string): Change {
  return "put" in change && change.put === "message" ? { ...change, message: { ...change.message, text } } : change;
}
