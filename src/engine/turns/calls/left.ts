// What a turn leaves behind that is ended while nobody runs it: its journal says what became of every call, and the tool
// of one that may still go on outside is told that nobody waits for it.

import type { Change } from "../../../core/change.ts";
import { sentenceOf } from "../../../core/fault.ts";
import type { Instant } from "../../../core/ids.ts";
import { type Entry, type ToolCall, cutOff, dangling } from "../../../core/journal.ts";
import type { Session } from "../../../core/session.ts";
import type { Turn } from "../../../core/turn.ts";
import { type Parts, toolNamed } from "../../parts.ts";
import { callKey, contextOf } from "./tools.ts";

export type Left = {
  /** For the commit that ends the turn. */
  readonly changes: readonly Change[];
  /** To be called when that commit stands; nobody waits for it. */
  readonly drop: () => void;
};

export type Owned = { readonly turn: Turn; readonly session: Session };

export async function leftBy(parts: Parts, { turn, session }: Owned, why: string, at: Instant): Promise<Left> {
  const journal = await parts.store.journalOf(turn.id);
  const open = dangling(journal);
  const changes = open.map(({ call, effect }, i): Change => {
    const entry: Entry = { type: "tool-ended", call: call.call, result: cutOff(why, effect, false) };
    return { put: "entry", turn: turn.id, n: journal.length + i, at, entry };
  });
  return { changes, drop: () => dropCalls(parts, { turn, session }, journal, open) };
}

/** Only of calls that may go on without us; what was never begun needs no end. */
export function dropCalls(
  parts: Parts,
  { turn, session }: Owned,
  journal: readonly Entry[],
  open: ReturnType<typeof dangling>,
): void {
  const tell = async (call: ToolCall): Promise<void> => {
    try {
      const key = callKey(turn.id, journal, call);
      const context = contextOf(parts, { turn, session }, journal, key, parts.closing, () => undefined);
      await toolNamed(parts.agent, call.tool)?.drop?.(call.input, context);
    } catch (error) {
      const what = { turn: turn.id, tool: call.tool, why: sentenceOf(error) };
      parts.world.log("warn", "a call that nobody waits for could not be ended", what);
    }
  };
  for (const { call, effect } of open) if (effect === "checkable") void tell(call);
}
