// The proxy itself: what a client and a server see of each fault, and that all is well afterwards.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { atEnd, environmentOf, patienceMs, until } from "../process/stage.ts";
import { certificates } from "../kit/certificates.ts";
import { type FaultProxy, type NetworkFault, type Settings, captivePortal, faultProxy } from "../kit/fault-proxy.ts";
import { failingNames } from "../kit/names.ts";

type Stage = { readonly proxy: FaultProxy; readonly arrived: string[] };

async function opened(t: TestContext, settings: Settings = { http: true }): Promise<Stage> {
  const arrived: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      arrived.push(Buffer.concat(chunks).toString());
      response.end(`received ${arrived.length}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(t, () => void (server.close(), server.closeAllConnections()));
  const proxy = await faultProxy({ port: (server.address() as AddressInfo).port }, settings);
  atEnd(t, () => proxy.close());
  return { proxy, arrived };
}

const send = (proxy: FaultProxy, body: string, signal?: AbortSignal): Promise<Response> =>
  fetch(proxy.url, { method: "POST", body, ...(signal === undefined ? {} : { signal }) });

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "answered";
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: string } };
    return cause?.code ?? (error as Error).name;
  }
}

const settled = { timeout: 2 * patienceMs };

for (const [fault, error, isDelivered] of [
  [{ type: "reset", when: "before" }, "ECONNRESET", false],
  [{ type: "reset", when: "after" }, "ECONNRESET", true],
  [{ type: "refuse" }, "ECONNREFUSED", false],
] as const satisfies readonly (readonly [NetworkFault, string, boolean])[])
  test(`${JSON.stringify(fault)} fails with ${error}`, settled, async (t) => {
    const { proxy, arrived } = await opened(t);
    assert.equal(await (await send(proxy, "one")).text(), "received 1");
    proxy.begin(fault);
    // The connection that stands breaks as well as the next one.
    for (let n = 0; n < 2; n++) {
      const code = await codeOf(send(proxy, "two"));
      assert.ok(code === error || code === "UND_ERR_SOCKET" || code === "ECONNRESET", code);
    }
    assert.equal(arrived.includes("two"), isDelivered);
    proxy.end();
    await until(
      () => codeOf(send(proxy, "three")),
      (code) => code === "answered",
      "it passes again",
    );
    assert.ok(arrived.includes("three"));
    const isAnswered = (body: string) =>
      proxy.exchanges.some(({ text, answeredAt }) => text.endsWith(body) && answeredAt !== null);
    assert.deepEqual([isAnswered("two"), isAnswered("three")], [false, true]);
  });

for (const status of [502, 200])
  for (const delivered of [true, false])
    test(`an answer ${status} of somebody else, delivered: ${delivered}`, settled, async (t) => {
      const { proxy, arrived } = await opened(t);
      await (await send(proxy, "one")).text();
      proxy.begin({ type: "answer", status, delivered });
      const answer = await send(proxy, "two");
      assert.deepEqual([answer.status, await answer.text()], [status, captivePortal]);
      assert.deepEqual(arrived, delivered ? ["one", "two"] : ["one"]);
      proxy.end();
      assert.equal((await send(proxy, "three")).status, 200);
      assert.deepEqual(
        proxy.exchanges.map(({ answeredAt }) => answeredAt !== null),
        [true, false, true],
      );
    });

test("a stalled request goes on afterwards; the answer to one may stop in its middle", settled, async (t) => {
  const { proxy, arrived } = await opened(t);
  proxy.begin({ type: "stall", when: "before" });
  const held = send(proxy, "one");
  await until(
    () => proxy.connections,
    (n) => n === 1,
    "it is accepted",
  );
  await pause(100);
  assert.deepEqual(arrived, []);
  proxy.begin({ type: "stall", when: "after" });
  await until(
    () => arrived.length,
    (n) => n === 1,
    "it arrives",
  );
  await pause(100);
  assert.equal(proxy.exchanges[0]?.answeredAt, null);
  proxy.end();
  assert.equal(await (await held).text(), "received 1");
});

test("a half-open connection stays dead, and the next one is fine", settled, async (t) => {
  const { proxy, arrived } = await opened(t);
  proxy.begin({ type: "half-open" });
  const over = new AbortController();
  const dead = codeOf(send(proxy, "one", over.signal));
  await until(
    () => proxy.connections,
    (n) => n === 1,
    "it is accepted",
  );
  proxy.end();
  assert.equal(await (await send(proxy, "two")).text(), "received 1");
  over.abort();
  assert.equal(await dead, "AbortError");
  assert.deepEqual(arrived, ["two"]);
});

test("only one connection fails, and only after it has sent something", settled, async (t) => {
  const heard: string[] = [];
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      heard.push(String(chunk));
      socket.write("ok\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(t, () => void server.close());
  const proxy = await faultProxy({ port: (server.address() as AddressInfo).port });
  atEnd(t, () => proxy.close());
  proxy.begin((n) => (n === 2 ? { type: "reset", when: "after", on: /DATA/ } : null));
  const talk = async (): Promise<readonly string[]> => {
    const seen: string[] = [];
    const socket = connect(proxy.port, "127.0.0.1");
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", (error: NodeJS.ErrnoException) => seen.push(error.code ?? ""));
    socket.on("data", (chunk) => seen.push(String(chunk)));
    for (const [n, word] of ["HELLO", "DATA"].entries()) {
      socket.write(word);
      await until(
        () => seen.length,
        (count) => count > n,
        "an answer",
      );
    }
    socket.end();
    await closed;
    return seen;
  };
  atEnd(t, () => void server.close());
  assert.deepEqual(await talk(), ["ok\n", "ok\n"]);
  assert.deepEqual(await talk(), ["ok\n", "ECONNRESET"]);
  assert.deepEqual(heard, ["HELLO", "DATA", "HELLO", "DATA"]);
});

test("a connection that is cut while the proxy answers on it is closed", settled, async (t) => {
  const count = (): number => process.getActiveResourcesInfo().filter((one) => one === "TCPSocketWrap").length;
  const before = count();
  const server = createTcpServer((socket) => void socket.on("error", () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(t, () => void server.close());
  const proxy = await faultProxy({ port: (server.address() as AddressInfo).port }, { http: true });
  atEnd(t, () => proxy.close());
  const client = connect(proxy.port, "127.0.0.1");
  client.on("error", () => undefined).resume();
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await until(
    () => proxy.exchanges.length,
    (n) => n === 1,
    "the request is seen",
  );
  proxy.begin({ type: "answer", status: 502, delivered: true });
  proxy.cut();
  await until(count, (n) => n <= before, "no socket is left");
});

/** What `fetch` says in a process of its own. */
async function fetchElsewhere(url: string, env: Readonly<Record<string, string>>): Promise<string> {
  const code = `fetch(${JSON.stringify(url)}).then((r) => r.status, (e) => e.cause.code).then(console.log)`;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", code], { env: environmentOf("", { env }) });
  return stdout.trim();
}

test("TLS: trusted, then another certificate, then no TLS at all", settled, async (t) => {
  const tls = certificates(t);
  const { proxy } = await opened(t, { http: true, tls });
  const ask = () => fetchElsewhere(proxy.url, { NODE_EXTRA_CA_CERTS: tls.file });
  assert.equal(await ask(), "200");
  proxy.begin({ type: "tls", how: "certificate" });
  assert.equal(await ask(), "DEPTH_ZERO_SELF_SIGNED_CERT");
  proxy.begin({ type: "tls", how: "plain" });
  assert.match(await ask(), /^ERR_SSL_/);
  proxy.end();
  assert.equal(await ask(), "200");
});

test("a name that does not resolve for a while", settled, async (t) => {
  const { proxy } = await opened(t);
  const names = failingNames(t);
  const ask = () => fetchElsewhere(proxy.url, names.env);
  assert.equal(await ask(), "200");
  for (const error of ["ENOTFOUND", "EAI_AGAIN"] as const) {
    names.fail("localhost", error);
    assert.equal(await ask(), error);
  }
  names.restore();
  assert.equal(await ask(), "200");
});
