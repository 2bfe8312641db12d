// What an agent holds is gone when it is closed, seen from outside of it: connections at the provider, memory on the heap,
// and after a stop of a whole gateway every process of its tools.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Entry } from "../../src/core/journal.ts";
import { ownerPerson } from "../../src/core/requester.ts";
import type { Blobs } from "../../src/ports/blobs.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { sessionId } from "../../src/testing/samples.ts";
import { scenarios } from "../fakes/models/index.ts";
import { stage } from "../fakes/models/stage.ts";
import { root, until } from "../process/stage.ts";
import { processesNaming } from "./processes.ts";
import { doing, openStage, terminal } from "./stage.ts";

/** A provider that would keep idle connections open for longer than any test. */
const patient = { keepAliveMs: 600_000 };

/** Far longer than it takes, and far shorter than a connection is kept. */
const soonMs = 30_000;

async function soon(holds: () => boolean | Promise<boolean>, what: string | (() => string)): Promise<void> {
  for (const until = Date.now() + soonMs; !(await holds()); await pause(20))
    if (Date.now() > until) assert.fail(typeof what === "string" ? what : what());
}

for (const protocol of ["openai", "anthropic", "google"] as const) {
  describe(`over ${protocol}`, () => {
    test("S12 closing ends the connections that it kept, once, and the next step opens another", async (t) => {
      const { step, fake, agent } = await stage(t, () => ({ text: "hello" }), {}, protocol, patient);
      await Promise.all([step(), step()]);
      assert.ok(fake.open() > 0, "connections are kept alive");
      await agent.close(sessionId("s1"));
      assert.ok(fake.open() > 0, "those of a session are everybody's");
      await agent.close("all");
      await soon(() => fake.open() === 0, "the provider sees every connection closed");
      await agent.close("all");
      assert.equal((await step()).type, "said", "and it works again");
      await agent.close("all");
      await soon(() => fake.open() === 0, "and is closed again");
    });
  });
}

test("S12 a request that is still under way ends with the agent", async (t) => {
  const { step, fake, agent } = await stage(t, () => ({ dead: "hang" }), {}, "openai", patient);
  let given: string | null = null;
  void step().then(({ type }) => (given = type));
  await fake.asked(1);
  await agent.close("all");
  await soon(() => given !== null, "the step ends");
  assert.equal(given, "failed");
  await soon(() => fake.open() === 0, "its connection is closed");
});

/** A result that is too long for a request, so that it is kept in a file, and where is kept in memory. */
const long: readonly Entry[] = [
  { type: "said", text: "", calls: [{ call: "1", tool: "look", input: {} }], final: false },
  { type: "tool-begun", call: "1", effect: "pure" },
  { type: "tool-ended", call: "1", result: { type: "ok", output: "x".repeat(400_000) } },
];

/** Files of a conversation that live exactly as long as the agent remembers it. */
function fleeting(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "everturn-close-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const seen: WeakRef<Blobs>[] = [];
  return {
    seen,
    async workspaceFor() {
      const blobs = openBlobs(folder);
      seen.push(new WeakRef(blobs));
      return { id: "owner", person: ownerPerson, folder, files: folder, blobs, isMarked: false };
    },
  };
}

async function collected(what: WeakRef<object>): Promise<boolean> {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  await new Promise((done) => setImmediate(done));
  gc();
  return what.deref() === undefined;
}

test("S12 closing a session drops its memory and no other's; closing all drops the rest", async (t) => {
  const { seen, workspaceFor } = fleeting(t);
  const { step, agent } = await stage(t, () => ({ text: "hello" }), { workspaceFor });
  for (const name of ["s1", "s2"]) await step(long, { session: sessionId(name) });
  const [first, second] = seen;
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual([await collected(first), await collected(second)], [false, false], "both are remembered");
  await agent.close(sessionId("s1"));
  await soon(() => collected(first), "the memory of the closed session is gone");
  assert.equal(await collected(second), false, "the other one is still remembered");
  await agent.close("all");
  await soon(() => collected(second), "nothing is remembered");
});

test("S12 S113 a stop leaves nothing of its tools behind: commands, file workers, MCP servers and what those started", {
  timeout: 280_000,
}, async (t) => {
  const world = mkdtempSync(join(tmpdir(), "everturn-tools-"));
  t.after(() => rmSync(world, { recursive: true, force: true }));
  // A browser is a server of tools with a process of its own.
  const command = [process.execPath, join(root, "test", "fakes", "mcp", "server.ts"), "browser", world];
  const mcp = `  mcp: { browser: { command: ${JSON.stringify(command)}, paths: ["${world}:rw"] } }`;
  const follow = scenarios["follow"] as NonNullable<(typeof scenarios)[string]>;
  const home = await openStage(t, follow, { agent: `  tools: { approvals: never }\n${mcp}` });
  const life = await home.start();
  const write = { tool: "write_file", input: { path: "note.txt", content: "kept" } };
  await life.ask("c", "m1", doing(write, terminal("sleep 612", { background: true })));
  const left = () => [...processesNaming(home.home), ...processesNaming(world)];
  await until(
    () => left().join("\n"),
    (all) => [/sleep 611/, /mcp\/server\.ts browser/, /sleep 612/, /files\Wworker/].every((one) => one.test(all)),
    () => `all of it runs: ${left().join("\n")}`,
  );
  await life.end("SIGTERM");
  await soon(
    () => left().length === 0,
    () => `nothing is left: ${left().join("\n")}`,
  );
});
