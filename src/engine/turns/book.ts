// A running turn's journal and its commits. Every commit names the version of the turn and the fence of its session, so
// that whoever moved the turn meanwhile wins.

import type { Change, CommitResult } from "../../core/change.ts";
import { Bug, type Instant } from "../../core/ids.ts";
import { type Entry, isClear, madeProgress } from "../../core/journal.ts";
import { isMarked } from "../../core/outside.ts";
import { type TurnEvent, advanceTurn } from "../../core/turn.ts";
import type { Parts } from "../parts.ts";
import type { Running } from "./run.ts";

/** The turn is not ours any more; there is nothing left to do here. */
export class Superseded extends Error {}

export interface Book {
  readonly journal: readonly Entry[];
  /** Entries and what belongs with them, in one commit; throws `Superseded` when it is refused. */
  record(entries: readonly Entry[], more?: readonly Change[], at?: Instant): Promise<void>;
  /** The same, where a refusal is nothing to worry about. */
  tryRecord(entries: readonly Entry[], more: readonly Change[], at?: Instant): Promise<CommitResult>;
  /** The turn's next state, with what belongs to it. */
  move(event: TurnEvent, entries?: readonly Entry[], more?: readonly Change[]): Promise<void>;
}

export function book(parts: Parts, running: Running, past: readonly Entry[]): Book {
  const { world, ledger, store } = parts;
  const { session } = running;
  const journal = [...past];

  async function tryRecord(
    entries: readonly Entry[],
    more: readonly Change[],
    at: Instant = world.now(),
  ): Promise<CommitResult> {
    const { id: turn, version } = running.turn;
    const changes: Change[] = [{ check: "turn", turn, version, session: session.id, fence: session.fence }];
    for (const [i, entry] of entries.entries()) changes.push({ put: "entry", turn, n: journal.length + i, at, entry });
    // The end of a call brings its own mark with it.
    const brought = entries.filter(({ type }) => type !== "tool-ended");
    const isNew = !running.session.outside && isMarked({ outside: false }, running.turn.input, brought);
    const marks: Change[] = isNew ? [{ put: "outside", session: session.id }] : [];
    const result = await ledger.keep([...changes, ...more, ...marks]);
    if (result !== "committed") return result;
    if (isNew) running.session = { ...running.session, outside: true };
    journal.push(...entries);
    if (madeProgress(entries)) running.progressed(isClear(entries));
    return result;
  }

  async function record(entries: readonly Entry[], more: readonly Change[] = [], at?: Instant): Promise<void> {
    const result = await tryRecord(entries, more, at);
    if (result === "committed") return;
    const { id, version } = running.turn;
    // If nobody moved the turn, the commit itself was wrong, and that is a mistake of ours.
    if (result === "conflict" && (await store.turn(id))?.version === version) {
      throw new Bug(`a commit of turn ${id} was refused although nobody moved it`);
    }
    throw new Superseded();
  }

  return {
    journal,
    record,
    tryRecord,
    async move(event, entries = [], more = []) {
      const turn = advanceTurn(running.turn, event);
      await record(entries, [{ put: "turn", turn }, ...more], "at" in event ? event.at : world.now());
      running.turn = turn;
    },
  };
}
