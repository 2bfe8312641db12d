// Opens the protocol to a server, whichever it speaks: the revision of 2026-07-28, the older one that begins with
// `initialize`, or the still older transport over SSE. What to try next after a failure is decided by a table.

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Fault } from "../../core/fault.ts";
import type { EraMemory } from "./era.ts";
import { failureOf, isTimeout, statusOf } from "./failures.ts";
import type { McpServer } from "./options.ts";
import { type Pipe, type PipeOptions, pipe } from "./pipe.ts";
import { streamReconnects } from "./reconnects.ts";
import { type StreamEvents, watchedFetch } from "./watched.ts";

export type McpTransport = Pipe | StreamableHTTPClientTransport | SSEClientTransport;

/** `auto` asks the server; `initialize` and `sse` are the older ways. */
export type DialMode = "auto" | "initialize" | "sse";

export type Line = {
  readonly client: Client;
  readonly transport: McpTransport;
};

export type DialOptions = {
  readonly server: McpServer;
  readonly version: string;
  readonly launch: () => Promise<PipeOptions>;
  readonly era: EraMemory;
  readonly probeMs: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly streams: StreamEvents;
  /** Called with every attempt before it begins. */
  readonly attempted: (line: Line) => void;
  readonly toolsChanged: () => void;
};

export async function dial(options: DialOptions): Promise<Line> {
  const { server, era, signal } = options;
  const isRemembered = await era.isLegacy();
  let mode: DialMode = isRemembered ? "initialize" : "auto";
  let first: unknown = null;
  for (;;) {
    const line = lineFor(options, mode);
    options.attempted(line);
    try {
      await open(line, mode, options);
      if (line.client.getProtocolEra() === "legacy" && !isRemembered) await era.remember("legacy");
      return line;
    } catch (error) {
      await line.transport.close();
      const hasEnded = endOf(line.transport) !== null;
      const next: DialMode | null = signal.aborted ? null : nextMode(mode, "url" in server, error, hasEnded);
      if (next === null) {
        if (isRemembered) await era.remember("unknown");
        throw first === null || mode !== "sse" ? error : new Fault("not-possible", neither(first, error));
      }
      first ??= error;
      mode = next;
    }
  }
}

/** `hasEnded`: the program ended by itself during the attempt. */
export function nextMode(mode: DialMode, isRemote: boolean, error: unknown, hasEnded: boolean): DialMode | null {
  if (!isRemote) return mode === "auto" && hasEnded ? "initialize" : null;
  if (mode === "sse") return null;
  // Servers of 2024 take no POST at this address.
  if ([400, 404, 405].includes(statusOf(error) ?? 0)) return "sse";
  return mode === "auto" && isTimeout(error) ? "initialize" : null;
}

function neither(first: unknown, second: unknown): string {
  const [http, sse] = [failureOf(first, false).why, failureOf(second, false).why];
  return `it speaks neither Streamable HTTP (${http}) nor the older SSE transport (${sse}). Check its url`;
}

function lineFor(options: DialOptions, mode: DialMode): Line {
  const client = new Client(
    { name: "everturn", version: options.version },
    {
      capabilities: {},
      versionNegotiation: { mode: "auto", probe: { timeoutMs: options.probeMs } },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: options.toolsChanged } },
    },
  );
  // Also of a server that did not announce it.
  client.setNotificationHandler("notifications/tools/list_changed", options.toolsChanged);
  return { client, transport: transportFor(options, mode) };
}

async function open({ client, transport }: Line, mode: DialMode, { timeoutMs, signal }: DialOptions): Promise<void> {
  const limits = { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal };
  await client.connect(transport, mode === "auto" ? limits : { ...limits, prior: { kind: "legacy" } });
}

function transportFor({ server, launch, streams }: DialOptions, mode: DialMode): McpTransport {
  if (!("url" in server)) return pipe(launch);
  // Redirects are followed within the origin alone: the headers are for the configured server.
  const url = new URL(server.url);
  const requestInit = { headers: { ...server.headers } };
  if (mode === "sse") {
    // Answers come on the one stream; that of a request only says that it arrived.
    const fetch = watchedFetch({ ...streams, answering: () => () => undefined });
    return new SSEClientTransport(url, { requestInit, fetch });
  }
  return new StreamableHTTPClientTransport(url, {
    requestInit,
    fetch: watchedFetch(streams),
    reconnectionScheduler: streamReconnects(streams.isResuming),
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 20,
    },
  });
}

/** Why a program ended; null for one that runs, and for a remote server. */
export function endOf(transport: McpTransport): string | null {
  return "over" in transport ? transport.over() : null;
}

/** The server keeps a session for us, which its restart ends. */
export function hasSession(transport: McpTransport): boolean {
  if (transport instanceof SSEClientTransport) return true;
  return transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined;
}
