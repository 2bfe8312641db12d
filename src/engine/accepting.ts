// What is written of every inbound message, and the shape of a plan that accepts one.

import type { Change } from "../core/change.ts";
import type { Instant, SessionId, TurnId } from "../core/ids.ts";
import { type Inbound, textOf } from "../core/message.ts";

/** An acceptance ready to be committed. `stored` and `refused` say what follows in memory. */
export type Plan = {
  readonly changes: readonly Change[];
  readonly stored: () => void;
  readonly refused: () => void;
  /** A press that does not count: the platform leaves the buttons for somebody whose press does. */
  readonly isVoid?: true;
};

export function inboxRow({ from, key }: Inbound, turn: string, at: Instant): Change {
  const { platform, account } = from;
  return { put: "inbox", platform, account, key, turn: turn as TurnId, at };
}

/** What a user said; a timer says nothing, its answer does. */
export function saidRow(
  { key, body, outside, carries }: Inbound,
  session: SessionId,
  turn: TurnId,
  at: Instant,
): readonly Change[] {
  if (body.kind === "timer") return [];
  const message = { key, session, turn, role: "user", text: textOf(body), at } as const;
  const files = body.kind === "text" && body.files.length > 0 ? { files: body.files } : {};
  const strange = outside === true ? { outside } : carries === true ? { carries } : {};
  return [{ put: "message", message: { ...message, ...files, ...strange } }];
}

/** Two plans in one commit; what follows from the second comes first. */
export function alongside(plan: Plan, more: Plan): Plan {
  return {
    changes: [...plan.changes, ...more.changes],
    stored() {
      more.stored();
      plan.stored();
    },
    refused() {
      more.refused();
      plan.refused();
    },
  };
}
