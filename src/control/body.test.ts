// Bodies of every route: what is too large, too slow, too deep or packed is refused with a clear answer, the connection
// ends, and nothing of it stays in memory.

import assert from "node:assert/strict";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { HttpRoute } from "../ports/http.ts";
import { apiRoutes } from "./api/index.ts";
import { bodyReader, isTooDeep } from "./body.ts";
import { endless, send } from "./hostile.ts";
import { bearer, started } from "./samples.ts";

const platform: readonly HttpRoute[] = [
  { method: "POST", path: "/api/files", body: { stream: 1_000_000 } },
  { method: "POST", path: "/api/texts", body: { whole: 100_000 } },
];
const open: readonly HttpRoute[] = [{ method: "POST", path: "/open/texts", body: { whole: 100_000 } }];

/** Reads its body to the end, as a platform does. */
const handle = async (request: Request) => new Response(String((await request.arrayBuffer()).byteLength));
const mounted = [
  { prefix: "/api/files", routes: platform, handle },
  { prefix: "/api/texts", routes: platform, handle },
  { prefix: "/open", auth: "own", routes: open, handle },
] as const;

const pathOf = ({ path }: HttpRoute) => path.replaceAll(/:\w+/g, "x");
const maxOf = ({ body }: HttpRoute) => (body === "none" ? 0 : "whole" in body ? body.whole : body.stream);
const all = [...apiRoutes, ...platform, ...open];
const isOpen = ({ path }: HttpRoute) => path.startsWith("/open") || path === "/api/sign-in";

test("every route has a limit, and a small one unless it takes texts or files", () => {
  for (const route of apiRoutes) {
    assert.ok(route.body === "none" || maxOf(route) > 0, `${route.method} ${route.path}`);
    assert.ok(maxOf(route) <= 4 * 1024 * 1024, `${route.method} ${route.path}`);
    if (route.method === "GET") assert.equal(route.body, "none", route.path);
  }
  assert.equal(new Set(all.map(({ method, path }) => `${method} ${path}`)).size, all.length, "each is there once");
});

test("a body that is announced as too large is refused before it is read, with and without a credential", async (t) => {
  const { control, gateway } = await started(t, { routes: mounted });
  for (const route of all) {
    const headers = { "content-length": String(maxOf(route) + 1), connection: "close" };
    const at = { method: route.method, path: pathOf(route) };
    const stranger = await send(control.url, { ...at, headers });
    assert.equal(stranger.status, isOpen(route) ? 413 : 401, `${route.method} ${route.path}`);
    const owner = await send(control.url, { ...at, headers: { ...headers, ...bearer().headers } });
    assert.equal(owner.status, 413, `${route.method} ${route.path}`);
    assert.match(owner.text, /"too-large"/);
  }
  assert.deepEqual(gateway.asked, []);
});

test("a body that never ends is cut off, on every route, with and without a credential", async (t) => {
  const { control, gateway } = await started(t, { routes: mounted });
  const headers = { "transfer-encoding": "chunked" };
  const chunks = () => endless(Buffer.alloc(64 * 1024, "x"));
  const attacks = all.flatMap((route) =>
    [{}, bearer().headers].map(async (who) => {
      const at = { method: route.method, path: pathOf(route) };
      const { status } = await send(control.url, { ...at, headers: { ...headers, ...who }, chunks });
      const wanted = isOpen(route) || "authorization" in who ? 413 : 401;
      assert.ok(status === wanted || status === null, `${route.method} ${route.path}: ${status}`);
    }),
  );
  // Health and the page are not the way around it.
  const others = ["/healthz", "/readyz", "/", "/page.js", "/nothing"].flatMap((path) =>
    ["GET", "POST"].map(async (method) => void (await send(control.url, { method, path, headers, chunks }))),
  );
  await Promise.all([...attacks, ...others]);
  assert.deepEqual(gateway.asked, []);
  assert.equal((await fetch(`${control.url}/healthz`)).status, 200);
});

test("slow, packed and deeply nested bodies and huge headers are refused; an honest one is taken", async (t) => {
  const bodies = { togetherMax: 1_000_000, wholeMs: 50 };
  const { control, gateway } = await started(t, { routes: mounted, bodies });
  const at = { method: "POST", path: "/api/texts" };
  const own = bearer().headers;
  const slow = await send(control.url, {
    ...at,
    headers: { ...own, "content-length": "5" },
    chunks: () => [Buffer.from("x")],
  });
  assert.equal(slow.status, 408);
  const packed = await fetch(`${control.url}/api/texts`, {
    method: "POST",
    headers: { ...own, "content-encoding": "gzip" },
    body: "x",
  });
  assert.equal(packed.status, 415);
  const deep = await fetch(`${control.url}/api/send`, { method: "POST", headers: own, body: "[".repeat(40_000) });
  assert.deepEqual(
    [deep.status, ((await deep.json()) as { error: { code: string } }).error.code],
    [400, "bad-request"],
  );
  const heads = await send(control.url, { ...at, headers: { ...own, "x-large": "x".repeat(100_000) } });
  assert.ok(heads.status === 431 || heads.status === null, String(heads.status));
  const honest = await fetch(`${control.url}/api/texts`, { method: "POST", headers: own, body: "x".repeat(100_000) });
  assert.deepEqual([honest.status, await honest.text()], [200, "100000"]);
  const file = await fetch(`${control.url}/api/files`, { method: "POST", headers: own, body: "x".repeat(1_000_000) });
  assert.equal(await file.text(), "1000000");
  assert.deepEqual(gateway.asked, []);
});

test("bodies that are in memory together have a limit, and give their room back", async (t) => {
  const wait = Promise.withResolvers<void>();
  const holding = async (request: Request) => {
    if ((await request.text()).length > 10) await wait.promise;
    return new Response("done");
  };
  const routes = [{ prefix: "/open", auth: "own", routes: open, handle: holding } as const];
  const { control } = await started(t, { routes, bodies: { togetherMax: 150_000, wholeMs: 5_000 } });
  const post = (size: number) => fetch(`${control.url}/open/texts`, { method: "POST", body: "x".repeat(size) });
  const first = post(100_000);
  let status = 200;
  // The first one may still be on its way.
  while (status === 200) status = (await Promise.race([post(60_000), first])).status;
  assert.equal(status, 429);
  assert.equal((await post(5)).status, 200);
  wait.resolve();
  assert.equal((await first).status, 200);
  assert.equal((await post(60_000)).status, 200);
});

test("depth is counted outside of strings, and only in what looks like JSON", () => {
  const deep = (n: number) => Buffer.from("[".repeat(n) + "]".repeat(n));
  for (const [what, body, isDeep] of [
    ["at the limit", deep(200), false],
    ["beyond it", deep(201), true],
    ["objects", Buffer.from('{"a":'.repeat(201)), true],
    ["in a string", Buffer.from(`{"a":"${"[".repeat(500)}"}`), false],
    ["behind an escaped quote", Buffer.from(`{"a":"\\"${"[".repeat(500)}"}`), false],
    ["no JSON", Buffer.from(`x${"[".repeat(500)}`), false],
    ["wide", Buffer.from(`[${"[],".repeat(500)}1]`), false],
    ["empty", Buffer.alloc(0), false],
  ] as const)
    assert.equal(isTooDeep(body), isDeep, what);
});

test("memory returns after hostile input", async (t) => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const { control } = await started(t, { routes: mounted });
  const round = async () => {
    const attack = (path: string, who: Record<string, string>) =>
      send(control.url, {
        method: "POST",
        path,
        headers: { "transfer-encoding": "chunked", ...who },
        chunks: () => endless(Buffer.alloc(256 * 1024, "[")),
      });
    const paths = ["/open/texts", "/api/texts", "/api/files", "/api/send", "/api/sign-in"];
    await Promise.all([...paths, ...paths].map((path, at) => attack(path, at < paths.length ? {} : bearer().headers)));
    collect();
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    return process.memoryUsage().rss;
  };
  const seen: number[] = [];
  for (let n = 0; n < 12; n++) seen.push(await round());
  // The first rounds load code and grow the heap once.
  const early = Math.max(...seen.slice(2, 6));
  const late = Math.min(...seen.slice(8));
  assert.ok(
    late < early + 48 * 1024 * 1024,
    `it grew: ${seen.map((one) => Math.round(one / 1024 / 1024)).join(", ")} MB`,
  );
});

test("a reader of bodies gives back the room of one that breaks off", async (t) => {
  const reader = bodyReader({ togetherMax: 200_000, wholeMs: 60_000 });
  const seen: (string | number)[] = [];
  const take = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const read = await reader.read(incoming, { whole: 150_000 });
    seen.push("status" in read ? read.status : "read");
    if (!("status" in read)) read.done();
    outgoing.end();
  };
  const server = createServer((incoming, outgoing) => void take(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  for (let n = 0; n < 5; n++) {
    const socket = connect(port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 150000\r\n\r\n");
    socket.write("x".repeat(100_000));
    while (seen.length === n) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (!socket.destroyed) socket.destroy();
    }
  }
  assert.deepEqual(seen, [400, 400, 400, 400, 400]);
  assert.equal((await fetch(url, { method: "POST", body: "x".repeat(150_000) })).status, 200);
  assert.equal(seen.at(-1), "read");
});
