// What becomes of running commands when a real gateway goes: a stop ends them, tools before platforms, and says so after
// the next start; a restart leaves them to the next life; what a killed one left behind ends with the next stop.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { markedProcesses } from "../../src/host/jobs/marked.ts";
import { scenarios } from "../fakes/models/index.ts";
import { environmentOf, root, start, until, within } from "../process/stage.ts";
import { type Stage, answerTo, doing, linesOf, openStage, terminal } from "./stage.ts";

const follow = scenarios["follow"] as NonNullable<(typeof scenarios)[string]>;
const settings = { agent: "  tools: { approvals: never, terminal: { sandbox: off } }" };
const left = async ({ home }: Stage) => (await markedProcesses()).filter((one) => one.folder.startsWith(`${home}/`));

async function everturn(t: TestContext, { home }: Stage, ...words: readonly string[]): Promise<string> {
  const all = [join(root, "src", "main.ts"), "gateway", ...words, "--home", home];
  const one = start(t, process.execPath, all, { env: environmentOf(home) });
  assert.equal(await within(one.exit, `it ends: ${one.err()}`), 0, one.err());
  return one.out();
}

async function running(stage: Stage): Promise<void> {
  await until(() => existsSync(join(stage.workspace, "ledger")), Boolean, "the command has begun");
}

test("a stop ends commands, in the foreground and in the background; the next start tells the truth about them", async (t) => {
  const stage = await openStage(t, follow, settings);
  const first = await stage.start();
  const { port } = first;
  await first.ask("back", "m0", doing(terminal("trap '' TERM; sleep 600; sleep 601", { background: true })));
  await first.client.send(
    "front",
    "m1",
    doing(terminal("echo so far; echo begun >> ledger; setsid sleep 602 & sleep 603")),
  );
  await running(stage);
  assert.ok((await left(stage)).length >= 4);
  const from = performance.now();
  await everturn(t, stage, "stop");
  t.diagnostic(`stopped after ${Math.round(performance.now() - from)} ms`);
  assert.deepEqual(await left(stage), []);
  const second = await stage.start({ port });
  const answer = await answerTo(second.client, "front", "m1");
  assert.match(answer, /killed[^\n]*\(the gateway was stopped\)[\s\S]*so far/);
  assert.deepEqual(linesOf(join(stage.workspace, "ledger")), ["begun"]);
});

test("a restart leaves a command to the next life, which gets its result", async (t) => {
  const stage = await openStage(t, follow, settings);
  const first = await stage.start();
  const command = "echo begun >> ledger; while [ ! -e go ]; do sleep 0.1; done; echo done; echo ended >> ledger";
  await first.client.send("c", "m1", doing(terminal(command)));
  await running(stage);
  const before = (await left(stage)).map((one) => one.pid);
  await everturn(t, stage, "restart");
  const after = (await left(stage)).map((one) => one.pid);
  assert.ok(
    before.some((pid) => after.includes(pid)),
    "it is the same command",
  );
  await first.client.send("d", "m2", doing(terminal("touch go")));
  assert.match(await answerTo(first.client, "c", "m1"), /^done 1: [\s\S]*\bdone\b/);
  assert.deepEqual(linesOf(join(stage.workspace, "ledger")), ["begun", "ended"]);
});

test("what a killed gateway left behind ends with the stop after it", async (t) => {
  const stage = await openStage(t, follow, settings);
  const first = await stage.start();
  const { port } = first;
  await first.client.send("c", "m1", doing(terminal("echo begun >> ledger; setsid sleep 600 & sleep 601")));
  await running(stage);
  await first.end("SIGKILL");
  assert.ok((await left(stage)).length >= 3, "they outlive it");
  const second = await stage.start({ port });
  assert.ok((await left(stage)).length >= 3, "and are taken up");
  await second.end("SIGINT");
  assert.deepEqual(await left(stage), []);
  const said = await everturn(t, stage, "stop");
  assert.match(said, /nothing to stop/);
});
