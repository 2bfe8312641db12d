// The control server over real HTTP: what it answers, whom it refuses, how it closes.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { Fault } from "../core/fault.ts";
import type { Instant } from "../core/ids.ts";
import { toEvents } from "./client.ts";
import { archive, bearer, folder, item, session, started, token, turn } from "./samples.ts";

/** A request with headers that fetch would not send. */
function raw(url: string, headers: Record<string, string>, method = "GET"): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const asked = request(url, { headers, method }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
  });
  asked.on("error", reject).end();
  return promise;
}

async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}

test("health needs no token; readiness follows the state", async (t) => {
  const { control, gateway } = await started(t);
  const health = await fetch(`${control.url}/healthz`);
  assert.deepEqual(await jsonOf(health), { state: "running", version: "0.0.1", uptimeSeconds: 60 });
  assert.deepEqual(await jsonOf(await fetch(`${control.url}/readyz`)), { ready: true, reason: null });
  gateway.state = "draining";
  const ready = await fetch(`${control.url}/readyz`);
  assert.deepEqual([ready.status, await jsonOf(ready)], [503, { ready: false, reason: "because" }]);
});

test("without the right token nothing below /api is told", async (t) => {
  const { control } = await started(t);
  for (const headers of [{}, bearer("wrong").headers, { cookie: "everturn=wrong" }, { authorization: token }]) {
    for (const path of ["/api/status", "/api/nothing", "/metrics", "/api"]) {
      const response = await fetch(`${control.url}${path}`, { headers });
      assert.equal(response.status, 401, path);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      assert.match(error.message, /token.*everturn link/s);
      assert.ok(!error.message.includes(token));
    }
  }
});

test("a token in an address and the cookie of earlier versions are never accepted; the cookie is removed", async (t) => {
  const { control } = await started(t);
  const old = await fetch(`${control.url}/?token=${token}`, { redirect: "manual" });
  assert.deepEqual([old.status, old.headers.get("location")], [303, "/#old-link"]);
  assert.equal(old.headers.get("set-cookie"), null);
  for (const path of ["/api/status", `/api/status?token=${token}`]) {
    const answer = await fetch(`${control.url}${path}`, { headers: { cookie: `a=1; everturn=${token}` } });
    assert.equal(answer.status, 401, path);
    assert.match(answer.headers.get("set-cookie") ?? "", /^everturn=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/);
  }
  const other = await fetch(control.url, { headers: { cookie: "everturns=1" } });
  assert.equal(other.headers.get("set-cookie"), null);
});

test("a foreign Host is refused whatever it asks for; loopback names are ours", async (t) => {
  const { control } = await started(t);
  const port = new URL(control.url).port;
  for (const path of ["/", "/healthz", "/api/status"]) {
    for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1:1", `127.0.0.1.evil:${port}`, "localhost"]) {
      const answer = await raw(`${control.url}${path}`, { host, ...bearer().headers });
      assert.equal(answer.status, 403, `${host}${path}`);
      assert.match(answer.text, /answers only under/);
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`])
      assert.notEqual((await raw(`${control.url}${path}`, { host, ...bearer().headers })).status, 403);
  }
});

test("another page's requests are refused even with the token, and no CORS header is given", async (t) => {
  const { control, gateway } = await started(t);
  const { authorization = "" } = bearer().headers;
  const post = `${control.url}/api/turns/${turn.id}/cancel`;
  for (const headers of [
    { authorization, origin: "http://evil.example" },
    { authorization, origin: "null" },
    { authorization, origin: "http://localhost:3000", "sec-fetch-site": "same-site" },
    { authorization, "sec-fetch-site": "cross-site" },
  ]) {
    const answer = await raw(post, headers, "POST");
    assert.equal(answer.status, 403);
    assert.equal((await raw(`${control.url}/api/status`, headers)).status, 403);
  }
  assert.deepEqual(gateway.asked, []);
  const own = await fetch(post, { method: "POST", headers: { authorization, origin: control.url } });
  assert.equal(own.status, 200);
  assert.deepEqual(gateway.asked, [["cancel", turn.id]]);
  const preflight = await fetch(post, { method: "OPTIONS", headers: { origin: "http://evil.example" } });
  assert.equal(preflight.status, 403);
  assert.equal(preflight.headers.get("access-control-allow-origin"), null);
});

test("every question of the protocol is answered", async (t) => {
  const { control } = await started(t);
  const get = async (path: string) => {
    const response = await fetch(`${control.url}/api${path}`, bearer());
    assert.equal(response.status, 200, path);
    return jsonOf(response);
  };
  const status = await get("/status");
  assert.deepEqual(
    [status["state"], status["pid"], status["version"], status["drainSeconds"]],
    ["running", process.pid, "0.0.1", 3],
  );
  assert.deepEqual((await get("/sessions?platform=web&limit=5"))["sessions"], [
    {
      id: "s1",
      address: "web/local/c1",
      platform: "web",
      chat: "c1",
      title: "hi",
      createdAt: 1000,
      activeAt: 1000,
      endedAt: null,
      model: null,
      lastN: 7,
    },
  ]);
  assert.equal(((await get(`/sessions/${session.id}`))["messages"] as unknown[]).length, 1);
  assert.deepEqual((await get(`/sessions/${session.id}/messages?limit=1`))["next"], 7);
  assert.deepEqual(await get(`/sessions/${session.id}/messages?after=7`), { messages: [], next: null });
  assert.equal(((await get("/sessions/search?q=hello"))["messages"] as unknown[]).length, 1);
  assert.equal(((await get("/turns?state=open"))["turns"] as unknown[]).length, 1);
  const life = await get(`/turns/${turn.id}`);
  assert.deepEqual(
    [(life["entries"] as unknown[]).length, (life["items"] as { remoteId: string }[])[0]?.remoteId],
    [3, "r1"],
  );
  assert.equal(((await get("/outbox?state=in-doubt"))["items"] as unknown[]).length, 1);
});

test("orders reach the gateway; what it refuses is said", async (t) => {
  const { control, gateway } = await started(t);
  const post = (path: string, body?: unknown) =>
    fetch(`${control.url}/api${path}`, { method: "POST", ...bearer(), body: JSON.stringify(body ?? {}) });
  assert.equal((await post(`/sessions/${session.id}/reset`)).status, 200);
  assert.deepEqual(await jsonOf(await post(`/turns/${turn.id}/retry`)), { done: true, turn: null });
  assert.equal((await post(`/outbox/${item.id}/retry`)).status, 200);
  assert.equal((await post(`/outbox/${item.id}/discard`)).status, 409);
  assert.deepEqual(await jsonOf(await post("/send", { to: "web/local/c1", text: "x", key: "k1" })), {
    status: "posted",
  });
  assert.deepEqual(gateway.asked, [
    ["reset", session.id],
    ["retry", turn.id],
    ["resend", item.id],
    ["post", session.address, "x", "k1"],
  ]);
  const wrong: [string, unknown, number][] = [
    ["/send", { to: "nowhere", text: "x", key: "k" }, 400],
    ["/send", { to: "irc/home/c1", text: "x", key: "k" }, 404],
    ["/send", { to: "web/local/c1", text: " ", key: "k" }, 400],
    ["/send", { to: "web/local/c1", text: 1, key: "k" }, 400],
    ["/turns/none/cancel", {}, 404],
    ["/sessions/none/reset", {}, 404],
    ["/outbox/none/retry", {}, 404],
    ["/nothing", {}, 404],
  ];
  for (const [path, body, code] of wrong) assert.equal((await post(path, body)).status, code, path);
  for (const to of ["nowhere", "irc/home/c1"])
    assert.match(
      await (await post("/send", { to, text: "x", key: "k" })).text(),
      /platform\/account\/chat.*sessions list/,
    );
  assert.equal((await fetch(`${control.url}/api/turns?state=odd`, bearer())).status, 400);
  const unknown = await fetch(`${control.url}/api/what`, bearer());
  assert.deepEqual([unknown.status, unknown.headers.get("content-type")], [404, "application/json"]);
});

test("a restart and the end of safe mode are asked for by name; how a stop goes is told", async (t) => {
  const { control, gateway } = await started(t);
  const post = (path: string, body: string) =>
    fetch(`${control.url}/api${path}`, { method: "POST", ...bearer(), body });
  assert.deepEqual(await jsonOf(await post("/restart", '{"by":"dashboard"}')), { restarting: true });
  assert.deepEqual(await jsonOf(await post("/restart", "")), { restarting: true });
  assert.deepEqual(await jsonOf(await post("/resume", "{}")), { done: true });
  assert.equal((await post("/restart", '{"by":"signal"}')).status, 400);
  assert.equal((await post("/restart", "{")).status, 400);
  assert.deepEqual(gateway.asked, [
    ["restart", { by: "dashboard", reason: "it was asked to restart from the dashboard" }],
    ["restart", { by: "cli", reason: "it was asked to restart from the command line" }],
    ["leave safe mode", "its owner wants another try"],
  ]);
  const status = async () => (await jsonOf(await fetch(`${control.url}/api/status`, bearer())))["draining"];
  assert.equal(await status(), null);
  const told = { class: "restart", running: 2, until: 5 as Instant, deadline: 6 as Instant } as const;
  gateway.emit({ type: "draining", ...told, over: false });
  assert.deepEqual(await status(), told);
});

test("known secrets are redacted in status, probes and errors", async (t) => {
  const redact = (text: string) => text.replaceAll("delivered", "[secret]").replaceAll("all is well", "[secret]");
  const { control, gateway } = await started(t, { redact });
  gateway.reason = "it was not delivered";
  const status = await jsonOf(await fetch(`${control.url}/api/status`, bearer()));
  assert.equal(status["reason"], "it was not [secret]");
  const probe = await (await fetch(`${control.url}/api/probe`, bearer())).text();
  assert.match(probe, /"said":"\[secret\]"/);
  const refused = await fetch(`${control.url}/api/outbox/${item.id}/discard`, { method: "POST", ...bearer() });
  assert.match(await refused.text(), /It was \[secret\] already/);
});

test("metrics are Prometheus text", async (t) => {
  const { control, gateway } = await started(t);
  gateway.emit({ type: "turn-ended", session: session.id, turn: turn.id, outcome: "replied" });
  const text = await (await fetch(`${control.url}/metrics`, bearer())).text();
  assert.match(text, /^# TYPE everturn_turns gauge$/m);
  assert.match(text, /^everturn_turns\{state="running"\} 2$/m);
  assert.match(text, /^everturn_turns_ended_total\{outcome="replied"\} 1$/m);
  const lines = text.trim().split("\n");
  for (const line of lines)
    assert.match(line, /^(# HELP \w+ \S.*\.|# TYPE \w+ (gauge|counter)|\w+(\{[^}]*\})? [\d.]+)$/);
  const named = (kind: string) => lines.flatMap((line) => (line.startsWith(`# ${kind} `) ? [line.split(" ")[2]] : []));
  assert.deepEqual(named("HELP"), named("TYPE"), "each metric is described once");
  assert.equal(new Set(named("HELP")).size, named("HELP").length);
});

test("metrics tell what waits and what was used today", async (t) => {
  const { control } = await started(t);
  const text = await (await fetch(`${control.url}/metrics`, bearer())).text();
  assert.match(text, /^everturn_questions_open\{kind="approval"\} 1$/m);
  assert.match(text, /^everturn_questions_open\{kind="question"\} 0$/m);
  assert.match(text, /^everturn_model_steps_today\{model="a\/x"\} 3$/m);
  assert.match(text, /^everturn_model_tokens_today\{model="a\/x",kind="cached"\} 40$/m);
  assert.match(text, /^everturn_model_cost_dollars_today\{model="a\/x"\} 1\.5$/m);
  assert.doesNotMatch(text, /b\/y/, "yesterday is over");
});

test("held answers are in the status and in the metrics, with where and since when", async (t) => {
  const held = { ...item, now: { state: "in-doubt", since: 31_000 as Instant, attempts: 3, why: "reset" } } as const;
  const { control } = await started(t, { archive: { ...archive, items: async () => [held] } });
  const status = await jsonOf(await fetch(`${control.url}/api/status`, bearer()));
  assert.deepEqual(status["held"], [
    { address: "web/local/c1", platform: "web", account: "local", answers: 1, since: 31_000 },
  ]);
  const text = await (await fetch(`${control.url}/metrics`, bearer())).text();
  assert.match(text, /^everturn_held_answers\{platform="web",account="local"\} 1$/m);
  assert.match(text, /^everturn_held_oldest_seconds 30$/m);
  const { control: other } = await started(t);
  const none = await (await fetch(`${other.url}/metrics`, bearer())).text();
  assert.match(none, /^everturn_held_answers\{platform="web",account="local"\} 0$/m);
  assert.match(none, /^everturn_held_oldest_seconds 0$/m);
});

test("routes of a platform are behind the same guard", async (t) => {
  const routes = [
    { prefix: "/api/chat/web", routes: [], handle: async (r: Request) => new Response(new URL(r.url).pathname) },
  ];
  const { control } = await started(t, { routes });
  assert.equal((await fetch(`${control.url}/api/chat/web/c1`)).status, 401);
  assert.equal(await (await fetch(`${control.url}/api/chat/web/c1`, bearer())).text(), "/api/chat/web/c1");
  assert.equal((await fetch(`${control.url}/api/chat/webs`, bearer())).status, 404);
});

test("an unexpected failure is logged and answered without details", async (t) => {
  const routes = [{ prefix: "/api/bad", routes: [], handle: () => Promise.reject(new Error("secret detail")) }];
  const { control, logged } = await started(t, { routes });
  const response = await fetch(`${control.url}/api/bad`, bearer());
  assert.equal(response.status, 500);
  assert.ok(!(await response.text()).includes("secret"));
  assert.match(JSON.stringify(logged), /secret detail/);
});

test("page files carry the policy and an etag; nothing outside the folder is served", async (t) => {
  const pageFolder = join(folder(t), "page");
  mkdirSync(join(pageFolder, "assets"), { recursive: true });
  writeFileSync(join(pageFolder, "index.html"), "<title>hi</title>");
  writeFileSync(join(pageFolder, "assets", "app.js"), "1");
  writeFileSync(join(pageFolder, "..", "secret.js"), "secret");
  const { control } = await started(t, { pageFolder });
  const index = await fetch(control.url);
  assert.equal(index.headers.get("content-type"), "text/html; charset=utf-8");
  assert.match(index.headers.get("content-security-policy") ?? "", /default-src 'none'; script-src 'self'/);
  assert.equal(index.headers.get("x-content-type-options"), "nosniff");
  const again = await fetch(control.url, { headers: { "if-none-match": index.headers.get("etag") ?? "" } });
  assert.equal(again.status, 304);
  assert.equal(
    (await fetch(`${control.url}/assets/app.js`)).headers.get("content-type"),
    "text/javascript; charset=utf-8",
  );
  for (const path of [
    "/../secret.js",
    "/%2e%2e/secret.js",
    "/assets/..%2f..%2fsecret.js",
    "/assets",
    "/.hidden.js",
    "/none.js",
  ]) {
    const answer = await raw(`${control.url}${path}`, { host: new URL(control.url).host });
    assert.equal(answer.status, 404, path);
  }
  assert.equal((await fetch(control.url, { method: "POST" })).status, 405);
});

test("a page that was not built says what to do while the rest works", async (t) => {
  const { control } = await started(t);
  const page = await fetch(control.url);
  assert.match(await page.text(), /npm run build/);
  assert.equal((await fetch(`${control.url}/api/status`, bearer())).status, 200);
});

test("a port in use is a fault that says what to do", async (t) => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  t.after(() => holder.close());
  const { port } = holder.address() as AddressInfo;
  await assert.rejects(started(t, { port }), (error) => {
    assert.ok(error instanceof Fault);
    assert.equal(error.code, "port-unusable");
    assert.match(error.message, new RegExp(`127.0.0.1:${port}.*EVERTURN_CONTROL__PORT`));
    return true;
  });
});

test("watchers see events and are let go at the close, with everything else", async (t) => {
  const { control, gateway } = await started(t);
  const response = await fetch(`${control.url}/api/events`, bearer());
  const events = toEvents((response.body ?? assert.fail()).pipeThrough(new TextDecoderStream()));
  assert.equal((await events.next()).value?.type, "state");
  gateway.emit({ type: "platform", platform: "web", account: "local", up: true, state: "up" });
  assert.equal((await events.next()).value?.type, "platform");
  assert.equal(gateway.watchers, 2);
  const idle = await fetch(`${control.url}/healthz`);
  await idle.text();
  await control.close();
  await assert.rejects(fetch(`${control.url}/healthz`));
  await events.next().catch((error: Error) => assert.match(error.message, /terminated/));
  assert.equal(gateway.watchers, 0);
});

test("a connection on which nothing moves is dropped", async (t) => {
  const silent = { prefix: "/api/stuck", routes: [], handle: () => new Promise<Response>(() => {}) };
  const { control } = await started(t, { routes: [silent], silenceMs: 20 });
  await assert.rejects(fetch(`${control.url}/api/stuck`, bearer()));
});

test("a client that takes nothing of an endless answer is dropped, and its source is told", async (t) => {
  const told = Promise.withResolvers<void>();
  let taken = 0;
  const endless = () =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          taken++;
          controller.enqueue(new Uint8Array(1024 * 1024));
        },
        cancel: () => told.resolve(),
      },
      { highWaterMark: 0 },
    );
  const routes = [{ prefix: "/api/endless", routes: [], handle: async () => new Response(endless()) }];
  const { control } = await started(t, { routes, silenceMs: 50 });
  const asked = request(`${control.url}/api/endless`, { headers: bearer().headers }, (response) => response.pause());
  asked.on("error", () => undefined).end();
  await told.promise;
  assert.ok(taken < 100, `${taken} MB were made for a client that takes nothing`);
  asked.destroy();
});

test("a strange request is answered, not thrown", async (t) => {
  const { control, gateway } = await started(t);
  const head = await fetch(`${control.url}/api/events`, { method: "HEAD", ...bearer() });
  assert.deepEqual([head.status, gateway.watchers], [405, 1]);
  const answer = await raw(control.url, { host: "a b" });
  assert.ok(answer.status === 400 || answer.status === 403);
});
