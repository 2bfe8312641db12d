// What the tests of MCP stand on: a folder, the registry of processes, servers of our own, and the context of a call.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { noGrant } from "../../src/core/grant.ts";
import type { ToolResult } from "../../src/core/journal.ts";
import { openProcesses } from "../../src/host/processes.ts";
import type { ToolContext, VetContext } from "../../src/ports/tool.ts";
import { anAddress, anOwner, at, sessionId, turnId } from "../../src/testing/samples.ts";
import { type Mcp, type McpOptions, type McpServer, openMcp } from "../../src/tools/mcp/index.ts";
import type { Sandbox } from "../../src/ports/sandbox.ts";
import { openSandbox } from "../../src/sandbox/index.ts";
import { linesIn } from "../lines.ts";
import { memoryFacts, peerHost } from "./peer-host.ts";

const program = join(import.meta.dirname, "..", "fakes", "mcp", "server.ts");

export type Stage = {
  readonly mcp: Mcp;
  readonly folder: string;
  readonly log: string[];
  /** Starts of our own server, and calls that reached it. */
  calls(): readonly string[];
  call(name: string, input?: unknown, more?: Partial<ToolContext>): Promise<ToolResult>;
  /** Groups of processes that are left. */
  alive(): number;
};

export function aContext(more: Partial<ToolContext> = {}): ToolContext {
  return {
    session: sessionId("s1"),
    turn: turnId("t1"),
    address: anAddress("s1"),
    key: "t1:0:c1",
    requester: anOwner,
    grant: noGrant,
    outside: false,
    fence: 1,
    signal: new AbortController().signal,
    now: () => at(0),
    tell: () => undefined,
    ...more,
  };
}

export const aVet: VetContext = {
  session: sessionId("s1"),
  address: anAddress("s1"),
  requester: anOwner,
  outside: false,
  now: () => at(0),
};

type Given = Partial<Omit<McpOptions, "servers" | "host">> & {
  readonly servers?: Readonly<Record<string, McpServer>>;
  /** In the real sandbox. */
  readonly walled?: boolean;
  /** Of our own server, which is called `own`. */
  readonly mode?: string;
  readonly trusted?: boolean;
  readonly timeoutSeconds?: number;
};

export function stage(
  t: TestContext,
  { mode = "plain", trusted, timeoutSeconds, walled = false, ...given }: Given = {},
): Stage {
  const folder = mkdtempSync(join(tmpdir(), "everturn-mcp-"));
  const processes = openProcesses();
  const log: string[] = [];
  const own: McpServer = {
    command: [process.execPath, program, mode, folder],
    env: { OWN_KEY: "planted-key-of-the-server" },
    ...(trusted === undefined ? {} : { trusted }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  };
  const mcp = openMcp({
    servers: { own },
    host: peerHost(
      folder,
      (named, words, options) => processes.spawn({ program: named, words, options }),
      walled ? sandboxIn(join(folder, ".gateway")) : undefined,
    ),
    facts: memoryFacts(),
    policy: "dangerous",
    log: (level, what, facts) => void log.push(`${level} ${what} ${JSON.stringify(facts ?? {})}`),
    ...given,
    pace: { readyMs: 30_000, probeMs: 30_000, retryMinMs: 20, retryMaxMs: 100, relistMs: 20, ...given.pace },
  });
  t.after(async () => {
    await mcp.close();
    await processes.killAll("all");
    rmSync(folder, { recursive: true, force: true });
  });
  const file = join(folder, "calls");
  return {
    mcp,
    folder,
    log,
    calls: () => linesIn(file),
    async call(name, input = {}, more = {}) {
      const tool = mcp.toolNamed(name);
      if (tool === null) throw new Error(`no tool ${name}`);
      return tool.run(input, aContext(more));
    },
    alive: () => processes.count,
  };
}

function sandboxIn(home: string): Sandbox {
  mkdirSync(home, { recursive: true });
  return openSandbox({ choice: "bwrap", home, userHome: null, environment: { PATH: "/usr/bin:/bin" } });
}

/** Resolves when it holds; the test's own time limit is the only one. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}
