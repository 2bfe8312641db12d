// /undo and /retry: the last exchange, that is a message of the user with whatever joined it and its answer. It leaves the
// memory of the conversation; the transcript keeps it, and what tools have done stays done.

import type { Change } from "../../core/change.ts";
import { type FileRef, type Inbound, bringsOutside } from "../../core/message.ts";
import { type Party, lowestParty, partyOf } from "../../core/requester.ts";
import { readCommand } from "../../core/route.ts";
import type { Turn } from "../../core/turn.ts";
import type { Lane } from "../lanes/lanes.ts";
import type { Parts } from "../parts.ts";
import { type Obeyed, nothing, only } from "./obeyed.ts";

/** Lines of the transcript that are looked at to find it. */
const lookedAt = 100;
const shownMax = 80;

export type Exchange = {
  readonly undone: readonly Change[];
  /** Everything the user said in it, as one message. */
  readonly text: string;
  readonly files: readonly FileRef[];
  readonly input: Inbound;
  /** Strangers' words are in it. */
  readonly outside: boolean;
  /** Words of others are in it, beside the user's own. */
  readonly carries: boolean;
  /** The least rights of everybody who wrote in it. */
  readonly party: Party;
};

/** Text instead of an exchange: why there is none to be had. */
export async function lastExchange({ store, archive }: Parts, lane: Lane): Promise<Exchange | string> {
  const { session } = lane;
  if (lane.running !== null || (await store.readyTurns(session.id)).length > 0)
    return "I am still at work here. Send /stop first, or wait until I am done.";
  const lines = await archive.history(session.id, lookedAt);
  const summary = await store.summaryOf(session.id);
  const turns: Turn[] = [];
  for (const { role, turn: id, n } of lines.toReversed()) {
    const turn = role !== "user" || id === null ? null : await store.turn(id);
    if (turn === null || readCommand(turn.input.body) !== null || turns.some((one) => one.id === turn.id)) continue;
    if (turn.now.state !== "done") return "A question of mine is still open. Answer it, or send /stop to withdraw it.";
    if (summary !== null && summary.upTo >= n)
      return "The last exchange is part of a summary by now and cannot be taken out of it. /new starts over.";
    turns.unshift(turn);
    // What joined a turn belongs to the exchange of that turn.
    if (turn.now.outcome !== "joined") break;
  }
  return turns.length === 0 ? "There is no exchange to go back to." : exchangeOf(turns, lane);
}

function exchangeOf(turns: readonly Turn[], { session }: Lane): Exchange | string {
  const said = turns.flatMap(({ input }) => (input.body.kind === "text" ? [input.body] : []));
  const [first] = turns;
  if (first === undefined || said.length === 0) return "There is no exchange to go back to.";
  return {
    undone: turns.map(({ id: turn }) => ({ put: "undone", session: session.id, turn })),
    text: said.map(({ text }) => text).join("\n\n"),
    files: said.flatMap(({ files }) => files),
    input: first.input,
    outside: turns.some(({ input }) => input.outside === true),
    carries: turns.some(({ input }) => bringsOutside(input)),
    party: lowestParty(turns.map(({ input }) => partyOf(input))),
  };
}

export async function undo(parts: Parts, lane: Lane): Promise<Obeyed> {
  const last = await lastExchange(parts, lane);
  if (typeof last === "string") return only(last);
  const text = `Undone: I no longer look at "${shortened(last.text)}" and my answer to it. What was done by tools stays done.`;
  return { text, changes: last.undone, stored: nothing };
}

/** The message that is answered once more, as somebody wants it now; with the lower rights of the two. */
export function saidAgain({ text, files, input, outside, carries, party }: Exchange, now: Inbound): Inbound {
  const { key, sentAt, anchor = input.anchor, hints = input.hints } = now;
  const body = { kind: "text", text, files } as const;
  return {
    key,
    from: input.from,
    sender: input.sender,
    party: lowestParty([party, partyOf(now)]),
    body,
    sentAt,
    ...(input.name === undefined ? {} : { name: input.name }),
    ...(input.group === undefined ? {} : { group: input.group }),
    ...(anchor === undefined ? {} : { anchor }),
    ...(hints === undefined ? {} : { hints }),
    ...(outside ? { outside } : {}),
    ...(carries ? { carries } : {}),
    ...(input.task === undefined ? {} : { task: input.task }),
  };
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= shownMax ? line : `${line.slice(0, shownMax - 1).toWellFormed()}…`;
}
