// What the MCP part is given and what it answers. The composition imports this alone; the rest is loaded when it is needed.

import type { ChildProcess, SpawnOptions } from "node:child_process";
import type { Blobs } from "../../ports/blobs.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Facts, LogLevel } from "../../ports/world.ts";
import type { Policy } from "../policy/index.ts";

export type McpServer = (
  | {
      /** The program and its words. */
      readonly command: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
) & {
  /** Its hints about effects are believed, and what it answers is not marked as written by strangers. */
  readonly trusted?: boolean;
  /** How long a call may be silent. */
  readonly timeoutSeconds?: number;
};

export type McpOptions = {
  readonly servers: Readonly<Record<string, McpServer>>;
  /** Starts a program in a group of its own that a stop of the gateway ends. */
  readonly spawn: (program: string, words: readonly string[], options: SpawnOptions) => ChildProcess;
  /** What servers may see of our environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where servers start that name no folder. */
  readonly cwd?: string;
  readonly log: (level: LogLevel, what: string, facts?: Facts) => void;
  /** How much is asked before a call is made. */
  readonly policy: Policy;
  /** Where images and other files in results are kept; absent, they are only described. */
  readonly blobs?: Pick<Blobs, "put">;
  /** Our own, told to servers. */
  readonly version?: string;
  readonly pace?: Partial<McpPace>;
};

/** All that waits, in milliseconds. */
export type McpPace = {
  /** From the start of a server to its list of tools; some are fetched from the network first. */
  readonly connectMs: number;
  /** How long `ready` waits for each, once: tools of a server that comes later are there for the next step. */
  readonly readyMs: number;
  /** How long a call may be silent where the server's settings do not say. */
  readonly callMs: number;
  /** A call that tells of progress may take this long altogether. */
  readonly callMaxMs: number;
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** A list that changes is read again at most this often. */
  readonly relistMs: number;
};

export const mcpPace: McpPace = {
  connectMs: 60_000,
  readyMs: 2_000,
  callMs: 60_000,
  callMaxMs: 600_000,
  retryMinMs: 1_000,
  retryMaxMs: 300_000,
  relistMs: 1_000,
};

export type McpStatus = {
  readonly state: "waiting" | "connecting" | "ready" | "resting" | "closed";
  /** How many it has. */
  readonly tools: number;
  /** What is wrong, or worth knowing; null when nothing is. */
  readonly why: string | null;
};

export interface Mcp {
  /** Those of every server that has answered so far, also while it is away for a moment. */
  tools(): readonly Tool[];
  /** Also one of a configured server that has not answered yet; null where no server has that name. */
  toolNamed(name: string): Tool | null;
  /** Begins to connect at the first call; resolves when every server has answered, failed, or taken too long. */
  ready(): Promise<void>;
  status(): Readonly<Record<string, McpStatus>>;
  close(): Promise<void>;
}
