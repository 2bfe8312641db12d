// What is to become of a call, asked right before it is begun. A judgement that fails or never comes is a refusal: what
// nobody could judge is not done.

import type { Verdict } from "../../../core/approval.ts";
import { sentenceOf } from "../../../core/fault.ts";
import { later } from "../../../core/ids.ts";
import type { Entry, ToolCall } from "../../../core/journal.ts";
import { limits } from "../../../core/limits.ts";
import { isMarked } from "../../../core/outside.ts";
import { requesterOf } from "../../../core/requester.ts";
import type { Tool } from "../../../ports/tool.ts";
import { childOf, over } from "../../abort.ts";
import { type Parts, toolNamed } from "../../parts.ts";
import type { Running } from "../run.ts";
import { earlierTalk } from "./said.ts";

/** The judgement itself, whatever was allowed for good. */
export async function vet(
  parts: Parts,
  running: Running,
  call: ToolCall,
  journal: readonly Entry[],
): Promise<Verdict | "aborted"> {
  const tool = toolNamed(parts.agent, call.tool);
  if (tool?.vet === undefined) return { type: "run" };
  const stop = running.abort.signal;
  const own = childOf(stop);
  const silence = async (): Promise<Verdict | "aborted"> => {
    await parts.world.sleep(later(parts.world.now(), limits.vetMs), own.signal);
    return stop.aborted ? "aborted" : refused(`that was not done within ${limits.vetMs / 1000} s`);
  };
  const verdict = await Promise.race([judged(parts, running, tool, call, journal), silence()]);
  own.abort(over);
  return stop.aborted ? "aborted" : verdict;
}

/** The same; what its user allowed for good needs no asking. */
export async function vetByRules(
  parts: Parts,
  running: Running,
  call: ToolCall,
  journal: readonly Entry[],
): Promise<Verdict | "aborted"> {
  const verdict = await vet(parts, running, call, journal);
  if (verdict === "aborted" || verdict.type !== "approve" || verdict.subject === null) return verdict;
  const rule = await parts.store.rule(call.tool, verdict.subject, running.session.key);
  return rule === null ? verdict : allowedRun(verdict);
}

/** The call as its verdict describes it, with leave to make it. */
export function allowedRun({ grant }: Verdict & { readonly type: "run" | "approve" }): Verdict & { type: "run" } {
  return grant === undefined ? { type: "run" } : { type: "run", grant };
}

async function judged(
  parts: Parts,
  running: Running,
  tool: Tool,
  call: ToolCall,
  journal: readonly Entry[],
): Promise<Verdict> {
  const { session, turn } = running;
  // Earlier turns of the conversation are part of what its agent reads.
  const outside = isMarked(session, turn.input, journal);
  const context = {
    session: session.id,
    address: session.address,
    requester: requesterOf(turn.input, journal),
    outside,
    now: () => parts.world.now(),
    earlier: () => earlierTalk(parts, running, call.tool, journal),
  };
  try {
    const verdict = await tool.vet?.(call.input, context);
    return verdict !== undefined && isProper(verdict) ? verdict : refused("the judgement was not complete");
  } catch (error) {
    return refused(sentenceOf(error));
  }
}

function refused(why: string): Verdict {
  return { type: "refuse", why: `it could not be judged whether this may be done, so it was not done: ${why}` };
}

function isProper(verdict: Verdict): boolean {
  switch (verdict.type) {
    case "run":
      return true;
    case "refuse":
      return typeof verdict.why === "string";
    case "approve": {
      const { why, what, bound, subject, effects = [] } = verdict;
      return [why, what, bound, subject ?? "", ...effects].every((text) => typeof text === "string");
    }
    case "question": {
      const { text, choices, until } = verdict;
      const isWhole = typeof text === "string" && Number.isSafeInteger(Math.floor(until)) && Array.isArray(choices);
      return isWhole && choices.every((one) => typeof one === "string");
    }
    default:
      return false;
  }
}
