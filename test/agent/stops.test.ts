// What becomes of running commands when a real gateway goes: a stop ends them, tools before platforms, and says so after
// the next start; a restart leaves them to the next life; what a killed one left behind ends with the next stop, or when
// its user wants it no more; and a copy of the store does not claim that what it cannot see never happened.

import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { markedProcesses } from "../../src/host/jobs/marked.ts";
import { scenarios } from "../fakes/models/index.ts";
import { environmentOf, root, start, until, within } from "../process/stage.ts";
import { linesIn } from "../lines.ts";
import { type Stage, answerTo, doing, openStage, terminal } from "./stage.ts";

const follow = scenarios["follow"] as NonNullable<(typeof scenarios)[string]>;
const settings = { agent: "  tools: { approvals: never }" };
const left = async ({ home }: Stage) => (await markedProcesses()).filter((one) => one.folder.startsWith(`${home}/`));

const gatewayDo = (t: TestContext, { home }: Stage, word: string) => everturn(t, home, "gateway", word);

async function everturn(t: TestContext, home: string, ...words: readonly string[]): Promise<string> {
  const all = [join(root, "src", "main.ts"), ...words, "--home", home];
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
  await gatewayDo(t, stage, "stop");
  t.diagnostic(`stopped after ${Math.round(performance.now() - from)} ms`);
  assert.deepEqual(await left(stage), []);
  const second = await stage.start({ port });
  const answer = await answerTo(second.client, "front", "m1");
  assert.match(answer, /killed[^\n]*\(the gateway was stopped\)[\s\S]*so far/);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["begun"]);
});

test("a restart leaves a command to the next life, which gets its result", async (t) => {
  const stage = await openStage(t, follow, settings);
  const first = await stage.start();
  const command = "echo begun >> ledger; while [ ! -e go ]; do sleep 0.1; done; echo done; echo ended >> ledger";
  await first.client.send("c", "m1", doing(terminal(command)));
  await running(stage);
  const before = (await left(stage)).map((one) => one.pid);
  await gatewayDo(t, stage, "restart");
  const after = (await left(stage)).map((one) => one.pid);
  assert.ok(
    before.some((pid) => after.includes(pid)),
    "it is the same command",
  );
  await first.client.send("d", "m2", doing(terminal("touch go")));
  assert.match(await answerTo(first.client, "c", "m1"), /^done 1: [\s\S]*\bdone\b/);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["begun", "ended"]);
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
  const said = await gatewayDo(t, stage, "stop");
  assert.match(said, /nothing to stop/);
});

test("a command that outlived its gateway ends when its user stops the turn in the next life", async (t) => {
  const stage = await openStage(t, follow, settings);
  const first = await stage.start();
  const { port } = first;
  await first.client.send("c", "m1", doing(terminal("echo begun >> ledger; sleep 300")));
  await running(stage);
  await first.end("SIGKILL");
  const second = await stage.start({ port });
  assert.ok((await left(stage)).length >= 1, "it goes on");
  // The turn may be parked still, or taken up already; both are the same to its user.
  await second.client.send("c", "m2", "/stop");
  const from = performance.now();
  await until(
    async () => left(stage),
    (all) => all.length === 0,
    "nothing of it is left",
  );
  t.diagnostic(`ended after ${Math.round(performance.now() - from)} ms`);
  assert.match(await second.ask("c", "m3", "Are you there?"), /./);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["begun"]);
});

test("a store that was brought back without its jobs does not run a command again", async (t) => {
  const stage = await openStage(t, follow, settings);
  const first = await stage.start();
  await first.client.send("c", "m1", doing(terminal("echo begun >> ledger; sleep 300")));
  await running(stage);
  const copy = join(stage.home, "..", "copy.db");
  await everturn(t, stage.home, "backup", copy);
  await first.end("SIGINT");
  // In the same home, where the folder was tidied away since; and with the mark of a home that has long been whole.
  for (const name of readdirSync(join(stage.home, "jobs")).filter((one) => one !== "since"))
    rmSync(join(stage.home, "jobs", name), { recursive: true });
  await everturn(t, stage.home, "restore", copy);
  const second = await stage.start();
  assert.match(await answerTo(second.client, "c", "m1"), /not known, because[^\n]*restored from a backup/);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["begun"]);
});
