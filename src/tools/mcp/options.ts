// What the MCP part is given and what it answers. The composition imports this alone; the rest is loaded when it is needed.

import type { Requester } from "../../core/requester.ts";
import type { PeerHost } from "../../peers/launch.ts";
import type { PeerProgram } from "../../peers/program.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { PeerStatus, ToolServers } from "../../ports/peers.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Facts, LogLevel } from "../../ports/world.ts";
import type { Policy } from "../policy/index.ts";

export type McpServer = (
  | (PeerProgram & {
      /** One process for everybody, in an empty folder: it holds nothing of one person and sees no workspace. */
      readonly shared?: boolean;
    })
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
) & {
  /** Its hints about effects are believed. */
  readonly trusted?: boolean;
  /** How long a call may be silent. */
  readonly timeoutSeconds?: number;
};

/** Small values by name, stored when `write` resolves. */
export type FactStore = {
  readonly read: (name: string) => Promise<string | null>;
  readonly write: (name: string, value: string) => Promise<void>;
};

export type McpOptions = {
  readonly servers: Readonly<Record<string, McpServer>>;
  /** Where servers that are programs are started. */
  readonly host: PeerHost;
  readonly facts: FactStore;
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
  /** How long a server may take to say that it speaks the newer protocol, before the older one is tried. */
  readonly probeMs: number;
  /** How long a server whose stream ended may take to show that it lives. */
  readonly aliveMs: number;
  /** How long `ready` waits for each, once: tools of a server that comes later are there for the next step. */
  readonly readyMs: number;
  /** How long a call may be silent where the server's settings do not say. */
  readonly callMs: number;
  /** A call that tells of progress may take this long altogether. */
  readonly callMaxMs: number;
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** A server that needs a login is not asked again by calls for this long. */
  readonly loginMs: number;
  /** A list that changes is read again at most this often. */
  readonly relistMs: number;
};

export const mcpPace: McpPace = {
  connectMs: 60_000,
  probeMs: 3_000,
  aliveMs: 4_000,
  readyMs: 2_000,
  callMs: 60_000,
  callMaxMs: 600_000,
  retryMinMs: 1_000,
  retryMaxMs: 300_000,
  loginMs: 60_000,
  relistMs: 1_000,
};

export interface Mcp extends ToolServers {
  /** The approved ones of every server that has answered so far, also while it is away for a moment. */
  tools(requester?: Requester): readonly Tool[];
  /** Also one of a configured server that has not answered yet; null where no server has that name. */
  toolNamed(name: string): Tool | null;
  /** Begins to connect at the first call; resolves when every server has answered, failed, or taken too long. */
  ready(): Promise<void>;
  /** By name. */
  status(): Readonly<Record<string, PeerStatus>>;
  close(): Promise<void>;
}
