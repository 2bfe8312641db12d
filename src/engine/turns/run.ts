// Runs one turn from its claim to its end, its question, or its parking place. Every step is stored before the next one
// begins; what to do next is always computed from the journal. Whoever moved the turn meanwhile wins: a refused commit
// ends the run without a word.

import type { Change } from "../../core/change.ts";
import { later, unreachable } from "../../core/ids.ts";
import {
  type CallMode,
  type Entry,
  type ToolCall,
  type ToolEffect,
  type ToolResult,
  decideNext,
  lastStep,
} from "../../core/journal.ts";
import { limits } from "../../core/limits.ts";
import { hintsFor } from "../../core/notice.ts";
import { type OutboxItem, retryPauseMs } from "../../core/outbox.ts";
import type { Session } from "../../core/session.ts";
import { type Turn, type TurnEvent, advanceTurn } from "../../core/turn.ts";
import type { Step } from "../../ports/agent.ts";
import { Superseded, book } from "./book.ts";
import { type Draft, draft } from "./drafts.ts";
import { unmark } from "../marks.ts";
import { type Parts, platformOf, toolNamed } from "../parts.ts";
import type { Outlet } from "../outbox/pump.ts";
import { type Reply, writeReply } from "../outbox/replies.ts";
import type { Wakeable } from "../timers.ts";
import { interruptionOf } from "./interruption.ts";
import { askAgent } from "./step.ts";
import { runCall } from "./tools.ts";
import { changesOf } from "./wishes.ts";

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
  readonly progressed: () => void;
};

export type Runner = (running: Running, journal: readonly Entry[]) => Promise<void>;

export function runner(parts: Parts, outlet: Outlet, timers: Wakeable): Runner {
  return async (running, past) => {
    const preview = draft(platformOf(parts, running.session.address), running.session.address, parts.world);
    const run = turnRun(parts, outlet, timers, running, past, preview);
    try {
      preview.show("");
      while (await run.advance());
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
    } finally {
      if (running.turn.now.state === "parked") preview.leave();
      else preview.end();
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
) {
  const { world, agent, events } = parts;
  const { session } = running;
  const { journal, record, move, tryRecord } = book(parts, running, past);
  const { signal } = running.abort;
  const begunHere = new Set<string>();
  let failures = 0;

  const effectOf = (name: string): ToolEffect => toolNamed(agent, name)?.effect ?? "pure";

  async function say(
    event: TurnEvent,
    entries: readonly Entry[],
    reply: Omit<Reply, "session" | "turn" | "to" | "parts" | "at" | "role">,
    more: readonly Change[] = [],
  ): Promise<void> {
    const to = session.address;
    const texts = reply.text === "" ? [] : (platformOf(parts, to)?.parts(reply.text) ?? [reply.text]);
    const { hints: own, anchor } = running.turn.input;
    const slot = outlet.reserve(session.id, to);
    const whole: Reply = {
      ...reply,
      hints: hintsFor(to, own, anchor),
      session: session.id,
      turn: running.turn.id,
      to,
      role: "assistant",
      parts: texts,
      at: world.now(),
    };
    const written = writeReply(whole, slot.free ? parts.boot : null);
    let taken: OutboxItem | null = null;
    try {
      await move(event, entries, [...written.changes, ...more]);
      taken = written.taken;
    } finally {
      preview.end();
      slot.send(taken, taken !== null && written.more);
    }
  }

  async function end(
    outcome: "replied" | "failed",
    text: string,
    why?: string,
    entries: readonly Entry[] = [],
  ): Promise<false> {
    const at = world.now();
    const event: TurnEvent = {
      type: "ended",
      outcome: text === "" ? "silent" : outcome,
      ...(why === undefined ? {} : { why }),
      at,
    };
    const clear: Change[] = [{ drop: "strikes", key: session.key }];
    if (running.session.resume !== null) clear.push(...(await unmark(parts, running.session)));
    await say(event, entries, { id: running.turn.id, text }, clear);
    if (clear.length > 1) running.session = { ...running.session, resume: null };
    events.emit({
      type: "turn-ended",
      session: session.id,
      turn: running.turn.id,
      outcome: event.outcome,
      ...(why === undefined ? {} : { why }),
    });
    return false;
  }

  function fail(why: string): Promise<false> {
    return end("failed", `I could not finish this: ${why}`, why);
  }

  async function stepAside(): Promise<false> {
    const { why } = interruptionOf(signal);
    const { id, session: of } = running.turn;
    switch (why) {
      case "shutdown":
        await move({ type: "parked", cause: "shutdown", at: world.now() });
        events.emit({ type: "turn-parked", session: of, turn: id });
        return false;
      case "superseded":
        await move(
          { type: "ended", outcome: "cancelled", why: "a newer message took its place", at: world.now() },
          [],
          [{ drop: "strikes", key: session.key }, ...(await unmark(parts, running.session))],
        );
        events.emit({ type: "turn-ended", session: of, turn: id, outcome: "cancelled" });
        return false;
      case "cancelled":
        return false;
      default:
        return unreachable(why);
    }
  }

  /** Messages that came meanwhile become part of this turn; their own turns end as answered by it. */
  async function join(): Promise<void> {
    const waiting = await parts.store.queuedTurns(session.id, running.join);
    running.join = 0;
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
    const step = await askAgent(parts, running, journal, preview);
    if (step === "aborted") return true;
    if (step.type === "failed") return afterFailure(step);
    failures = 0;
    running.steps++;
    if (step.type === "asked") return ask(step);
    if (step.type === "compacted") {
      const { upTo, summary } = step;
      await record([step], [{ put: "summary", session: session.id, upTo, text: summary, at: world.now() }]);
      return true;
    }
    const { text, calls, final } = step;
    begunHere.clear();
    if (final && calls.length === 0) return end("replied", text, undefined, [step]);
    await record([step, ...intentOf(calls[0])]);
    return true;
  }

  async function afterFailure(step: Step & { type: "failed" }): Promise<boolean> {
    failures++;
    world.log("warn", "the agent failed a step", { turn: running.turn.id, why: step.why, failures });
    if (step.retry === "never" || failures >= limits.stepFailuresMax) return fail(step.why);
    await world.sleep(later(world.now(), retryPauseMs(failures, world.chance())), signal);
    return true;
  }

  async function ask(step: Step & { type: "asked" }): Promise<false> {
    const n = journal.length;
    const question = `${running.turn.id}.q${n}`;
    const until = Math.min(step.until, later(world.now(), limits.questionMaxMs)) as typeof step.until;
    const entry: Entry = { type: "asked", question, text: step.text, choices: step.choices };
    const timer: Change = {
      put: "timer",
      timer: { id: question, session: session.id, turn: running.turn.id, dueAt: until, text: "" },
    };
    const reply = { id: question, text: step.text, question: { id: question, choices: step.choices } };
    await say({ type: "asked", question, until }, [entry], reply, [timer]);
    timers.poke();
    events.emit({
      type: "turn-waiting",
      session: session.id,
      turn: running.turn.id,
      kind: "question",
      question,
      until,
    });
    return false;
  }

  /** The intent is stored with whatever comes right before it, so that it costs no commit of its own. */
  function intentOf(call: ToolCall | undefined): Entry[] {
    if (call === undefined || effectOf(call.tool) === "pure") return [];
    begunHere.add(call.call);
    return [{ type: "tool-begun", call: call.call, effect: effectOf(call.tool) }];
  }

  /** Stable over all attempts of one call. */
  function keyOf(call: ToolCall): string {
    return `${running.turn.id}:${lastStep(journal)}:${call.call}`;
  }

  /** Results of calls that ran together are one commit, with the intent of the call that follows. */
  async function endCalls(done: readonly { readonly call: ToolCall; readonly result: ToolResult }[]): Promise<void> {
    const ended = done.map(({ call, result }): Entry => ({ type: "tool-ended", call: call.call, result }));
    const next = decideNext([...journal, ...ended], effectOf, begunHere);
    const following = next.type === "call" && next.calls[0]?.mode === "first" ? intentOf(next.calls[0].call) : [];
    const wished = done.flatMap(({ call, result }) =>
      result.type === "ok"
        ? (result.wishes ?? []).flatMap((wish, i) => changesOf(parts, running, wish, `${keyOf(call)}.${i}`))
        : [],
    );
    await record([...ended, ...following], wished);
    if (wished.length > 0) {
      timers.poke();
      outlet.poke(session.id);
    }
    for (const { call, result } of done) {
      events.emit({ type: "tool-ended", turn: running.turn.id, tool: call.tool, result: result.type });
    }
  }

  async function makeCalls(calls: readonly { readonly call: ToolCall; readonly mode: CallMode }[]): Promise<true> {
    const [first] = calls;
    // Stored with the step already, unless the tool has become a riskier one since.
    const intent = first?.mode === "first" && !begunHere.has(first.call.call) ? intentOf(first.call) : [];
    if (intent.length > 0) await record(intent);
    const made = await Promise.all(
      calls.map(async ({ call, mode }) => {
        const result = await runCall(parts, running, call, mode, keyOf(call));
        return result === "aborted" ? [] : [{ call, result }];
      }),
    );
    const done = made.flat();
    if (done.length > 0) await endCalls(done);
    return true;
  }

  return {
    /** Does one thing; false when the run is over. */
    async advance(): Promise<boolean> {
      if (signal.aborted) return stepAside();
      if (journal.length > limits.entriesMax) return fail(`it took more than ${limits.entriesMax} steps`);
      const next = decideNext(journal, effectOf, begunHere);
      switch (next.type) {
        case "step":
          if (running.join > 0) await join();
          return takeStep();
        case "call":
          return makeCalls(next.calls);
        case "give-up": {
          const why = "the gateway died while this ran, so nobody knows whether it happened";
          await endCalls([{ call: next.call, result: { type: "unknown", why } }]);
          return true;
        }
        case "finish":
          return end("replied", next.text);
        case "wait":
          return false;
        default:
          return unreachable(next);
      }
    },
  };
}
