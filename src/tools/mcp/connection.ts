// One connection to one server, from the first message to its end: its list of tools, kept up to date, and calls. This is
// where the protocol's library is loaded. The end of a connection is reported once, with the reason.

import type { Client } from "@modelcontextprotocol/client";
import { Fault } from "../../core/fault.ts";
import { flood } from "../../peers/child.ts";
import { type Line, dial, endOf, hasSession } from "./dial.ts";
import type { EraMemory } from "./era.ts";
import { type Failure, endAfterPing, failureOf, statusOf } from "./failures.ts";
import { headerFault } from "./headers.ts";
import type { McpOptions, McpPace, McpServer } from "./options.ts";
import type { PipeOptions } from "./pipe.ts";
import type { Answer } from "./results.ts";
import { keyName } from "./watched.ts";

export type Listed = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: unknown;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly destructive: boolean;
  /** As the server wrote them. */
  readonly annotations: unknown;
};

export type Called =
  | { readonly type: "answered"; readonly answer: Answer }
  /** The server declined it. */
  | { readonly type: "refused"; readonly why: string }
  /** The server declined it, because it wants other credentials. */
  | { readonly type: "login"; readonly why: string }
  /** The server did not get the call. */
  | { readonly type: "unheard"; readonly why: string }
  /** The server may have run it. */
  | { readonly type: "lost"; readonly why: string };

export type Ask = {
  readonly tool: string;
  readonly input: unknown;
  readonly key: string;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
};

export interface Connection {
  /** The revision of the protocol that both sides speak. */
  readonly protocol: string;
  call(ask: Ask): Promise<Called>;
  close(): Promise<void>;
}

/** Why there is no connection. `login` and `refused` do not heal by themselves. */
export type ConnectionEnd = { readonly type: "login" | "refused" | "lost"; readonly why: string };

export class ConnectError extends Error {
  readonly end: ConnectionEnd;
  constructor(end: ConnectionEnd) {
    super(end.why);
    this.end = end;
  }
}

export type Connecting = Pick<McpOptions, "version"> & {
  readonly server: McpServer;
  readonly era: EraMemory;
  /** For a server that is a program: how it is started now. */
  readonly launch: () => Promise<PipeOptions>;
  readonly pace: McpPace;
  readonly signal: AbortSignal;
  /** For the debug log. */
  readonly trouble: (what: string, error: unknown) => void;
  readonly listed: (tools: readonly Listed[]) => Promise<void>;
  /** Not called when the connecting itself fails. */
  readonly closed: (end: ConnectionEnd) => void;
};

/** Pages and tools beyond these are a flood. */
const pagesMax = 100;
const toolsMax = 2_000;
const messagesPerSecond = 5_000;
/** A result may still be on its way from the stream to the caller. */
const arrivalMs = 500;
/** Streams that end all the time cost at most one ping in this time. */
const checkPauseMs = 1_000;

type PendingCall = {
  /** The last event that was read; a server that numbers its events may continue in another stream. */
  lastEventId: string | null;
  readonly breakOff: (why: string) => void;
};

type Link = {
  readonly options: Connecting;
  readonly pending: Map<string, PendingCall>;
  readonly inputs: Map<string, unknown>;
  line: Line | null;
  over: ConnectionEnd | null;
  isOpen: boolean;
  checking: Promise<void> | null;
  checkedAt: number;
  isCheckDue: boolean;
};

/** Rejects with a `ConnectError`. */
export async function openConnection(options: Connecting): Promise<Connection> {
  const { pace, signal } = options;
  const link: Link = {
    options,
    pending: new Map(),
    inputs: new Map(),
    line: null,
    over: null,
    isOpen: false,
    checking: null,
    checkedAt: Number.NEGATIVE_INFINITY,
    isCheckDue: false,
  };
  const stop = (): void => void end(link, "the gateway stops");
  const late = setTimeout(() => void end(link, `it did not answer within ${pace.connectMs / 1000} s`), pace.connectMs);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const line = await dial({
      server: options.server,
      version: options.version ?? "0",
      launch: options.launch,
      era: options.era,
      probeMs: Math.min(pace.probeMs, pace.connectMs / 2),
      timeoutMs: pace.connectMs,
      signal,
      streams: streamEvents(link),
      attempted: (attempt) => attach(link, attempt),
      toolsChanged: throttledList(link),
    });
    await options.listed(await list(link, line));
    link.isOpen = true;
    // It may have ended in this very moment, before its end was reported.
    const early = endOf(line.transport);
    if (link.over !== null || early !== null) throw new Error(early ?? "the connection is closed");
    watchSubscription(link, line.client);
    return {
      protocol: line.client.getNegotiatedProtocolVersion() ?? "unknown",
      call: (ask) => call(link, line, ask),
      close: () => end(link, "we closed it"),
    };
  } catch (error) {
    link.isOpen = false;
    const why = link.over ?? endFor(link, error);
    await end(link, why.why, why.type);
    throw new ConnectError(why);
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", stop);
  }
}

function endFor({ line }: Link, error: unknown): ConnectionEnd {
  const ended = line === null ? null : endOf(line.transport);
  if (ended !== null) return { type: "lost", why: ended };
  // The program may not be started as it is configured.
  if (error instanceof Fault) return { type: "refused", why: error.message };
  return endBy(failureOf(error, false));
}

function endBy({ type, why }: Failure): ConnectionEnd {
  return { type: type === "login" || type === "refused" ? type : "lost", why };
}

function attach(link: Link, line: Line): void {
  const { client, transport } = line;
  link.line = line;
  const tooMany = flood(messagesPerSecond);
  transport.onmessage = () => {
    if (link.over === null && tooMany()) void end(link, `it sent more than ${messagesPerSecond} messages in a second`);
  };
  client.onclose = () => {
    if (!link.isOpen || link.line !== line) return;
    link.isOpen = false;
    link.over ??= { type: "lost", why: endOf(transport) ?? "the connection is closed" };
    link.options.closed(link.over);
  };
  client.onerror = (error) => link.options.trouble("an MCP server reports an error", error);
}

async function end(link: Link, why: string, type: ConnectionEnd["type"] = "lost"): Promise<void> {
  link.over ??= { type, why };
  // Before the first message the client does not have the transport yet.
  await link.line?.client.close();
  await link.line?.transport.close();
}

/** The server died, or forgot us, or only closed a stream: a cheap request tells. */
function check(link: Link): Promise<void> {
  link.checking ??= ping(link).finally(() => (link.checking = null));
  return link.checking;
}

function checkSoon(link: Link): void {
  if (link.isCheckDue) return;
  link.isCheckDue = true;
  const dueMs = Math.max(arrivalMs, link.checkedAt + checkPauseMs - performance.now());
  setTimeout(() => {
    link.isCheckDue = false;
    void check(link);
  }, dueMs).unref();
}

async function ping(link: Link): Promise<void> {
  const { line } = link;
  if (line === null || !link.isOpen || link.over !== null) return;
  link.checkedAt = performance.now();
  const limit = { timeout: link.options.pace.aliveMs };
  try {
    await (line.client.getProtocolEra() === "modern" ? line.client.discover(limit) : line.client.ping(limit));
  } catch (error) {
    const failure = endAfterPing(error, hasSession(line.transport), link.pending.size > 0);
    if (failure !== null) await end(link, failure.why, failure.type === "login" ? "login" : "lost");
  }
}

function streamEvents(link: Link) {
  const later = (work: () => void): void => void setTimeout(work, arrivalMs).unref();
  return {
    answering: (key: string) => {
      const call = link.pending.get(key);
      return () =>
        later(() => {
          if (call === undefined || link.pending.get(key) !== call) return;
          if (call.lastEventId === null) call.breakOff("its answer broke off");
          else void check(link);
        });
    },
    streamEnded: () => checkSoon(link),
    notResumed: (lastEventId: string) =>
      later(() => {
        const calls = [...link.pending.values()].filter((one) => one.lastEventId === lastEventId);
        for (const call of calls) call.breakOff("its answer broke off and was not continued");
      }),
    isResuming: () => [...link.pending.values()].some((one) => one.lastEventId !== null),
  };
}

/** A stream of notifications that only ended is opened again; with the pause, one that always ends costs little. */
function watchSubscription(link: Link, client: Client): void {
  let pauseMs = link.options.pace.relistMs;
  const follow = (subscription: Client["autoOpenedSubscription"]): void => {
    void subscription?.closed.then(async (cause) => {
      if (cause === "local") return;
      await check(link);
      if (link.over !== null) return;
      pauseMs = Math.min(pauseMs * 2, 60_000);
      setTimeout(() => void again(), pauseMs).unref();
    });
  };
  const again = async (): Promise<void> => {
    if (link.over !== null) return;
    try {
      follow(await client.listen({ toolsListChanged: true }, { timeout: link.options.pace.connectMs }));
      link.options.listed(await list(link, { client })).catch((error: unknown) => listTrouble(link, error));
    } catch (error) {
      link.options.trouble("changes of an MCP server cannot be followed", error);
    }
  };
  follow(client.autoOpenedSubscription);
}

function listTrouble(link: Link, error: unknown): void {
  link.options.trouble("the changed tools of an MCP server could not be listed", error);
}

async function list(link: Link, { client }: Pick<Line, "client">): Promise<readonly Listed[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const { connectMs } = link.options.pace;
  const { signal } = link.options;
  const found: Listed[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax && found.length < toolsMax; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const limit = { timeout: connectMs, maxTotalTimeout: connectMs, signal };
    const { tools, nextCursor } = await client.request({ method: "tools/list", params }, limit);
    for (const { name, description, title, inputSchema, annotations } of tools) {
      const fault = client.getProtocolEra() === "modern" ? headerFault(inputSchema) : null;
      if (fault !== null) {
        link.options.trouble(`the tool ${name} of an MCP server is left out`, new Error(fault));
        continue;
      }
      found.push({
        name,
        title: title ?? "",
        description: description ?? title ?? "",
        input: inputSchema,
        readOnly: annotations?.readOnlyHint === true,
        idempotent: annotations?.idempotentHint === true,
        // As the protocol has it: a tool that says nothing may destroy.
        destructive: annotations?.destructiveHint !== false,
        annotations: annotations ?? {},
      });
    }
    if (nextCursor === undefined || seen.has(nextCursor)) break;
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  const kept = found.slice(0, toolsMax);
  link.inputs.clear();
  for (const { name, input } of kept) link.inputs.set(name, input);
  return kept;
}

/** A server that says so every millisecond is asked once per pause. */
function throttledList(link: Link): () => void {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    setTimeout(() => {
      waits = false;
      const { line } = link;
      if (line === null || !link.isOpen) return;
      list(link, line).then(link.options.listed, (error: unknown) => listTrouble(link, error));
    }, link.options.pace.relistMs).unref();
  };
}

async function call(link: Link, { client, transport }: Line, ask: Ask): Promise<Called> {
  if (link.over !== null) return { type: "unheard", why: link.over.why };
  const broken = new AbortController();
  let whyBroken: string | null = null;
  const pending: PendingCall = {
    lastEventId: null,
    breakOff(why) {
      whyBroken = why;
      broken.abort(new Error(why));
    },
  };
  link.pending.set(ask.key, pending);
  const { pace } = link.options;
  const params = { name: ask.tool, arguments: argumentsOf(ask.input), _meta: { [keyName]: ask.key } };
  try {
    const result = client.callTool(params, {
      // Its schema says which arguments are headers. Without an output schema nothing is judged after the tool ran.
      toolDefinition: { name: ask.tool, inputSchema: schemaOf(link.inputs.get(ask.tool)) },
      signal: AbortSignal.any([ask.signal, broken.signal]),
      timeout: ask.patienceMs,
      maxTotalTimeout: Math.max(pace.callMaxMs, ask.patienceMs),
      resetTimeoutOnProgress: true,
      onresumptiontoken: (token) => (pending.lastEventId = token),
      onprogress: ({ message, progress, total }) =>
        ask.progress(message ?? (total === undefined ? String(progress) : `${progress} of ${total}`)),
    });
    return { type: "answered", answer: await result.finally(() => link.pending.delete(ask.key)) };
  } catch (error) {
    ask.signal.throwIfAborted();
    if (whyBroken !== null) return { type: "lost", why: whyBroken };
    const failure = failureOf(error, hasSession(transport));
    const isUnheard = failure.type === "session" || failure.type === "unreached";
    // The connection may have ended for another reason while this call was not even delivered.
    if (!isUnheard && link.over !== null) return { type: "lost", why: (link.over as ConnectionEnd).why };
    // The session may be gone although the answer does not say so. The call is not repeated, but the next one works.
    if (failure.type === "refused" && statusOf(error) === 400) checkSoon(link);
    return await calledBy(link, failure, ask);
  }
}

async function calledBy(link: Link, failure: Failure, ask: Ask): Promise<Called> {
  const { why } = failure;
  switch (failure.type) {
    case "session":
    case "unreached":
      // The next connection begins anew.
      await end(link, why);
      return { type: "unheard", why };
    case "login":
      // It may be about this tool alone, and the connection is for everybody.
      await check(link);
      return { type: "login", why };
    case "refused":
      return { type: "refused", why };
    case "timeout":
      return { type: "lost", why: `it did not answer within ${ask.patienceMs / 1000} s` };
    case "uncertain":
      return { type: "lost", why };
  }
}

function argumentsOf(input: unknown): Record<string, unknown> {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? { ...input } : {};
}

function schemaOf(input: unknown): { type: "object" } {
  return { type: "object", ...argumentsOf(input) };
}
