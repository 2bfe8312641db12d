// A tool and the kind of effect it has on the world. The effect is the only hard question about a tool.

import type { SessionId } from "../core/ids.ts";
import type { ToolEffect, ToolResult } from "../core/journal.ts";

export type ToolContext = {
  readonly session: SessionId;
  /** The same for every attempt of one call: the idempotency key of a `keyed` effect. */
  readonly key: string;
  /** Grows with each change of owner; an outside system may refuse a smaller one. */
  readonly fence: number;
  readonly signal: AbortSignal;
};

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly effect: ToolEffect;
  /** JSON schema of the input, as a model sees it. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly timeoutMs?: number;
  run(input: unknown, context: ToolContext): Promise<ToolResult>;
  /** For `checkable` only: what became of a call cut short by a death; null when it did not happen. */
  check?(input: unknown, context: ToolContext): Promise<ToolResult | null>;
}
