// MCP over HTTP against servers that others wrote, in two languages: called, killed in the middle of a call, and restarted
// at the same address. They are found where scripts/peers.ts put them: the folder in EVERTURN_PEERS.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { peerIn } from "../../scripts/peers.ts";
import { stage, until } from "./mcp-stage.ts";

const limit = { timeout: 180_000 };
const everything = peerIn(process.env["EVERTURN_PEERS"], "server-everything");
const python = peerIn(process.env["EVERTURN_PEERS"], "python-mcp");
const pythonServer = join(import.meta.dirname, "..", "fakes", "mcp", "python_server.py");

type RealServer = { readonly url: string; kill(): Promise<void>; start(): Promise<void> };

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => done(true)).on("error", () => done(false));
    socket.on("connect", () => socket.destroy());
  });
}

async function startReal(
  t: TestContext,
  command: (port: number) => readonly string[],
  path: string,
): Promise<RealServer> {
  const port = await freePort();
  const [program = "", ...words] = command(port);
  let child: ChildProcess;
  let said = "";
  const start = async (): Promise<void> => {
    child = spawn(program, words, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, PORT: String(port) } });
    child.stderr?.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2_000)));
    while (!(await answers(port))) {
      assert.equal(child.exitCode, null, `the server ended: ${said}`);
      await sleep(50);
    }
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  await start();
  t.after(kill);
  return { url: `http://127.0.0.1:${port}${path}`, kill, start };
}

type RealCase = {
  readonly title: string;
  readonly skip: string | false;
  readonly command: (port: number) => readonly string[];
  readonly path: string;
  readonly protocol: RegExp;
  readonly plain: readonly [tool: string, input: object, output: RegExp];
  readonly long: readonly [tool: string, input: object];
};

const everythingCase = {
  skip: everything === null ? "no server-everything: set EVERTURN_PEERS" : false,
  plain: ["echo", { message: "hi" }, /Echo: hi/],
  long: ["trigger-long-running-operation", { duration: 100, steps: 100 }],
} as const;

const cases: readonly RealCase[] = [
  {
    ...everythingCase,
    title: "server-everything over Streamable HTTP",
    command: () => [process.execPath, everything ?? "", "streamableHttp"],
    path: "/mcp",
    protocol: /^2025-/,
  },
  {
    ...everythingCase,
    title: "server-everything over the older SSE transport",
    command: () => [process.execPath, everything ?? "", "sse"],
    path: "/sse",
    protocol: /^202[45]-/,
  },
  {
    title: "a server of the Python library",
    skip: python === null ? "no Python package mcp: set EVERTURN_PEERS" : false,
    command: (port) => [python ?? "", pythonServer, String(port)],
    path: "/mcp",
    protocol: /^202/,
    plain: ["add", { a: 2, b: 3 }, /the sum is 5/],
    long: ["wait", { seconds: 100 }],
  },
];

for (const { title, skip, command, path, protocol, plain, long } of cases) {
  const [tool, input, output] = plain;

  test(`${title}: called, restarted, and called again`, { ...limit, skip }, async (t) => {
    const server = await startReal(t, command, path);
    const { call, mcp, log } = stage(t, { servers: { real: { url: server.url, timeoutSeconds: 150 } } });
    await mcp.ready();
    assert.equal(mcp.status()["real"]?.state, "ready", mcp.status()["real"]?.why ?? "");
    assert.match(mcp.status()["real"]?.protocol ?? "", protocol);
    t.diagnostic(`protocol ${mcp.status()["real"]?.protocol}, ${mcp.tools().length} tools`);
    assert.match(JSON.stringify(await call(`real__${tool}`, input)), output);
    await server.kill();
    // Most have a stream open, by whose end the death is noticed; a call at that very moment could be cut off by it.
    for (let i = 0; i < 300 && !log.some((line) => line.includes("is not available")); i++) await sleep(10);
    await server.start();
    assert.match(JSON.stringify(await call(`real__${tool}`, input)), output);
  });

  test(`${title}: killed in the middle of a call`, { ...limit, skip }, async (t) => {
    const server = await startReal(t, command, path);
    const { call, mcp } = stage(t, { servers: { real: { url: server.url, timeoutSeconds: 150 } } });
    await mcp.ready();
    let isOver = false;
    const made = call(`real__${long[0]}`, long[1]).finally(() => (isOver = true));
    await sleep(2_000);
    assert.ok(!isOver, "it waits for its answer");
    const begun = performance.now();
    await server.kill();
    assert.match(JSON.stringify(await made), /"unknown".*not known/);
    const noticed = performance.now() - begun;
    t.diagnostic(`noticed after ${Math.round(noticed)} ms`);
    assert.ok(noticed < 60_000, "long before the time of the call is over");
    await until(() => mcp.status()["real"]?.state === "degraded");
    await server.start();
    assert.match(JSON.stringify(await call(`real__${tool}`, input)), output);
  });
}

test("the failure of a tool of the Python library is told", { ...limit, skip: cases[2]?.skip ?? false }, async (t) => {
  const server = await startReal(t, (port) => [python ?? "", pythonServer, String(port)], "/mcp");
  const { call } = stage(t, { servers: { real: { url: server.url } } });
  assert.match(JSON.stringify(await call("real__fail")), /"failed".*(?:fail|fire)/);
  assert.match(JSON.stringify(await call("real__add", { a: "x" })), /"failed"/);
});
