// The preview while calls run: the text so far, what runs, and what it last told.

import type { Entry, ToolCall } from "../../../core/journal.ts";
import { progressText } from "../../../core/running/progress.ts";
import type { Draft } from "../drafts.ts";

export interface Shown {
  tell(call: ToolCall, text: string): void;
  ended(call: ToolCall): void;
}

export function running(
  preview: Draft,
  journal: readonly Entry[],
  taken: readonly { readonly call: ToolCall }[],
): Shown {
  const said = journal.findLast((entry) => entry.type === "said");
  const text = said?.type === "said" ? said.text : "";
  const told = new Map<ToolCall, string | null>(taken.map(({ call }) => [call, null]));
  const show = () =>
    preview.show(
      progressText(
        text,
        [...told].map(([call, last]) => ({ call, told: last })),
      ),
    );
  show();
  return {
    tell(call, last) {
      if (!told.has(call)) return;
      told.set(call, last);
      show();
    },
    ended(call) {
      told.delete(call);
      if (told.size > 0) show();
    },
  };
}
