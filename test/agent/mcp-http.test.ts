// MCP over streamable HTTP, against a server of our own that forgets, breaks off and floods.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { openHttpServer } from "../fakes/mcp/http.ts";
import { stage } from "./mcp-stage.ts";

const limit = { timeout: 120_000 };

test("calls go over HTTP with the headers that are set, and a key is never said", limit, async (t) => {
  const server = await openHttpServer({ key: "planted-key-1234" });
  t.after(() => server.close());
  const { url } = server;
  const right = stage(t, { servers: { net: { url, headers: { authorization: "Bearer planted-key-1234" } } } });
  assert.match(JSON.stringify(await right.call("net__echo")), /over http.*"outside":true/);
  assert.equal(server.seen(), "Bearer planted-key-1234");

  const wrong = stage(t, { servers: { net: { url, headers: { authorization: "Bearer another-key-5678" } } } });
  const result = JSON.stringify(await wrong.call("net__echo"));
  assert.match(result, /failed.*requires a login \(HTTP 401\)/);
  const told = [result, JSON.stringify(wrong.mcp.status()), ...wrong.log, ...right.log].join("\n");
  assert.ok(!told.includes("another-key-5678") && !told.includes("planted-key-1234"), told);
});

test("credentials go to the configured origin alone: a redirect elsewhere is not followed", limit, async (t) => {
  const visits: string[] = [];
  const thief = createServer((request, response) => {
    visits.push(JSON.stringify(request.headers));
    response.writeHead(200).end("{}");
  });
  const mover = createServer((_, response) => {
    const { port } = thief.address() as AddressInfo;
    response.writeHead(307, { location: `http://127.0.0.1:${port}/mcp` }).end();
  });
  for (const server of [thief, mover]) {
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    t.after(() => server.close());
  }
  const { port } = mover.address() as AddressInfo;
  const net = { url: `http://127.0.0.1:${port}/mcp`, headers: { "x-api-key": "planted-key-1234" } };
  const { call } = stage(t, { servers: { net }, pace: { retryMinMs: 60_000 } });
  assert.match(JSON.stringify(await call("net__echo")), /failed.*cannot be reached/);
  assert.deepEqual(visits, []);
});

test("a complaint without an end is broken off", limit, async (t) => {
  const endless = createServer((_, response) => {
    response.writeHead(500);
    const pour = (): void => {
      if (response.destroyed) return;
      if (response.write("x".repeat(1_000_000))) setImmediate(pour);
      else response.once("drain", pour);
    };
    pour();
  });
  await new Promise<void>((done) => endless.listen(0, "127.0.0.1", done));
  t.after(() => {
    endless.close();
    endless.closeAllConnections();
  });
  const { port } = endless.address() as AddressInfo;
  const before = process.memoryUsage().rss;
  const { call } = stage(t, {
    servers: { net: { url: `http://127.0.0.1:${port}/mcp` } },
    pace: { retryMinMs: 60_000 },
  });
  assert.match(JSON.stringify(await call("net__echo")), /failed.*cannot be reached/);
  assert.ok(process.memoryUsage().rss - before < 300e6);
});

test("a server that forgot us is greeted again, and the call made once", limit, async (t) => {
  const server = await openHttpServer();
  t.after(() => server.close());
  const { call } = stage(t, { servers: { net: { url: server.url } } });
  await call("net__echo");
  server.forget();
  assert.match(JSON.stringify(await call("net__echo")), /over http/);
  assert.deepEqual(server.calls, ["echo", "echo"]);
});

test("an answer that breaks off is unknown at once, and the call is not made again", limit, async (t) => {
  const server = await openHttpServer();
  t.after(() => server.close());
  const { call } = stage(t, { servers: { net: { url: server.url, timeoutSeconds: 100 } } });
  assert.match(JSON.stringify(await call("net__break")), /unknown.*broke off/);
  assert.deepEqual(server.calls, ["break"]);
});

test("an endless answer is broken off", limit, async (t) => {
  const server = await openHttpServer();
  t.after(() => server.close());
  const { call } = stage(t, { servers: { net: { url: server.url, timeoutSeconds: 100 } } });
  const before = process.memoryUsage().rss;
  assert.match(JSON.stringify(await call("net__flood")), /unknown/);
  assert.ok(process.memoryUsage().rss - before < 300e6);
});

test("a server that is gone is told as such", limit, async (t) => {
  const server = await openHttpServer();
  const { call } = stage(t, { servers: { net: { url: server.url } } });
  await call("net__echo");
  await server.close();
  // The first one may have been on its way when the connection went down.
  await call("net__echo");
  assert.match(JSON.stringify(await call("net__echo")), /failed.*cannot be reached/);
});
