// Every way to end or hand over a gateway, in random order and at random instants, while people write to it. Nothing is
// lost, doubled or out of order; every restart asked in a chat is answered once; nothing stays behind.

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Boot } from "../../src/core/recovery.ts";
import { openSqliteArchive } from "../../src/stores/sqlite/index.ts";
import { type Way, openStage, processesOf, ways } from "./chaos.ts";
import { type Client, client } from "./client.ts";
import {
  atEnd,
  dice,
  median,
  newHome,
  run,
  runGateway,
  seedOfRun,
  signal,
  spawnGateway,
  stateOf,
  until,
} from "./stage.ts";
import { keptPromise, reportOf, startOracle } from "./witness.ts";

const rounds = 40;
const seed = seedOfRun();

/** Every way at least as often as any other, in an order that nobody chose. */
function shuffled(): readonly Way[] {
  const roll = dice(seed);
  return Array.from({ length: rounds }, (_, i) => ({ way: ways[i % ways.length] ?? "SIGTERM", at: roll.between(0, 1) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ way }) => way);
}

test(`${rounds} ends and hand-overs in random order under load: nothing lost, nothing doubled, nothing left behind`, async (t) => {
  t.diagnostic(`seed ${seed}; repeat it with EVERTURN_SEED=${seed}`);
  const roll = dice(seed + 1);
  const home = newHome(t);
  const first = await runGateway(t, home);
  const oracle = startOracle(t, first, seed);
  const stage = await openStage(t, home, first);
  const order = shuffled();
  for (const [i, way] of order.entries()) {
    await pause(roll.between(0, 400));
    try {
      await stage.go(way);
    } catch (error) {
      const so = order.slice(0, i + 1).join(", ");
      throw new Error(`seed ${seed}, round ${i + 1} (${so})`, { cause: error });
    }
  }
  const report = await reportOf(oracle);
  await keptPromise(stage.ask, report, seed);
  await answeredOnce(stage.ask, stage.asked);
  assert.deepEqual(await stage.end(), []);
  assert.deepEqual(leftIn(home), [], `seed ${seed}`);

  const boots = await bootsOf(home);
  assert.equal(boots.length, rounds + 1, `seed ${seed}: each way began one life`);
  const handed = blackouts(boots);
  const tell = (kind: string) => {
    const all = handed.filter((one) => one.kind === kind).map(({ ms }) => ms);
    return `${kind} ${all.length}: median ${median(all)} ms, longest ${Math.max(...all)} ms`;
  };
  t.diagnostic(
    `seed ${seed}: ${rounds} rounds, ${report.messages} messages, ${report.repeats} repeated requests, ${stage.asked.length} restarts ` +
      `asked in a chat, lost ${report.lost.length}, doubled ${report.doubled.length}, out of order ${report.disordered.length}, ` +
      `given up ${report.givenUp.length}; blackout ${tell("restart")}; ${tell("take-over")}`,
  );
});

const brokenHandovers = 12;

test("hand-overs killed in the middle: whoever is left, or is started next, serves; nothing lost, nobody left behind", async (t) => {
  const roll = dice(seed + 2);
  const home = newHome(t);
  // At a port of its own from the beginning: where any would do, one that is killed before its successor has loaded takes
  // its port with it.
  const before = await runGateway(t, home);
  await before.end();
  const { port } = before;
  const first = await runGateway(t, home, { port });
  const ask = client(first);
  atEnd(t, () => {
    for (const { pid } of processesOf(home)) signal(pid, "SIGKILL");
  });
  const oracle = startOracle(t, first, seed);
  const kills: string[] = [];
  for (let i = 0; i < brokenHandovers; i++) {
    await pause(roll.between(0, 300));
    const serving = stateOf(home).pid;
    if (i % 2 === 0) signal(serving, "SIGUSR1");
    else spawnGateway(t, home, { port, words: ["--replace"] });
    await pause(roll.between(0, 900));
    // Any of them: who serves, who is about to, who only waits for the others.
    const all = processesOf(home).filter(({ words }) => words.includes("gateway run"));
    const victim = all[Math.floor(roll.between(0, all.length))];
    if (victim !== undefined) signal(victim.pid, "SIGKILL");
    kills.push(`${victim?.pid === serving ? "who served" : "another"} of ${all.length}`);
    // As a supervisor would; who finds the home served goes away again.
    const another = spawnGateway(t, home, { port });
    await until(
      () => ask.get<{ state: string }>("/api/status").catch(() => null),
      (now) => now?.state === "running",
      () => `seed ${seed}: somebody serves; ${JSON.stringify(processesOf(home))}`,
    );
    // It has made up its mind, so that no start is under way when the last stop comes.
    await until(
      () => another.child.exitCode !== null || stateOf(home).pid === another.pid,
      Boolean,
      () => `seed ${seed}: it serves or goes away; it said ${another.err()}`,
    );
  }
  const report = await reportOf(oracle);
  await keptPromise(ask, report, seed);
  const stopped = await run(t, home, ["gateway", "stop"], { port });
  assert.equal(stopped.code, 0, `seed ${seed}: ${stopped.out}${stopped.err}`);
  await until(
    () => processesOf(home),
    (left) => left.length === 0,
    () => `seed ${seed}: nothing of it runs: ${JSON.stringify(processesOf(home))}`,
    100,
  );
  t.diagnostic(`seed ${seed}: ${brokenHandovers} hand-overs, ${report.messages} messages, killed ${kills.join(", ")}`);
});

/** Each restart asked in a chat has its one answer, and nothing else was said there. */
async function answeredOnce(ask: Client, keys: readonly string[]): Promise<void> {
  const all = await until(
    () => ask.transcript("ops"),
    (seen) => seen.length >= 2 * keys.length,
    "every restart is answered",
  );
  for (const key of keys) {
    const asked = all.filter((one) => one.key === key);
    assert.equal(asked.length, 1, `seed ${seed}: ${key} is stored ${asked.length} times`);
    const answers = all.filter((one) => one.role !== "user" && one.turn === asked[0]?.turn);
    assert.equal(answers.length, 1, `seed ${seed}: ${key} has ${answers.length} answers`);
    assert.match(answers[0]?.text ?? "", /^Restarted\. /);
  }
  assert.equal(
    all.length,
    2 * keys.length,
    `seed ${seed}: ${all.map(({ role, text }) => `${role}: ${text}`).join("; ")}`,
  );
}

/** Markers and half-written files. */
function leftIn(home: string): readonly string[] {
  const markers = [".gateway-planned-stop.json", ".gateway-takeover.json", ".restart_pending.json"];
  const drafts = readdirSync(home).filter((name) => name.endsWith(".tmp"));
  return [...markers.filter((name) => existsSync(join(home, name))), ...drafts];
}

async function bootsOf(home: string): Promise<readonly Boot[]> {
  const archive = openSqliteArchive(join(home, "state.db"));
  try {
    return (await archive.lastBoots(10 * rounds)).toReversed();
  } finally {
    archive.close();
  }
}

/** Between the moment a life let go of its last platform and the moment the next one listened. */
function blackouts(boots: readonly Boot[]): readonly { readonly kind: string; readonly ms: number }[] {
  return boots.flatMap((boot, i) => {
    const next = boots[i + 1];
    const kind = boot.stop?.class;
    if (next === undefined || (kind !== "restart" && kind !== "take-over")) return [];
    const { silentAt } = boot.story;
    const { listeningAt } = next.story;
    assert.ok(
      silentAt !== undefined && listeningAt !== undefined,
      `seed ${seed}: boot ${i + 1} does not tell its story`,
    );
    assert.ok(listeningAt >= silentAt, `seed ${seed}: two lives listened at once`);
    return [{ kind, ms: listeningAt - silentAt }];
  });
}
