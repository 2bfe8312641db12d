// What the ACP backend is given. The composition imports this alone; the protocol is loaded at the first turn.

import type { PeerHost } from "../../peers/launch.ts";
import type { PeerProgram } from "../../peers/program.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Facts, LogLevel } from "../../ports/world.ts";
import type { ConfiguredServer } from "./servers.ts";

export type AcpOptions = {
  /** The agent's program, as `{ command: ["opencode", "acp"] }`, with its grant. */
  readonly program: PeerProgram;
  /** MCP servers of the configuration, which the agent starts or calls itself. */
  readonly servers?: Readonly<Record<string, ConfiguredServer>>;
  /** Where it is started. */
  readonly host: PeerHost;
  readonly log: (level: LogLevel, what: string, facts?: Facts) => void;
  /** Where files of users are; absent, they are only named. */
  readonly blobs?: Pick<Blobs, "read" | "path">;
  /** Our own, told to the agent. */
  readonly version?: string;
  /** How many conversations are kept at hand; those at work always are. */
  readonly remembered?: number;
  readonly pace?: Partial<AcpPace>;
};

/** All that waits, in milliseconds. */
export type AcpPace = {
  /** From the start of the program to its answer to `initialize`, and for a session to be made or loaded. */
  readonly connectMs: number;
  /** How long a cancelled prompt may take to end before the agent counts as hung and is ended. */
  readonly cancelMs: number;
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
};

export const acpPace: AcpPace = { connectMs: 60_000, cancelMs: 10_000, retryMinMs: 1_000, retryMaxMs: 300_000 };
