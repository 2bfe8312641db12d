// What the terminal is given. The composition imports this alone; the rest is loaded when it is needed.

import type { Jobs } from "../../ports/jobs.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { CommandSettings } from "../policy/index.ts";

export type TerminalOptions = CommandSettings & {
  readonly jobs: Jobs;
  readonly sandbox: Sandbox;
  /** Where commands start, and what they may change in a sandbox. */
  readonly workspace: string;
  /** Files of this person's conversations, which may be read. */
  readonly files?: string;
  /** The gateway's own folder, which no command needs to see. */
  readonly home: string;
  /** The user's own folder, or null where the system knows none. */
  readonly userHome: string | null;
  /** The gateway's environment; commands see the harmless part of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a command may take that does not say. */
  readonly timeoutSeconds?: number;
};

/** In seconds. The runner of a job ends it at its limit; a call waits a little longer. */
export const terminalLimits = {
  usual: 120,
  most: 3_600,
  background: 24 * 3_600,
  /** The most that one call waits for a command in the background. */
  wait: 600,
  grace: 60,
} as const;
