// An MCP server behind Streamable HTTP, written against the protocol and not against its library, so that it can be wrong:
// it forgets its sessions, breaks answers off, refuses, dies and comes back at the same address, and counts what reached it.

import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Message = { readonly id?: number | string; readonly method: string; readonly params?: { readonly name?: string } };

export type HttpOptions = {
  /** The bearer token that it wants; none when empty. */
  readonly key?: string;
  /** Its answer to a session that it does not know: 404 by the protocol, 400 by the reference server. */
  readonly unknownSession?: 400 | 404;
  /** How it says so. */
  readonly unknownText?: string;
  /** It takes a GET and closes the stream at once, with these lines in it. */
  readonly closesStreams?: string;
};

export type HttpServer = {
  readonly url: string;
  /** Names of the tools whose calls arrived. */
  readonly calls: string[];
  /** When each GET arrived, in milliseconds. */
  readonly gets: number[];
  /** How many pings arrived. */
  pings(): number;
  /** As a server whose only thread is busy behind a proxy that closes idle streams: pings get no answer. */
  block(): void;
  /** How many requests of any kind arrived. */
  requests(): number;
  /** The authorization of the last request. */
  seen(): string | undefined;
  /** As after a restart of the server: it knows no session any more. */
  forget(): void;
  setKey(key: string): void;
  /** Calls of `resumable` that were closed by the server are answered in the next stream, those of `slow` in their own. */
  finish(): void;
  /** As a process that is killed. */
  kill(): Promise<void>;
  /** At the same address, without its sessions. */
  start(): Promise<void>;
  close(): Promise<void>;
};

const readOnly = { readOnlyHint: true };
const tools = [
  ...["echo", "break", "flood", "deny", "busy", "broken", "resumable", "slow", "partial", "private"].map((name) => ({
    name,
    annotations: {},
  })),
  { name: "read-resumable", annotations: readOnly },
  { name: "read-second", annotations: readOnly },
  { name: "keyed-break", annotations: { idempotentHint: true } },
].map((tool) => ({ ...tool, inputSchema: { type: "object" } }));

const refusals: Readonly<Record<string, readonly [status: number, text: string]>> = {
  deny: [403, "you may not"],
  busy: [429, "too many requests"],
  broken: [502, "bad gateway"],
  partial: [400, '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"1 of 2 transfers was made"}}'],
  private: [401, "not with this token"],
};

export async function openHttpServer({
  key: first = "",
  unknownSession = 404,
  unknownText = "Bad Request: no valid session ID",
  closesStreams,
}: HttpOptions = {}): Promise<HttpServer> {
  const calls: string[] = [];
  const gets: number[] = [];
  const streams = new Set<ServerResponse>();
  const slow: (() => void)[] = [];
  let firstRead: ServerResponse | null = null;
  let pings = 0;
  let isBlocked = false;
  let key = first;
  let life = 1;
  let requests = 0;
  let seen: string | undefined;
  let isFinished = false;
  let server: Server;
  let port = 0;

  function answer(response: ServerResponse, id: Message["id"], result: unknown): void {
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": `life${life}` });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }

  function call(response: ServerResponse, { id, params }: Message): void {
    const name = params?.name ?? "";
    calls.push(name);
    const refusal = refusals[name];
    if (refusal !== undefined) return void response.writeHead(refusal[0]).end(refusal[1]);
    if (name === "echo") return answer(response, id, { content: [{ type: "text", text: "over http" }] });
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (name === "slow") {
      response.write(": working\n\n");
      return void slow.push(() => response.end(event(id)));
    }
    if (name === "read-second") {
      response.write(": working\n\n");
      if (firstRead === null) return void (firstRead = response);
      // The repeat takes its time, and the stream of the first attempt ends meanwhile.
      firstRead.end();
      return void setTimeout(() => response.end(event(id)), 1_200);
    }
    if (name.endsWith("resumable")) {
      // It numbers its events, closes the stream, and goes on in another when it is asked for.
      response.write(`id: ${id}\nretry: 50\ndata: \n\n`);
      if (!isFinished) return void setTimeout(() => response.end(), 20);
      return void response.end(event(id));
    }
    // One breaks off, one never ends.
    response.write(": hello\n\n");
    if (name.endsWith("break")) setTimeout(() => response.destroy(), 20);
    if (name === "flood") {
      const pour = (): void => {
        if (response.destroyed) return;
        if (response.write("data: x".padEnd(1_000_000, "x"))) setImmediate(pour);
        else response.once("drain", pour);
      };
      pour();
    }
  }

  function event(id: Message["id"]): string {
    const result = { content: [{ type: "text", text: "continued" }] };
    return `id: ${id}-2\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`;
  }

  function post(request: IncomingMessage, response: ServerResponse, message: Message): void {
    if (message.method === "initialize") {
      const serverInfo = { name: "http", version: "1" };
      return answer(response, message.id, { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo });
    }
    if (!isKnown(request, response)) return;
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === "tools/call") return call(response, message);
    if (message.method === "ping") pings++;
    if (message.method === "ping" && isBlocked) return;
    answer(response, message.id, message.method === "tools/list" ? { tools } : {});
  }

  function isKnown(request: IncomingMessage, response: ServerResponse): boolean {
    const isMine = request.headers["mcp-session-id"] === `life${life}`;
    if (!isMine) response.writeHead(unknownSession).end(unknownText);
    return isMine;
  }

  function get(request: IncomingMessage, response: ServerResponse): void {
    gets.push(performance.now());
    if (!isKnown(request, response)) return;
    const last = request.headers["last-event-id"];
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (closesStreams !== undefined) return void response.end(closesStreams);
    response.write(": open\n\n");
    streams.add(response);
    response.on("close", () => streams.delete(response));
    if (last === undefined) return;
    response.write(`id: ${String(last)}\nretry: 50\ndata: \n\n`);
    if (isFinished) response.end(event(Number(last)));
    else setTimeout(() => response.end(), 50);
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    requests++;
    seen = request.headers.authorization;
    if (key !== "" && seen !== `Bearer ${key}`) {
      return void response.writeHead(401).end(`the key ${seen ?? "(none)"} is wrong`);
    }
    if (request.method === "GET") return get(request, response);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => post(request, response, JSON.parse(Buffer.concat(chunks).toString()) as Message));
  }

  async function start(): Promise<void> {
    server = createServer(handle);
    await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
    ({ port } = server.address() as AddressInfo);
  }

  async function kill(): Promise<void> {
    life++;
    const closed = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await closed;
  }

  await start();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls,
    gets,
    pings: () => pings,
    block() {
      isBlocked = true;
      for (const stream of streams) stream.end();
    },
    requests: () => requests,
    seen: () => seen,
    forget: () => void life++,
    setKey: (next) => void (key = next),
    finish() {
      isFinished = true;
      for (const answer of slow.splice(0)) answer();
    },
    kill,
    start,
    close: kill,
  };
}
