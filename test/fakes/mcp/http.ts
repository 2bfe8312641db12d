// An MCP server of our own behind HTTP, as a library: it forgets its sessions, breaks answers off, answers with errors,
// and counts what reached it.

import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Heard = { readonly id?: number; readonly method: string; readonly params?: { readonly name?: string } };

export type HttpServer = {
  readonly url: string;
  /** Names of the tools whose calls arrived. */
  readonly calls: string[];
  /** The authorization of the last request. */
  seen(): string | undefined;
  /** As after a restart of the server: it knows no session any more. */
  forget(): void;
  close(): Promise<void>;
};

export async function openHttpServer(key = ""): Promise<HttpServer> {
  const calls: string[] = [];
  let life = 1;
  let seen: string | undefined;

  function answer(response: ServerResponse, id: number | undefined, result: unknown): void {
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": `life${life}` });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }

  function call(response: ServerResponse, { id, params }: Heard): void {
    const name = params?.name ?? "";
    calls.push(name);
    if (name === "echo") return answer(response, id, { content: [{ type: "text", text: "over http" }] });
    response.writeHead(200, { "content-type": "text/event-stream" });
    // One breaks off, one never ends.
    response.write(": hello\n\n");
    if (name === "break") setTimeout(() => response.destroy(), 20);
    if (name === "flood") {
      const pour = (): void => {
        if (response.destroyed) return;
        if (response.write(`data: ${"x".repeat(1_000_000)}`.replace("\n", ""))) setImmediate(pour);
        else response.once("drain", pour);
      };
      pour();
    }
  }

  function hear(request: IncomingMessage, response: ServerResponse, heard: Heard): void {
    seen = request.headers.authorization;
    if (key !== "" && seen !== `Bearer ${key}`) {
      return void response.writeHead(401).end(`the key ${seen ?? "(none)"} is wrong`);
    }
    if (heard.method === "initialize") {
      const serverInfo = { name: "http", version: "1" };
      return answer(response, heard.id, { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo });
    }
    if (request.headers["mcp-session-id"] !== `life${life}`) return void response.writeHead(404).end("no such session");
    if (heard.id === undefined) return void response.writeHead(202).end();
    if (heard.method === "tools/call") return call(response, heard);
    const tools = ["echo", "break", "flood"].map((name) => ({ name, inputSchema: { type: "object" } }));
    answer(response, heard.id, { tools });
  }

  const server = createServer((request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => hear(request, response, JSON.parse(Buffer.concat(chunks).toString()) as Heard));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls,
    seen: () => seen,
    forget: () => void life++,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
