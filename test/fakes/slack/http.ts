// Calls of the Web API as they come and go over HTTP, and the ways in which they go wrong.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Text } from "./workspace.ts";

/** How a call goes wrong: before anything was done, or after. */
export type Failure =
  | "drop"
  | "drop after"
  | "html"
  | "html after"
  | "hang after"
  | { readonly status: number }
  | { readonly code: string; readonly after?: true; readonly more?: Text }
  | { readonly retryAfter: number };

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** What the library sends as a form has lists and groups as JSON. */
export function argsOf(body: Buffer): Text {
  const pairs = [...new URLSearchParams(body.toString("utf8"))];
  return Object.fromEntries(
    pairs.map(([key, value]) => [key, /^[[{]/.test(value) && key !== "text" ? JSON.parse(value) : value]),
  );
}

export function isAfter(failure: Failure): boolean {
  return typeof failure === "string" ? failure.endsWith("after") : "after" in failure;
}

export function fail(failure: Failure, response: ServerResponse): void {
  if (failure === "hang after") return;
  if (failure === "drop" || failure === "drop after") return void response.destroy();
  if (failure === "html" || failure === "html after") {
    response.setHeader("content-type", "text/html");
    return void response.end("<html><body>Bad gateway</body></html>");
  }
  if ("retryAfter" in failure) {
    response.writeHead(429, { "retry-after": String(failure.retryAfter) });
    return void response.end(JSON.stringify({ ok: false, error: "ratelimited" }));
  }
  if ("status" in failure) return void response.writeHead(failure.status).end("<html>failed</html>");
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ ok: false, error: failure.code, ...failure.more }));
}
