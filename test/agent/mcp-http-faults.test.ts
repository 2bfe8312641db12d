// What a server in the network can do to a call: restart, refuse, die in the middle, want a login. The result never claims
// more than is known.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type HttpOptions, type HttpServer, openHttpServer } from "../fakes/mcp/http.ts";
import { openSseServer } from "../fakes/mcp/sse.ts";
import { type Stage, stage, until } from "./mcp-stage.ts";

const limit = { timeout: 120_000 };

type Opened = Stage & { readonly server: HttpServer; state(): string | undefined; why(): string };

/** Calls may be silent for longer than the tests run: what ends earlier was noticed. */
async function open(t: TestContext, options: HttpOptions = {}, pace: object = {}): Promise<Opened> {
  const server = await openHttpServer(options);
  t.after(() => server.close());
  const net = { url: server.url, timeoutSeconds: 300, trusted: true };
  const opened = stage(t, { servers: { net }, pace });
  await opened.mcp.ready();
  const status = () => opened.mcp.status()["net"];
  return { ...opened, server, state: () => status()?.state, why: () => status()?.why ?? "" };
}

const rpcError = (code: number, message: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });

for (const [unknownSession, unknownText] of [
  [404, "not found"],
  [400, "Bad Request: No valid session ID provided"],
  [400, rpcError(-32000, "Bad Request: Server not initialized")],
] as const)
  test(`after a restart, ${unknownSession} ${unknownText} means: connect again, call once`, limit, async (t) => {
    const { call, server } = await open(t, { unknownSession, unknownText });
    await call("net__echo");
    server.forget();
    assert.match(JSON.stringify(await call("net__echo")), /"ok".*over http/);
    assert.deepEqual(server.calls, ["echo", "echo"]);
  });

test("a 400 that does not name the session is not repeated, and the next call has a new session", limit, async (t) => {
  const { call, server, state } = await open(t, { unknownSession: 400, unknownText: "bad request" });
  await until(() => server.gets.length === 1);
  server.forget();
  assert.match(
    JSON.stringify(await call("net__echo")),
    /"failed".*refused the call: it answered HTTP 400: bad request/,
  );
  assert.deepEqual(server.calls, []);
  await until(() => server.gets.length === 2 && state() === "ready");
  assert.match(JSON.stringify(await call("net__echo")), /"ok"/);
});

test("a call that the server answers with 400 is made once, and calls of others go on", limit, async (t) => {
  const { call, server, state } = await open(t);
  const other = call("net__slow", {}, { key: "t2:0:c1" });
  await until(() => server.calls.length === 1);
  const result = JSON.stringify(await call("net__partial"));
  assert.match(result, /"failed".*it answered HTTP 400: 1 of 2 transfers was made/);
  assert.doesNotMatch(result, /not delivered|nothing was done/i);
  await until(() => server.pings() > 0);
  server.finish();
  assert.match(JSON.stringify(await other), /"ok".*continued/);
  assert.deepEqual(server.calls, ["slow", "partial"]);
  assert.equal(state(), "ready");
});

test("a tool that wants another login does not end the calls of others", limit, async (t) => {
  const { call, server, state } = await open(t);
  const other = call("net__slow", {}, { key: "t2:0:c1" });
  await until(() => server.calls.length === 1);
  assert.match(JSON.stringify(await call("net__private")), /"failed".*requires a login/);
  server.finish();
  assert.match(JSON.stringify(await other), /"ok".*continued/);
  assert.match(JSON.stringify(await call("net__private")), /"failed".*requires a login/);
  assert.equal(state(), "ready");
});

test("a token that expires does not end calls that run", limit, async (t) => {
  const { call, server, state } = await open(t);
  const other = call("net__slow", {}, { key: "t2:0:c1" });
  await until(() => server.calls.length === 1);
  server.setKey("another-key-1234");
  assert.match(JSON.stringify(await call("net__echo")), /"failed".*requires a login/);
  server.finish();
  assert.match(JSON.stringify(await other), /"ok".*continued/);
  assert.match(JSON.stringify(await call("net__echo")), /"failed".*requires a login/);
  assert.equal(state(), "login-needed");
});

test("a busy server that answers no ping keeps its calls", limit, async (t) => {
  const { call, server, state } = await open(t, {}, { aliveMs: 300 });
  await until(() => server.gets.length === 1);
  const made = call("net__slow");
  await until(() => server.calls.length === 1);
  server.block();
  await until(() => server.pings() > 0);
  await sleep(1_000);
  assert.equal(state(), "ready");
  server.finish();
  assert.match(JSON.stringify(await made), /"ok".*continued/);
});

test("an idle server that answers no ping is degraded", limit, async (t) => {
  const { server, state } = await open(t, {}, { aliveMs: 300, retryMinMs: 60_000 });
  await until(() => server.gets.length === 1);
  server.block();
  await until(() => state() === "degraded");
});

test("the end of the first attempt's stream does not cut the repeat", limit, async (t) => {
  const server = await openHttpServer();
  t.after(() => server.close());
  const { call } = stage(t, { servers: { net: { url: server.url, trusted: true } }, pace: { callMs: 5_000 } });
  assert.match(JSON.stringify(await call("net__read-second")), /"ok".*continued/);
  assert.deepEqual(server.calls, ["read-second", "read-second"]);
});

test("a server that closes every stream is asked again with growing pauses", limit, async (t) => {
  const { server, state } = await open(t, { closesStreams: "retry: 0\ndata: \n\n" });
  await until(() => server.gets.length >= 4);
  const [a = 0, b = 0, c = 0, d = 0] = server.gets;
  // A timer may be early by a moment.
  const pauses = [b - a, c - b, d - c];
  for (const [i, leastMs] of [990, 1_990, 3_990].entries()) assert.ok((pauses[i] ?? 0) > leastMs, String(pauses));
  assert.ok(server.pings() <= 4, String(server.pings()));
  assert.equal(state(), "ready");
});

for (const [tool, status, text] of [
  ["deny", 403, "you may not"],
  ["busy", 429, "too many requests"],
] as const)
  test(`HTTP ${status} is a refusal, and the connection stays`, limit, async (t) => {
    const { call, server, state } = await open(t);
    const result = JSON.stringify(await call(`net__${tool}`));
    assert.match(
      result,
      new RegExp(`"failed".*the MCP server net refused the call: it answered HTTP ${status}: ${text}`),
    );
    assert.deepEqual(server.calls, [tool], "it is not made again");
    assert.equal(state(), "ready");
  });

test("HTTP 502 leaves the outcome unknown", limit, async (t) => {
  const { call, server } = await open(t);
  assert.match(JSON.stringify(await call("net__broken")), /"unknown".*HTTP 502.*not known/);
  assert.deepEqual(server.calls, ["broken"]);
});

test("a stream that the server closes and continues is waited for", limit, async (t) => {
  const { call, server } = await open(t);
  const made = call("net__resumable");
  await until(() => server.calls.length > 0);
  await sleep(1_500);
  server.finish();
  assert.match(JSON.stringify(await made), /"ok".*continued/);
  assert.deepEqual(server.calls, ["resumable"]);
});

test(
  "the death of a server with resumable streams is noticed long before the call's time is over",
  limit,
  async (t) => {
    const { call, server, state, why } = await open(t, {}, { retryMinMs: 60_000 });
    const made = call("net__resumable");
    await until(() => server.calls.length > 0);
    const begun = performance.now();
    await server.kill();
    assert.match(JSON.stringify(await made), /"unknown".*not known/);
    t.diagnostic(`noticed after ${Math.round(performance.now() - begun)} ms`);
    assert.equal(state(), "degraded");
    assert.match(why(), /ECONNREFUSED|fetch failed/);
  },
);

test("a server that restarts in the middle of such a call has forgotten it", limit, async (t) => {
  const { call, server } = await open(t);
  const lost = call("net__resumable");
  const read = call("net__read-resumable", {}, { key: "t1:0:c2" });
  await until(() => server.calls.length === 2);
  server.finish();
  await server.kill();
  await server.start();
  assert.match(JSON.stringify(await lost), /"unknown".*not known/);
  assert.match(JSON.stringify(await read), /"ok".*continued/, "what only reads is made again");
  assert.deepEqual(server.calls.toSorted(), ["read-resumable", "read-resumable", "resumable"]);
});

test("the death of an idle server is seen without a call", limit, async (t) => {
  const { server, state } = await open(t);
  await server.kill();
  await until(() => state() === "degraded");
  await server.start();
  await until(() => state() === "ready");
});

test("a changing tool whose first attempt was lost is never called undone", limit, async (t) => {
  const { call, server } = await open(t, {}, { retryMinMs: 60_000 });
  const made = call("net__keyed-break");
  await until(() => server.calls.length > 0);
  await server.kill();
  const result = JSON.stringify(await made);
  assert.match(result, /"unknown".*a later attempt failed.*Whether keyed-break was done is not known/);
  assert.doesNotMatch(result, /Nothing was done|not delivered/);
});

test("a server that wants a login says so, and is not asked for ever", limit, async (t) => {
  const { call, server, state, why, mcp } = await open(t, { key: "right-key-1234" }, { retryMaxMs: 20 });
  assert.equal(state(), "login-needed");
  assert.match(why(), /requires a login \(HTTP 401\)\. Put a valid token into agent\.mcp\.net\.headers/);
  assert.equal(mcp.status()["net"]?.nextAttemptAt, null);
  const before = server.requests();
  await sleep(500);
  for (let i = 0; i < 5; i++) assert.match(JSON.stringify(await call("net__echo")), /"failed".*requires a login/);
  assert.equal(server.requests(), before);
});

test("a token that expires is a refusal, and a later call tries again", limit, async (t) => {
  const { call, server, state } = await open(t, {}, { loginMs: 50 });
  await call("net__echo");
  server.setKey("another-key-1234");
  assert.match(JSON.stringify(await call("net__echo")), /"failed".*refused the call.*requires a login/);
  assert.equal(state(), "login-needed");
  server.setKey("");
  await sleep(100);
  assert.match(JSON.stringify(await call("net__echo")), /"ok"/);
  assert.equal(state(), "ready");
});

test("a server of the older SSE transport is connected, and again when its stream ends", limit, async (t) => {
  const server = await openSseServer();
  t.after(() => server.close());
  const { call, mcp } = stage(t, { servers: { old: { url: server.url } } });
  assert.match(JSON.stringify(await call("old__echo")), /"ok".*over sse/);
  assert.equal(mcp.status()["old"]?.protocol, "2024-11-05");
  assert.match(JSON.stringify(await call("old__slow")), /"ok".*over sse/, "its answer comes later than its receipt");
  server.drop();
  await until(() => mcp.status()["old"]?.state === "degraded");
  await until(() => mcp.status()["old"]?.state === "ready");
  assert.match(JSON.stringify(await call("old__echo")), /"ok".*over sse/);
  assert.deepEqual(server.calls, ["echo", "slow", "echo"]);
});

test("an address where no MCP server is gets one clear line", limit, async (t) => {
  const server = await openSseServer();
  t.after(() => server.close());
  const { mcp } = stage(t, { servers: { wrong: { url: server.url.replace("/sse", "/nothing") } } });
  await mcp.ready();
  const { state, why } = mcp.status()["wrong"] ?? {};
  assert.equal(state, "refused");
  assert.match(
    why ?? "",
    /^it speaks neither Streamable HTTP \(.*HTTP 405.*\) nor the older SSE transport \(.*404.*\)\. Check its url$/,
  );
});
