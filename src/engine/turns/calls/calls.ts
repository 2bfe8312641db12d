// The calls of a step: judged, asked about where need be, begun, run and ended. The intent of a call is stored only when
// it may be made, and before it is made; its result together with what the tool wished for.

import { approvalText, choicesFor, readDecision, subjectOffered } from "../../../core/asked/asking.ts";
import { questionId } from "../../../core/asked/late.ts";
import type { Verdict } from "../../../core/approval.ts";
import type { Change } from "../../../core/change.ts";
import { type Grant, noGrant } from "../../../core/grant.ts";
import { later } from "../../../core/ids.ts";
import {
  type CallAsked,
  type CallMode,
  type Entry,
  type NextAction,
  type ToolCall,
  type ToolEffect,
  type ToolResult,
  askedAbout,
  cutOff,
  dangling,
  decideNext,
  isFromOutside,
} from "../../../core/journal.ts";
import { limits } from "../../../core/limits.ts";
import { toolNamed } from "../../parts.ts";
import { interruptionOf } from "../interruption.ts";
import { ask } from "../saying.ts";
import type { Work } from "../work.ts";
import { running as shownWhile } from "./progress.ts";
import { dropCalls } from "./left.ts";
import { callKey, runCall } from "./tools.ts";
import { vet, vetByRules } from "./vetting.ts";
import { wishesOf } from "./wishes.ts";

type Taken = { readonly call: ToolCall; readonly mode: CallMode; readonly grant?: Grant };
type Done = { readonly call: ToolCall; readonly result: ToolResult };
type AnsweredCall = NextAction & { type: "answered-call" };

export interface Calls {
  next(): NextAction;
  /** What goes into the commit of a new step: the intent of its first call, where that may be made at once. */
  intentOf(step: readonly ToolCall[]): Promise<readonly Entry[]>;
  /** False when the run is over because its user is asked. */
  make(calls: readonly Taken[]): Promise<boolean>;
  /** Goes on with what was answered; false when it must be asked again. */
  answered(next: AnsweredCall): Promise<boolean>;
  giveUp(call: ToolCall): Promise<true>;
  /** What became of everything that was open when the turn was ended from outside, with what goes into that commit. */
  leftBy(why: string): {
    readonly entries: readonly Entry[];
    readonly changes: readonly Change[];
    /** Called when the end of the turn is stored: nobody waits any more for what told no result. */
    readonly drop: () => void;
  };
}

export function calls(work: Work): Calls {
  const { parts, running, book, outlet, timers } = work;
  const { journal } = book;
  const { signal } = running.abort;
  const begunHere = new Set<string>();
  /** Calls that run or ran in this life and have no stored result, with what they told. */
  const inHand = new Map<string, ToolResult | null>();
  /** Judged together with its step, right before this. */
  let judged: { readonly call: string; readonly verdict: Verdict } | null = null;

  const effectOf = (name: string): ToolEffect => toolNamed(parts.agent, name)?.effect ?? "pure";
  const hasVet = (name: string): boolean => toolNamed(parts.agent, name)?.vet !== undefined;

  function intent(call: ToolCall): readonly Entry[] {
    const effect = effectOf(call.tool);
    if (effect === "pure") return [];
    begunHere.add(call.call);
    return [{ type: "tool-begun", call: call.call, effect }];
  }

  /** Of a call that was judged together with its step. */
  function granted(call: ToolCall): Grant {
    const known = judged?.call === call.call && judged.verdict.type === "run" ? judged.verdict.grant : undefined;
    judged = null;
    return known ?? noGrant;
  }

  const keyOf = (call: ToolCall): string => callKey(running.turn.id, journal, call);

  async function verdictOn(call: ToolCall): Promise<Verdict | "aborted"> {
    const known = judged?.call === call.call ? judged.verdict : null;
    judged = null;
    return known ?? vetByRules(parts, running, call, journal);
  }

  /** Results of calls that ran together are one commit, with the intent of the call that follows. */
  async function endCalls(done: readonly Done[]): Promise<void> {
    for (const { call, result } of done) inHand.set(call.call, result);
    const ended = done.map(({ call, result }): Entry => ({ type: "tool-ended", call: call.call, result }));
    const next = decideNext([...journal, ...ended], effectOf, begunHere);
    const first = next.type === "call" && next.calls[0]?.mode === "first" ? next.calls[0].call : null;
    // A result does not wait for a judgement: what has happened is stored at once.
    const following = first === null || hasVet(first.tool) ? [] : intent(first);
    const wished = done.flatMap(({ call, result }) => wishesOf(parts, running, journal, result, keyOf(call)));
    const outside = outsideBy(ended);
    await book.record([...ended, ...following], [...wished, ...outside]);
    if (outside.length > 0) running.session = { ...running.session, outside: true };
    for (const { call } of done) inHand.delete(call.call);
    if (wished.length > 0) {
      timers.poke();
      outlet.poke(running.session.id, running.session.address);
    }
    for (const { call, result } of done) {
      parts.events.emit({ type: "tool-ended", turn: running.turn.id, tool: call.tool, result: result.type });
    }
  }

  /** Noted once for the whole conversation, in the commit that brings strangers' words into it. */
  function outsideBy(ended: readonly Entry[]): readonly Change[] {
    const { id: session, outside } = running.session;
    return !outside && isFromOutside(ended) ? [{ put: "outside", session }] : [];
  }

  async function run(taken: readonly Taken[]): Promise<boolean> {
    const shown = shownWhile(work.preview, journal, taken);
    let notDone: ToolCall | null = null;
    for (const { call } of taken) inHand.set(call.call, null);
    const made = await Promise.all(
      taken.map(async ({ call, mode, grant = granted(call) }): Promise<Done[]> => {
        const tell = (text: string) => shown.tell(call, text);
        const result = await runCall(parts, running, journal, { call, mode, key: keyOf(call), grant }, tell);
        shown.ended(call, typeof result === "string" ? null : result);
        if (result === "not-done") {
          inHand.delete(call.call);
          notDone = call;
        }
        if (typeof result === "string") return [];
        inHand.set(call.call, result);
        return [{ call, result }];
      }),
    );
    const done = made.flat();
    // Of a turn that was ended from outside, the end tells what became of its calls.
    if (signal.aborted && interruptionOf(signal).why !== "shutdown") return true;
    if (done.length > 0) await endCalls(done);
    return notDone === null || signal.aborted ? true : again(notDone);
  }

  /**
   * A call whose intent is from another life is made now. Leave that was given then holds for what was shown then, and
   * where none was needed, none may be needed now.
   */
  async function again(call: ToolCall): Promise<boolean> {
    const asked = askedAbout(journal, call.call);
    const verdict = await vetByRules(parts, running, call, journal);
    if (verdict === "aborted") return true;
    if (verdict.type === "run" || isAsShown(verdict, asked)) return run([{ call, mode: "again", ...grantOf(verdict) }]);
    return hold(call, verdict, asked !== undefined);
  }

  async function begin(taken: readonly Taken[], more: readonly Change[] = []): Promise<boolean> {
    const entries = taken.flatMap(({ call }) => intent(call));
    if (entries.length > 0 || more.length > 0) await book.record(entries, more);
    return run(taken);
  }

  /** It may have happened all the same where an earlier life had begun it and nobody can look. */
  async function notMade(call: ToolCall, why: string): Promise<true> {
    const before = dangling(journal).find((one) => one.call.call === call.call)?.effect;
    const unsure = `an earlier attempt was cut short, so nobody knows whether it happened; it was not made again: ${why}`;
    const result: ToolResult = before === "keyed" ? { type: "unknown", why: unsure } : { type: "failed", why };
    await endCalls([{ call, result }]);
    return true;
  }

  /** A call that may not simply be made. */
  async function hold(call: ToolCall, verdict: Exclude<Verdict, { type: "run" }>, changed: boolean): Promise<boolean> {
    if (verdict.type === "refuse") return notMade(call, parts.hide(verdict.why));
    const named = {
      type: "call-asked",
      question: questionId(running.turn.id, journal.length),
      call: call.call,
    } as const;
    if (verdict.type === "question") {
      const { choices, until } = verdict;
      const text = parts.hide(verdict.text);
      return ask(work, { ...named, kind: "question", text, choices, bound: "", subject: null }, until);
    }
    const { bound } = verdict;
    const subject = subjectOffered(verdict);
    const text = parts.hide(approvalText(call.tool, verdict, changed, running.turn.id));
    const asked: CallAsked = {
      ...named,
      kind: "approval",
      text,
      choices: choicesFor(subject),
      bound,
      subject,
      ...(verdict.grant?.outside === true ? { needsAdmin: true } : {}),
    };
    return ask(work, asked, later(parts.world.now(), limits.approvalMs));
  }

  /** Allowed for what was shown: if something else would be done by now, it is asked again. */
  async function allowed({ call, asked, answer }: AnsweredCall, always: boolean): Promise<boolean> {
    const verdict = await vet(parts, running, call, journal);
    if (verdict === "aborted") return true;
    if (verdict.type !== "run" && !isAsShown(verdict, asked)) return hold(call, verdict, true);
    const { subject, question: id } = asked;
    const by = answer.by ?? "somebody";
    const scope = running.session.key;
    const rule = { id, tool: call.tool, subject: subject ?? "", by, at: parts.world.now(), scope };
    return begin(
      [{ call, mode: "first", ...grantOf(verdict) }],
      always && subject !== null ? [{ put: "rule", rule }] : [],
    );
  }

  return {
    next: () => decideNext(journal, effectOf, begunHere),
    async intentOf([first]) {
      begunHere.clear();
      judged = null;
      if (first === undefined || effectOf(first.tool) === "pure") return [];
      const verdict = await vetByRules(parts, running, first, journal);
      if (verdict === "aborted") return [];
      judged = { call: first.call, verdict };
      return verdict.type === "run" ? intent(first) : [];
    },
    async make(taken) {
      const [first] = taken;
      if (first === undefined || first.mode === "check" || begunHere.has(first.call.call)) return run(taken);
      if (first.mode === "again") return again(first.call);
      const verdicts = await Promise.all(taken.map(({ call }) => verdictOn(call)));
      const held = verdicts.findIndex((verdict) => verdict === "aborted" || verdict.type !== "run");
      const verdict = verdicts[0];
      if (held !== 0 || verdict === undefined) {
        const free = held === -1 ? taken : taken.slice(0, held);
        return begin(free.map((one, i) => ({ ...one, ...grantOf(verdicts[i]) })));
      }
      return verdict === "aborted" || verdict.type === "run" ? true : hold(first.call, verdict, false);
    },
    async answered(next) {
      const { call, asked, answer } = next;
      if (asked.kind === "question") {
        const output = answer.choice ?? "There was no answer in time.";
        await endCalls([{ call, result: { type: "ok", output } }]);
        return true;
      }
      const decision = readDecision(answer.choice);
      if (decision.type === "approve" || decision.type === "always") return allowed(next, decision.type === "always");
      return notMade(call, deniedText(decision));
    },
    async giveUp(call) {
      const why = "the gateway died while this ran, so nobody knows whether it happened";
      await endCalls([{ call, result: { type: "unknown", why } }]);
      return true;
    },
    leftBy(why) {
      const open = dangling(journal);
      const done = open.map(({ call, effect }): Done => {
        const told = inHand.get(call.call);
        return { call, result: told ?? cutOff(why, effect, told === null) };
      });
      const untold = open.filter(({ call }) => (inHand.get(call.call) ?? null) === null);
      const entries = done.map(({ call, result }): Entry => ({ type: "tool-ended", call: call.call, result }));
      const wished = done.flatMap(({ call, result }) => wishesOf(parts, running, journal, result, keyOf(call)));
      return {
        entries,
        changes: [...wished, ...outsideBy(entries)],
        drop: () => dropCalls(parts, running, journal, untold),
      };
    },
  };
}

/** What the call gets, where its verdict says so. */
function grantOf(verdict: Verdict | "aborted" | undefined): { readonly grant?: Grant } {
  if (verdict === undefined || verdict === "aborted" || !("grant" in verdict)) return {};
  return verdict.grant === undefined ? {} : { grant: verdict.grant };
}

/** What would be done now is what its user was last shown. */
function isAsShown(verdict: Verdict, asked: CallAsked | undefined): boolean {
  return verdict.type === "approve" && verdict.bound === asked?.bound;
}

function deniedText(decision: { readonly type: "deny"; readonly words: string } | { readonly type: "nobody" }): string {
  if (decision.type === "nobody") return "nobody allowed it in time, so it was not done";
  return `denied by the user${decision.words === "" ? "" : `: ${decision.words}`}. It was not done; do not try the same in another way`;
}
