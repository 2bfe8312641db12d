// Runs one tool call between its two journal entries. How a call cut short by a death is taken up again was decided from
// its declared effect; here it is only done. A tool that never answers is honest about it: its outcome is unknown.

import { sentenceOf } from "../../../core/fault.ts";
import { type Grant, noGrant } from "../../../core/grant.ts";
import { hideDeep } from "../../../core/hide.ts";
import { type TurnId, later } from "../../../core/ids.ts";
import { type CallMode, type Entry, type ToolCall, type ToolResult, lastStep } from "../../../core/journal.ts";
import { limits } from "../../../core/limits.ts";
import { isMarked } from "../../../core/outside.ts";
import { requesterOf } from "../../../core/requester.ts";
import type { Tool, ToolContext } from "../../../ports/tool.ts";
import { childOf, over } from "../../abort.ts";
import { type Parts, toolNamed } from "../../parts.ts";
import { checkedResult } from "../checked.ts";
import type { Running } from "../run.ts";

/**
 * `aborted`: the turn is broken off; whatever the tool still does is taken up by the next attempt. `not-done`: it was
 * looked whether it had happened, and it had not.
 */
export type Outcome = ToolResult | "aborted" | "not-done";

/** A call as it is made: how it is taken up, under which key, and with what it is given. */
export type MadeCall = {
  readonly call: ToolCall;
  readonly mode: CallMode;
  readonly key: string;
  readonly grant: Grant;
};

export async function runCall(
  parts: Parts,
  running: Running,
  journal: readonly Entry[],
  { call, mode, key, grant }: MadeCall,
  tell: (progress: string) => void,
): Promise<Outcome> {
  const tool = toolNamed(parts.agent, call.tool);
  if (tool === null) return { type: "failed", why: `there is no tool named ${call.tool}` };
  const stop = running.abort.signal;
  const own = childOf(stop);
  const context = contextOf(parts, running, journal, key, own.signal, tell, grant);
  const limit = async (): Promise<ToolResult | "aborted"> => {
    const ms = tool.timeoutMs ?? limits.toolMs;
    await parts.world.sleep(later(parts.world.now(), ms), own.signal);
    if (!stop.aborted) return { type: "unknown", why: `it did not finish within ${Math.round(ms / 1000)} s` };
    // A tool that tells what became of it saves the next attempt from not knowing.
    if (tool.effect !== "pure") {
      await parts.world.sleep(later(parts.world.now(), limits.toolGraceMs), parts.closing);
    }
    return "aborted";
  };
  const result = await Promise.race([work(tool, call, mode, context), limit()]);
  own.abort(over);
  return typeof result === "string" ? result : (hideDeep(parts.hide, result) as ToolResult);
}

/** Stable over all attempts of one call. */
export function callKey(turn: TurnId, journal: readonly Entry[], call: ToolCall): string {
  return `${turn}:${lastStep(journal)}:${call.call}`;
}

export function contextOf(
  parts: Parts,
  { turn, session }: Pick<Running, "turn" | "session">,
  journal: readonly Entry[],
  key: string,
  signal: AbortSignal,
  tell: (progress: string) => void,
  grant: Grant = noGrant,
): ToolContext {
  return {
    session: session.id,
    turn: turn.id,
    address: session.address,
    requester: requesterOf(turn.input, journal),
    grant,
    outside: isMarked(session, turn.input, []),
    key,
    fence: session.fence,
    signal,
    now: () => parts.world.now(),
    tell(progress) {
      if (!signal.aborted) tell(String(progress));
    },
  };
}

async function work(tool: Tool, call: ToolCall, mode: CallMode, context: ToolContext): Promise<Outcome> {
  try {
    if (mode === "check") {
      const found = await tool.check?.(call.input, context);
      if (found === undefined)
        return { type: "unknown", why: "the gateway died while this ran and it cannot be checked" };
      return found === null ? "not-done" : checkedResult(found);
    }
    return checkedResult(await tool.run(call.input, context));
  } catch (error) {
    // A tool that was told to stop has not failed: what became of it is up to its effect, at the next attempt.
    if (context.signal.aborted) return "aborted";
    return { type: "failed", why: sentenceOf(error) };
  }
}
