// An MCP server of 2024: messages come on one event stream, requests go to an address that its first event names.

import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

type Message = { readonly id?: number; readonly method: string; readonly params?: { readonly name?: string } };

export type SseServer = {
  readonly url: string;
  readonly calls: string[];
  /** Ends every stream; their sessions end with them. */
  drop(): void;
  close(): Promise<void>;
};

export async function openSseServer(): Promise<SseServer> {
  const streams = new Map<string, ServerResponse>();
  const calls: string[] = [];
  let sessions = 0;

  function open(response: ServerResponse): void {
    const session = `s${++sessions}`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: endpoint\ndata: /messages?session=${session}\n\n`);
    streams.set(session, response);
    response.on("close", () => streams.delete(session));
  }

  function resultOf({ method, params }: Message): object {
    if (method === "initialize") {
      const serverInfo = { name: "sse", version: "1" };
      return { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo };
    }
    if (method === "tools/list")
      return { tools: ["echo", "slow"].map((name) => ({ name, inputSchema: { type: "object" } })) };
    if (method !== "tools/call") return {};
    calls.push(params?.name ?? "");
    return { content: [{ type: "text", text: "over sse" }] };
  }

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = new URL(request.url ?? "", "http://x").searchParams.get("session") ?? "";
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const stream = streams.get(session);
    if (stream === undefined) return void response.writeHead(404).end("Could not find session");
    response.writeHead(202).end("Accepted");
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    if (message.id === undefined) return;
    const answer = { jsonrpc: "2.0", id: message.id, result: resultOf(message) };
    if (message.params?.name === "slow") await sleep(2_000);
    stream.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
  }

  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (request.method === "GET" && path === "/sse") return open(response);
    if (request.method === "POST" && path.startsWith("/messages")) return void post(request, response);
    response.writeHead(request.method === "GET" ? 404 : 405).end("no such address");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`,
    calls,
    drop() {
      for (const stream of streams.values()) stream.destroy();
    },
    async close() {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}
