// Where the agent's own session of a conversation is on our record: in this turn's journal, else in those of the turns
// before it. And what was said since then that the agent cannot know of.

import type { Message } from "../../../core/message.ts";
import type { AgentJob } from "../../../ports/agent.ts";
import { costOn, sessionIn } from "./record.ts";

export type Past = {
  /** Null where none is on record. */
  readonly session: string | null;
  /** What that session has cost so far; null where it is not on record. */
  readonly cost: number | null;
  /** What was said before this turn, and the part of it that the agent's session cannot know of. */
  readonly history: readonly Message[];
  readonly missed: readonly Message[];
};

const messagesMax = 100;
const turnsMax = 20;

export async function pastOf(job: AgentJob): Promise<Past> {
  const all = await job.history(messagesMax);
  // What waits behind this turn is in the transcript too, and no news yet.
  const own = all.findIndex((message) => message.turn === job.turn || message.key === job.input.key);
  const history = own === -1 ? all : all.slice(0, own);
  const here = sessionIn(job.journal);
  if (here !== null) return { session: here, cost: costOn(job.journal), history, missed: [] };
  const turns = [...new Set(history.toReversed().flatMap(({ turn }) => turn ?? []))].slice(0, turnsMax);
  for (const turn of turns) {
    const journal = await job.journalOf(turn);
    const session = sessionIn(journal);
    if (session === null) continue;
    const last = history.findLastIndex((message) => message.turn === turn);
    return { session, cost: costOn(journal), history, missed: history.slice(last + 1) };
  }
  return { session: null, cost: null, history, missed: history };
}
