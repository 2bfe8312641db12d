// The preview while calls run: the text so far, what is done, what runs, and what it last told.

import type { Entry, ToolCall, ToolResult } from "../../../core/journal.ts";
import { type DoneCall, doneCalls, latestText, progressText } from "../../../core/running/progress.ts";
import type { Draft } from "../drafts.ts";

export interface Shown {
  tell(call: ToolCall, text: string): void;
  /** Null where it has no result here. */
  ended(call: ToolCall, result: ToolResult | null): void;
}

export function running(
  preview: Draft,
  journal: readonly Entry[],
  taken: readonly { readonly call: ToolCall }[],
): Shown {
  const text = latestText(journal);
  const done: DoneCall[] = [...doneCalls(journal)];
  const told = new Map<ToolCall, string | null>(taken.map(({ call }) => [call, null]));
  const show = () => {
    const atWork = [...told].map(([call, last]) => ({ call, told: last }));
    preview.show(progressText(text, done, atWork));
  };
  show();
  return {
    tell(call, last) {
      if (!told.has(call)) return;
      told.set(call, last);
      show();
    },
    ended(call, result) {
      told.delete(call);
      if (result === null) return;
      done.push({ call, result: result.type });
      show();
    },
  };
}
