// One connection to one server, from the first word to its end: its list of tools, kept up to date, and calls. This is
// where the protocol's own library is loaded. An end of the connection is told once, with the reason.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  ErrorCode,
  type JSONRPCMessage,
  ListToolsResultSchema,
  McpError,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { sentenceOf } from "../../core/fault.ts";
import { flood } from "../../peers/child.ts";
import type { McpOptions, McpPace, McpServer } from "./options.ts";
import { type Pipe, type PipeOptions, pipe } from "./pipe.ts";
import type { Answer } from "./results.ts";
import { keyName, watchedFetch } from "./watched.ts";

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
  /** The server will not do it. */
  | { readonly type: "refused"; readonly why: string }
  /** It was gone before it could hear of the call. */
  | { readonly type: "unheard"; readonly why: string }
  /** It heard the call, and nobody knows what became of it. */
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
  call(ask: Ask): Promise<Called>;
  close(): Promise<void>;
}

export type Connecting = Pick<McpOptions, "version"> & {
  readonly server: McpServer;
  /** For a server that is a program: how it is started now. */
  readonly launch: () => Promise<PipeOptions>;
  readonly pace: McpPace;
  readonly signal: AbortSignal;
  /** What is worth knowing when one looks closer. */
  readonly trouble: (what: string, error: unknown) => void;
  readonly listed: (tools: readonly Listed[]) => Promise<void>;
  /** Not called when the connecting itself fails. */
  readonly closed: (why: string) => void;
};

/** Pages and tools beyond these are a flood. */
const pagesMax = 100;
const toolsMax = 2_000;
const messagesPerSecond = 5_000;
/** A result may still be on its way from the stream to whoever waits for it. */
const arrivalMs = 500;

export async function openConnection(options: Connecting): Promise<Connection> {
  const { pace, signal } = options;
  const client = new Client({ name: "everturn", version: options.version ?? "0" }, { capabilities: {} });
  const pending = new Map<string, (why: string) => void>();
  const transport = transportTo(options, (key) => {
    setTimeout(() => pending.get(key)?.("its answer broke off"), arrivalMs).unref();
  });
  const link = { over: null as string | null, isOpen: false };
  const letGo = async (why: string): Promise<void> => {
    link.over ??= why;
    await client.close();
  };
  client.onclose = () => {
    if (!link.isOpen) return;
    link.over ??= endOf(transport) ?? "the connection is closed";
    options.closed(link.over);
  };
  client.onerror = (error) => options.trouble("an MCP server is at odds with us", error);

  const tooMany = flood(messagesPerSecond);
  const limit = { timeout: pace.connectMs, maxTotalTimeout: pace.connectMs, signal };
  try {
    const connecting = client.connect(transport, limit);
    const heard = transport.onmessage;
    transport.onmessage = (message: JSONRPCMessage) => {
      if (link.over !== null) return;
      if (tooMany()) return void letGo(`it sent more than ${messagesPerSecond} messages in a second`);
      heard?.(message);
    };
    await connecting;
    await options.listed(await list(client, limit));
  } catch (error) {
    const late = isTimeout(error) ? `it did not answer within ${pace.connectMs / 1000} s` : null;
    const why = link.over ?? late ?? endOf(transport) ?? troubleOf(error);
    await letGo(why);
    throw new Error(why);
  }
  link.isOpen = true;
  // It may have ended in this very moment, and nobody would have heard of it.
  const early = link.over ?? endOf(transport);
  if (early !== null) throw new Error(early);
  watchList(client, options, limit.timeout);
  return {
    call: (ask) => call({ client, pending, link, pace, letGo }, ask),
    close: () => letGo("we closed it"),
  };
}

function transportTo(options: Connecting, brokenOff: (key: string) => void): Pipe | StreamableHTTPClientTransport {
  const { server } = options;
  if ("url" in server) {
    // Redirects are followed within the origin alone: the headers are for the configured server.
    return new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: { ...server.headers } },
      fetch: watchedFetch(brokenOff),
    });
  }
  return pipe(options.launch);
}

async function list(client: Client, limit: { readonly timeout: number }): Promise<readonly Listed[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const found: Listed[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax && found.length < toolsMax; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: "tools/list", params }, ListToolsResultSchema, limit);
    for (const { name, description, title, inputSchema, annotations } of tools) {
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
  return found.slice(0, toolsMax);
}

/** A server that says so every millisecond is asked once per pause. */
function watchList(client: Client, options: Connecting, timeout: number): void {
  let waits = false;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    if (waits) return;
    waits = true;
    setTimeout(() => {
      waits = false;
      list(client, { timeout }).then(options.listed, (error: unknown) =>
        options.trouble("the changed tools of an MCP server could not be listed", error),
      );
    }, options.pace.relistMs).unref();
  });
}

type Line = {
  readonly client: Client;
  readonly pending: Map<string, (why: string) => void>;
  readonly link: { readonly over: string | null };
  readonly pace: McpPace;
  readonly letGo: (why: string) => Promise<void>;
};

async function call({ client, pending, link, pace, letGo }: Line, ask: Ask): Promise<Called> {
  if (link.over !== null) return { type: "unheard", why: link.over };
  const broken = new AbortController();
  let whyBroken: string | null = null;
  pending.set(ask.key, (why) => {
    whyBroken = why;
    broken.abort(new Error(why));
  });
  const params = { name: ask.tool, arguments: argumentsOf(ask.input), _meta: { [keyName]: ask.key } };
  try {
    const answer = await client.request({ method: "tools/call", params }, CallToolResultSchema, {
      signal: AbortSignal.any([ask.signal, broken.signal]),
      timeout: ask.patienceMs,
      maxTotalTimeout: Math.max(pace.callMaxMs, ask.patienceMs),
      resetTimeoutOnProgress: true,
      onprogress: ({ message, progress, total }) =>
        ask.progress(message ?? (total === undefined ? String(progress) : `${progress} of ${total}`)),
    });
    return { type: "answered", answer };
  } catch (error) {
    ask.signal.throwIfAborted();
    if (link.over !== null || whyBroken !== null) return { type: "lost", why: link.over ?? whyBroken ?? "" };
    if (isUnheard(error)) {
      // The server forgot us, or is not there: the next connection begins anew.
      await letGo(troubleOf(error));
      return { type: "unheard", why: troubleOf(error) };
    }
    if (isTimeout(error)) return { type: "lost", why: `it did not answer within ${ask.patienceMs / 1000} s` };
    if (error instanceof McpError) return { type: "refused", why: error.message };
    if (error instanceof TypeError) return { type: "lost", why: troubleOf(error) };
    return { type: "lost", why: `its answer cannot be read: ${sentenceOf(error).slice(0, 300)}` };
  } finally {
    pending.delete(ask.key);
  }
}

function endOf(transport: Pipe | StreamableHTTPClientTransport): string | null {
  return "over" in transport ? transport.over() : null;
}

/** A failed request hides what happened in its cause. */
function troubleOf(error: unknown): string {
  const cause: unknown = error instanceof TypeError ? error.cause : undefined;
  return cause === undefined ? sentenceOf(error) : `${sentenceOf(error)}: ${sentenceOf(cause)}`;
}

function argumentsOf(input: unknown): Record<string, unknown> {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? { ...input } : {};
}

function isTimeout(error: unknown): boolean {
  return error instanceof McpError && error.code === (ErrorCode.RequestTimeout as number);
}

/** Nothing reached it, or it says that it does not know our session: what we asked for has not happened. */
function isUnheard(error: unknown): boolean {
  if (error instanceof StreamableHTTPError) return error.code === 404 || error.code === 401;
  const cause: unknown = error instanceof TypeError ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"].includes(code);
}
