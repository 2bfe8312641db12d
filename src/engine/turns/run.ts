// Runs one turn from its claim to its end, its question, or its parking place. Every step is stored before the next one
// begins; what to do next is always computed from the journal. Whoever moved the turn meanwhile wins: a refused commit
// ends the run without a word.

import { questionId } from "../../core/asked/late.ts";
import type { Change } from "../../core/change.ts";
import { unreachable } from "../../core/ids.ts";
import type { Compacted, Entry, Heard, Said } from "../../core/journal.ts";
import { limits } from "../../core/limits.ts";
import { spokenIn } from "../../core/running/spoken.ts";
import { type Failure, type Row, type Trouble, decideRetry, troubleText } from "../../core/running/patience.ts";
import { noteFor } from "../../core/resume.ts";
import type { Resume, Session } from "../../core/session.ts";
import { type Turn, advanceTurn } from "../../core/turn.ts";
import { interruptedBefore } from "../marks.ts";
import { forgetDraft } from "../outbox/drafts.ts";
import type { Outlet } from "../outbox/pump.ts";
import type { Parts } from "../parts.ts";
import type { Wakeable } from "../timers.ts";
import { Superseded, book } from "./book.ts";
import { calls } from "./calls/calls.ts";
import { type Draft, previewOf } from "./drafts.ts";
import { interruptionOf } from "./interruption.ts";
import { ask, end, fail } from "./saying.ts";
import { costOf, overspent } from "./spending.ts";
import { askAgent } from "./step.ts";
import type { Work } from "./work.ts";

export type Running = {
  turn: Turn;
  /** As the lane has it. */
  session: Session;
  readonly abort: AbortController;
  steps: number;
  /** How many of the messages that wait should join at the next step. */
  join: number;
  /** Whether this run has a result; `progressed` is called at each. */
  hasResult: boolean;
  /** Its step failed, and is tried again; null as soon as the agent says anything. */
  trouble: Trouble | null;
  /** What the agent has said so far, as far as people were shown it. */
  words: string;
  readonly progressed: (isClear: boolean) => void;
};

export type Runner = (running: Running, journal: readonly Entry[]) => Promise<void>;

export function runner(parts: Parts, outlet: Outlet, timers: Wakeable): Runner {
  return async (running, past) => {
    const preview = await previewOf(parts, outlet.previews, running);
    // Only a session that was interrupted costs a read.
    const before = running.session.resume === null ? null : await interruptedBefore(parts, running);
    const run = turnRun(parts, outlet, timers, running, past, preview, before);
    try {
      preview.show("");
      while (await run.advance());
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
      await run.leave();
    } finally {
      const { state } = running.turn.now;
      if (state === "parked") preview.leave();
      else if (state !== "done") preview.end("unsure");
      else preview.end(run.isStopped() ? "stopped" : "dropped");
    }
  };
}

function turnRun(
  parts: Parts,
  outlet: Outlet,
  timers: Wakeable,
  running: Running,
  past: readonly Entry[],
  preview: Draft,
  before: Resume | null,
) {
  const { world, events, store } = parts;
  const { session } = running;
  const pages = book(parts, running, past);
  const { journal, record, move, tryRecord } = pages;
  const work: Work = { parts, outlet, timers, running, book: pages, preview };
  const made = calls(work);
  const { signal } = running.abort;
  let failed: Row | null = null;
  let isStopped = false;

  async function stepAside(): Promise<false> {
    const { why } = interruptionOf(signal);
    const { id, session: of } = running.turn;
    switch (why) {
      case "shutdown":
        await move({ type: "parked", cause: "shutdown", at: world.now() });
        events.emit({ type: "turn-parked", session: of, turn: id });
        return false;
      case "superseded": {
        const because = "a newer message took its place";
        const left = made.leftBy(because);
        const event = { type: "ended", outcome: "cancelled", why: because, at: world.now() } as const;
        const unseen = forgetDraft(parts, session.address, id);
        await move(event, left.entries, [...unseen, ...left.changes]);
        left.drop();
        afterWishes(left.changes);
        events.emit({ type: "turn-ended", session: of, turn: id, outcome: "cancelled" });
        return false;
      }
      case "cancelled":
        await leave();
        return false;
      default:
        return unreachable(why);
    }
  }

  function afterWishes(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    timers.poke();
    outlet.poke(session.id, session.address);
  }

  /** Somebody has ended the turn: its journal still tells what became of the calls that were open. */
  async function leave(): Promise<void> {
    const stored = await store.turn(running.turn.id);
    if (stored?.now.state !== "done" || stored.now.outcome !== "cancelled") return;
    if (stored.version !== running.turn.version + 1) return;
    const { entries, changes, drop } = made.leftBy(stored.now.why ?? "stopped");
    running.turn = stored;
    // Ending it cleared the mark in the same commit.
    running.session = { ...running.session, resume: null };
    isStopped = true;
    drop();
    if (entries.length > 0 && (await tryRecord(entries, changes)) === "committed") afterWishes(changes);
  }

  /** Messages that came meanwhile become part of this turn; their own turns end as answered by it. */
  async function join(): Promise<void> {
    const queued = await store.queuedTurns(session.id, running.join);
    running.join = 0;
    // One with options of its own is answered by a turn of its own, and so are those behind it.
    const apart = queued.findIndex(({ input }) => input.options !== undefined);
    const waiting = apart < 0 ? queued : queued.slice(0, apart);
    if (waiting.length === 0) return;
    const at = world.now();
    const ended = waiting.map((turn) => advanceTurn(turn, { type: "ended", outcome: "joined", at }));
    const entries = waiting.map((turn): Entry => ({ type: "joined", message: turn.input }));
    const changes = ended.map((turn): Change => ({ put: "turn", turn }));
    // One of them may have been cancelled at this moment; then they wait for their own turn.
    if ((await tryRecord(entries, changes)) !== "committed") return;
    for (const turn of ended)
      events.emit({ type: "turn-ended", session: session.id, turn: turn.id, outcome: "joined" });
  }

  async function takeStep(): Promise<boolean> {
    const tooMuch = await overspent(parts, journal);
    if (tooMuch !== null) return fail(work, tooMuch, { failure: { code: "budget" } });
    const step = await askAgent(parts, running, journal, preview, noteFor(journal, before));
    if (step === "aborted") return true;
    if (step.type === "failed") return afterFailure(step);
    failed = null;
    running.trouble = null;
    running.steps++;
    switch (step.type) {
      case "asked": {
        const { until, ...asked } = step;
        return ask(work, { ...asked, question: questionId(running.turn.id, journal.length) }, until);
      }
      case "compacted":
        return compact(step);
      case "heard":
        return hear(step);
      case "said":
        return goOn(step);
      default:
        return unreachable(step);
    }
  }

  async function goOn(step: Said): Promise<boolean> {
    const cost = costOf(parts, running, step.usage);
    const { text, calls: wanted, final } = step;
    if (final && wanted.length === 0) return end(work, { outcome: "replied", text, entries: [step], more: cost });
    // They are shown beside its calls; without any, what it has shown itself goes on.
    if (wanted.length > 0) running.words = text;
    await record([step, ...(await made.intentOf(wanted))], cost);
    return true;
  }

  async function compact(step: Compacted): Promise<boolean> {
    const cost = costOf(parts, running, step.usage);
    const before = journal.slice(-limits.compactionsMax);
    if (before.length === limits.compactionsMax && before.every(({ type }) => type === "compacted"))
      return fail(work, "what it needs to know does not fit into the model's memory, however much is left out", {
        failure: { code: "context-length" },
        more: cost,
      });
    const { upTo, summary: text } = step;
    const summary: Change = { put: "summary", session: session.id, upTo, text, at: world.now() };
    await record([step], [summary, ...cost]);
    return true;
  }

  /** Its words stand in the transcript from then on, so that later turns and searches have them too. */
  async function hear(step: Heard): Promise<boolean> {
    const said = spokenIn(running.turn.input, [...journal, step], step.blob);
    await record(
      [step],
      said.map((one): Change => ({ put: "wording", session: session.id, ...one })),
    );
    return true;
  }

  async function afterFailure(failure: Failure): Promise<boolean> {
    const next = decideRetry(failed, failure, world.now(), world.chance());
    const { failure: known } = failure;
    if (next.type === "give-up") return fail(work, next.why, { failure: known });
    failed = next.row;
    const { count: failures, since } = failed;
    world.log("warn", "the agent failed a step", { turn: running.turn.id, why: failure.why, failures });
    running.trouble = { why: failure.why, until: next.at, since, ...(known === undefined ? {} : { failure: known }) };
    preview.show(`(${troubleText(running.trouble)})`);
    await world.sleep(next.at, signal);
    return true;
  }

  return {
    leave,
    /** Somebody has ended it who had seen what it showed. */
    isStopped: () => isStopped,
    /** Does one thing; false when the run is over. */
    async advance(): Promise<boolean> {
      if (signal.aborted) return stepAside();
      if (journal.length > limits.entriesMax) return fail(work, `it took more than ${limits.entriesMax} steps`);
      const next = made.next();
      switch (next.type) {
        case "step":
          if (running.join > 0) await join();
          return takeStep();
        case "call":
          return made.make(next.calls);
        case "answered-call":
          return made.answered(next);
        case "give-up":
          return made.giveUp(next.call);
        case "finish":
          return end(work, { outcome: "replied", text: next.text });
        case "wait":
          return false;
        default:
          return unreachable(next);
      }
    },
  };
}
