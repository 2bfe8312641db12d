// A turn of thirty tools, killed with -9 at random points until it is through: no finished tool runs twice, at most one
// model call is repeated for each kill, and the answer is right. Whoever counts is outside: the model and the tools' ledger.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { scenarios } from "../fakes/models/index.ts";
import { dice, seedOfRun, until } from "../process/stage.ts";
import { linesIn } from "../lines.ts";
import { type Life, type Stage, answerTo, doing, openStage, terminal } from "./stage.ts";

const seed = seedOfRun();
const toolsWanted = 30;
const killsWanted = 30;
const turnsMax = 8;
const follow = scenarios["follow"] as NonNullable<(typeof scenarios)[string]>;

/** Of every three one that may happen once only, one that can be checked, and one that only looks. */
function calls(ledger: string) {
  return Array.from({ length: toolsWanted }, (_, i) => {
    if (i % 3 === 0) return terminal(`echo ${i} >> ${ledger}; echo ran ${i}`);
    if (i % 3 === 1) return { tool: "write_file", input: { path: `${ledger}-${i}.txt`, content: `${i}\n` } };
    return terminal(`sleep 0.05; echo ${i} >> ${ledger}; cat ${ledger}-${i - 1}.txt`);
  });
}

const inLedger = Array.from({ length: toolsWanted }, (_, i) => i)
  .filter((i) => i % 3 !== 1)
  .map(String);

test(`killed at ${killsWanted} random points of turns with ${toolsWanted} tools`, { timeout: 900_000 }, async (t) => {
  t.diagnostic(`EVERTURN_SEED=${seed}`);
  const roll = dice(seed);
  const stage = await openStage(t, follow);
  let kills = 0;
  for (let turn = 0; turn < turnsMax && kills < killsWanted; turn++) {
    const ledger = `ledger${turn}`;
    const before = stage.fake.requests.length;
    let own = 0;
    let life = await stage.start();
    const { port } = life;
    await life.client.send(ledger, `m${turn}`, doing(...calls(ledger)));
    while (kills < killsWanted && !(await isThrough(stage, life, ledger, roll))) {
      await life.end("SIGKILL");
      kills++;
      own++;
      life = await stage.start({ port });
    }
    const answer = await answerTo(life.client, ledger, `m${turn}`);
    assert.match(answer, new RegExp(`^done ${toolsWanted}: `), `seed ${seed}: ${answer}`);
    assert.deepEqual(linesIn(join(stage.workspace, ledger)), inLedger, `seed ${seed}: a tool ran twice or not at all`);
    const asked = stage.fake.requests.length - before;
    assert.ok(asked >= toolsWanted + 1 && asked <= toolsWanted + 1 + own, `seed ${seed}: ${asked} calls, ${own} kills`);
    t.diagnostic(`turn ${turn}: ${own} kills, ${asked} model calls`);
    await life.end("SIGTERM");
  }
  assert.equal(kills, killsWanted, `seed ${seed}`);
});

/** True when the turn ended before the moment came at which it would have been killed. */
async function isThrough(stage: Stage, life: Life, ledger: string, roll: ReturnType<typeof dice>): Promise<boolean> {
  // A life that achieves nothing makes its turn a suspect; three of them are more than chance should do to it.
  const results = resultsSeen(stage, ledger);
  const more = Math.floor(roll.between(1, 4));
  let isOver = false;
  await until(
    async () => {
      isOver = (await life.client.transcript(ledger)).some((one) => one.role === "assistant");
      return isOver || resultsSeen(stage, ledger) >= results + more;
    },
    (moment) => moment,
    "the turn makes progress",
    2,
  );
  if (isOver) return true;
  await pause(roll.between(0, 120));
  return false;
}

/** How many results the model has been told of in the turn with this ledger. */
function resultsSeen({ fake }: Stage, ledger: string): number {
  const last = fake.requests.at(-1)?.seen.messages ?? [];
  if (!last.some(({ text }) => text.includes(`${ledger};`))) return 0;
  return last.reduce((sum, { results }) => sum + results.length, 0);
}

test("a command that runs when the gateway is killed is not run again, and its true result arrives", async (t) => {
  const stage = await openStage(t, follow);
  const first = await stage.start();
  const { port } = first;
  const command = "echo begun >> ledger; sleep 5; echo done; echo ended >> ledger";
  await first.client.send("job", "m1", doing(terminal(command)));
  await until(
    () => existsSync(join(stage.workspace, "ledger")),
    (is) => is,
    "the command has begun",
  );
  await first.end("SIGKILL");
  const second = await stage.start({ port });
  assert.match(await answerTo(second.client, "job", "m1"), /^done 1: [\s\S]*\bdone\b/);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["begun", "ended"]);
});

test("a command in the background goes on while the gateway is dead, and is found again by its id", async (t) => {
  const stage = await openStage(t, follow);
  const first = await stage.start();
  const { port } = first;
  const command = "echo begun >> ledger; sleep 3; echo background done; echo ended >> ledger";
  const started = await first.ask("job", "m1", doing(terminal(command, { background: true })));
  const id = /\b[0-9a-f]{12}\b/.exec(started)?.[0];
  assert.ok(id !== undefined, started);
  await first.end("SIGKILL");
  const second = await stage.start({ port });
  const waited = await second.ask("job", "m2", doing({ tool: "process", input: { action: "wait", id } }));
  assert.match(waited, /background done/);
  assert.deepEqual(linesIn(join(stage.workspace, "ledger")), ["begun", "ended"]);
});
