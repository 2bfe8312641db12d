// Servers of both protocols: the one of 2026-07-28, and the older one that begins with `initialize`.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { eraMemory } from "../../src/tools/mcp/era.ts";
import type { McpServer } from "../../src/tools/mcp/index.ts";
import { linesIn } from "../lines.ts";
import { stage, until } from "./mcp-stage.ts";
import { memoryFacts } from "./peer-host.ts";

const program = join(import.meta.dirname, "..", "fakes", "mcp", "server.ts");
const limit = { timeout: 120_000 };

/** One server that several gateways start one after the other. */
function oneServer(t: TestContext, mode: string) {
  const folder = mkdtempSync(join(tmpdir(), "everturn-era-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const own: McpServer = { command: [process.execPath, program, mode, folder] };
  const facts = memoryFacts();
  const asked = (): string =>
    linesIn(join(folder, "calls"))
      .filter((line) => line === "discover" || line === "initialize")
      .join(" ");
  // Only a server that stays silent is not waited for.
  const pace = mode === "silent" ? { probeMs: 2_000 } : {};
  return { own, facts, asked, open: () => stage(t, { servers: { own }, facts, pace }) };
}

for (const [mode, first, second] of [
  ["modern", "discover", "discover discover"],
  ["plain", "discover initialize", "discover initialize initialize"],
  ["silent", "discover initialize", "discover initialize initialize"],
  ["touchy", "discover initialize", "discover initialize initialize"],
] as const)
  test(`a ${mode} server is recognized, and an older one is not asked twice`, limit, async (t) => {
    const { open, asked } = oneServer(t, mode);
    const gateway = open();
    await gateway.mcp.ready();
    assert.match(JSON.stringify(await gateway.call("own__echo", { text: mode })), new RegExp(`you said ${mode}`));
    assert.equal(asked(), first);
    await gateway.mcp.close();
    await open().mcp.ready();
    assert.equal(asked(), second);
  });

test("what is known of a server is forgotten when it does not hold any more", limit, async (t) => {
  const { open, asked, own, facts } = oneServer(t, "modern");
  await eraMemory("own", own, { facts, log: () => undefined }).remember("legacy");
  const { mcp } = open();
  await mcp.ready();
  await until(() => mcp.status()["own"]?.state === "ready");
  assert.equal(asked(), "initialize discover");
});

test("it is kept for seven days, for one command with its credentials", async () => {
  const facts = memoryFacts();
  let now = 1_000;
  const memory = (server: McpServer) => eraMemory("own", server, { facts, log: () => undefined }, () => now);
  const server: McpServer = { command: ["a"], env: { KEY: "1" } };
  assert.equal(await memory(server).isLegacy(), false);
  await memory(server).remember("legacy");
  assert.equal(await memory(server).isLegacy(), true);
  assert.equal(await memory({ command: ["a"], env: { KEY: "2" } }).isLegacy(), false);
  assert.equal(await memory({ command: ["b"], env: { KEY: "1" } }).isLegacy(), false);
  now += 7 * 86_400_000;
  assert.equal(await memory(server).isLegacy(), false);
  now = 0;
  assert.equal(await memory(server).isLegacy(), false, "the clock was set back");
});

test("a server of the newer protocol that starts slowly gets more time with every attempt", limit, async (t) => {
  const { mcp } = stage(t, { mode: "modern", pace: { probeMs: 50, retryMaxMs: 20 } });
  await mcp.ready();
  await until(() => mcp.status()["own"]?.state === "ready");
  assert.equal(mcp.status()["own"]?.protocol, "2026-07-28");
});

test("changes of a server of the newer protocol are followed", limit, async (t) => {
  const { mcp, call } = stage(t, { mode: "modern" });
  await call("own__grow");
  await until(() => (mcp.status()["own"]?.changed.length ?? 0) > 0);
});

test("a subscription that the server ends is opened again, and the connection stays", limit, async (t) => {
  const { mcp, call, calls } = stage(t, { mode: "modern" });
  const count = (what: string) => calls().filter((line) => line === what).length;
  await call("own__unlisten");
  await until(() => count("listen") === 2);
  await call("own__grow");
  await until(() => (mcp.status()["own"]?.changed.length ?? 0) > 0);
  assert.equal(count("started"), 1);
});
