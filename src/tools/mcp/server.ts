// One process of a configured server, or the connection to a remote one. The main one is connected in the background and
// again after a failure, with growing pauses; the others wait for a call. The tools that it listed last stay known.

import { sentenceOf } from "../../core/fault.ts";
import { orAborted } from "../../core/running/aborted.ts";
import { type PeerWorkspace, prepareLaunch } from "../../peers/launch.ts";
import type { PeerState, PeerStatus } from "../../ports/peers.ts";
import type { ToolCatalog } from "./catalog.ts";
import type { Connection, ConnectionEnd, Listed } from "./connection.ts";
import type { EraMemory } from "./era.ts";
import type { McpOptions, McpPace, McpServer } from "./options.ts";
import type { PipeOptions } from "./pipe.ts";

export interface ServerLife {
  /** As it listed them last; null before it ever did. */
  tools(): readonly Listed[] | null;
  /** Begins to connect, and resolves when that has succeeded, failed, or taken too long. */
  settled(): Promise<void>;
  /** Rejects with the reason when it cannot be reached. Not idle until `work` has ended. */
  use<T>(signal: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T>;
  isIdle(): boolean;
  status(): Pick<PeerStatus, "state" | "why" | "nextAttemptAt" | "protocol">;
  close(): Promise<void>;
}

export type LifeOptions = {
  readonly name: string;
  readonly settings: McpServer;
  readonly options: McpOptions;
  readonly pace: McpPace;
  readonly catalog: ToolCatalog;
  readonly era: EraMemory;
  /** Of the person whom it serves; null where it serves everybody. */
  readonly workspace: () => Promise<PeerWorkspace | null>;
  readonly isMain: boolean;
};

/** A server that was up for this long has not failed by starting. */
const steadyMs = 60_000;
const stopping = "the gateway stops";

export function serverLife({
  name,
  settings,
  options,
  pace,
  catalog,
  era,
  workspace,
  isMain,
}: LifeOptions): ServerLife {
  const { log, host } = options;
  const closing = new AbortController();
  let state: PeerState = "starting";
  let why: string | null = null;
  let nextAttemptAt: number | null = null;
  let refusedAt = 0;
  let known: readonly Listed[] | null = null;
  let connection: Connection | null = null;
  let opening: Promise<Connection> | null = null;
  let first: Promise<void> | null = null;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  let upSince = 0;
  let uses = 0;

  async function launch(): Promise<PipeOptions> {
    if ("url" in settings) throw new Error("it is not a program");
    const user = { name: `mcp-${name}`, workspace: await workspace() };
    return { spawn: host.spawn, ...(await prepareLaunch(host, settings, user)) };
  }

  async function saw(tools: readonly Listed[]): Promise<void> {
    await catalog.saw(tools);
    known = tools;
  }

  async function open(): Promise<Connection> {
    clearTimeout(retry);
    nextAttemptAt = null;
    // One that fails again and again is not shown as starting each time.
    if (failures === 0) state = "starting";
    try {
      const { openConnection } = await import("./connection.ts");
      closing.signal.throwIfAborted();
      const made = await openConnection({
        ...(options.version === undefined ? {} : { version: options.version }),
        server: settings,
        era,
        launch,
        // One that starts slowly gets more time with every attempt.
        pace: { ...pace, probeMs: pace.probeMs * 2 ** Math.min(failures, 12) },
        signal: closing.signal,
        trouble: (what, error) => log("debug", what, { server: name, why: hideSecrets(settings, sentenceOf(error)) }),
        listed: saw,
        closed: fail,
      });
      connection = made;
      state = "ready";
      why = null;
      upSince = performance.now();
      log("info", "an MCP server is connected", { server: name, tools: known?.length ?? 0, protocol: made.protocol });
      return made;
    } catch (error) {
      fail(endOf(error));
      throw new Error(closing.signal.aborted ? stopping : (why ?? ""));
    }
  }

  /** It is tried again after a pause that grows with every failure, unless it needs a login first. */
  function fail(end: ConnectionEnd): void {
    if (connection !== null && performance.now() - upSince > steadyMs) failures = 0;
    connection = null;
    if (closing.signal.aborted) return;
    state = stateAfter[end.type];
    why = hideSecrets(settings, end.type === "login" ? loginText(name, end.why) : end.why);
    const pauseMs = Math.min(pace.retryMinMs * 2 ** failures, pace.retryMaxMs);
    failures++;
    const isRetried = isMain && end.type !== "login";
    refusedAt = performance.now();
    nextAttemptAt = isRetried ? Date.now() + pauseMs : null;
    log(failures === 1 ? "warn" : "debug", "an MCP server is not available", { server: name, state, why, failures });
    clearTimeout(retry);
    if (!isRetried) return;
    retry = setTimeout(() => void connect().catch(noted), pauseMs);
    retry.unref();
  }

  /** The reason is in the status already. */
  function noted(error: unknown): void {
    log("debug", "an MCP server is still not available", { server: name, why: sentenceOf(error) });
  }

  function connect(): Promise<Connection> {
    if (closing.signal.aborted) return Promise.reject(new Error(stopping));
    if (connection !== null) return Promise.resolve(connection);
    // The answer would be the same: a model that calls again and again does not hammer the server.
    if (state === "login-needed" && performance.now() - refusedAt < pace.loginMs) {
      return Promise.reject(new Error(why ?? ""));
    }
    opening ??= open().finally(() => (opening = null));
    return opening;
  }

  return {
    tools: () => known,
    settled: () =>
      (first ??= orAfter(
        connect().then(() => undefined, noted),
        pace.readyMs,
      )),
    async use(signal, work) {
      uses++;
      try {
        return await work(await orAborted(connect(), signal));
      } finally {
        uses--;
      }
    },
    isIdle: () => uses === 0 && opening === null,
    status: () => ({ state, why, nextAttemptAt, protocol: connection?.protocol ?? null }),
    async close() {
      closing.abort(new Error(stopping));
      clearTimeout(retry);
      await opening?.catch(noted);
      await connection?.close();
      connection = null;
      nextAttemptAt = null;
      state = "stopped";
    },
  };
}

const stateAfter: Readonly<Record<ConnectionEnd["type"], PeerState>> = {
  login: "login-needed",
  refused: "refused",
  lost: "degraded",
};

function endOf(error: unknown): ConnectionEnd {
  // By its shape, because the class is in a module that is loaded late.
  if (error instanceof Error && "end" in error) return error.end as ConnectionEnd;
  return { type: "lost", why: sentenceOf(error) };
}

export function loginText(name: string, why: string): string {
  return `${why}. Put a valid token into agent.mcp.${name}.headers`;
}

async function orAfter(work: Promise<void>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/** The error of a server, or of the request to it, may repeat what it was given. */
export function hideSecrets(settings: McpServer, text: string): string {
  const given =
    "url" in settings
      ? [...Object.values(settings.headers ?? {}), ...secretsIn(settings.url)]
      : Object.values(settings.env ?? {});
  const secrets = given.flatMap((value) => [value, value.replace(/^\S+\s+/, "")]).filter((value) => value.length >= 8);
  return secrets.reduce((hidden, secret) => hidden.replaceAll(secret, "[hidden]"), text);
}

/** The user name, which may be a token, the password, and the values of the query as written and decoded. */
function secretsIn(address: string): readonly string[] {
  const url = URL.parse(address);
  if (url === null) return [];
  const written = url.search.split(/[?&]/).map((pair) => pair.slice(pair.indexOf("=") + 1));
  return [url.username, url.password, ...written, ...url.searchParams.values()];
}
