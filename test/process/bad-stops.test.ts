// Stops that come at the wrong moment, twice, from a closed terminal, or while the clock is set; homes that a dead machine
// has left. Each ends, with its own exit code, and loses nothing.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { type TestContext, test } from "node:test";
import { processesOf } from "./chaos.ts";
import { type Client, client } from "./client.ts";
import {
  type Gateway,
  dice,
  isAlive,
  newHome,
  run,
  runGateway,
  seedOfRun,
  signal,
  spawnGateway,
  start,
  stateOf,
  until,
  within,
} from "./stage.ts";

const seed = seedOfRun();
const unexpected = 1;
/** Far more than a stop may take, far less than any drain here. */
const boundMs = 30_000;

async function isRunning(ask: Client, text = "count to 300 slowly"): Promise<void> {
  await ask.send("c1", "m1", text);
  await until(
    () => ask.get<{ running: readonly { steps: number }[] }>("/api/status"),
    ({ running }) => running.some(({ steps }) => steps > 0),
    "the turn has made a step",
  );
}

/** The next life goes on with what was cut off, and answers it once. */
async function goesOn(t: TestContext, home: string, before: Gateway): Promise<void> {
  const next = await runGateway(t, home, { port: before.port });
  const ask = client(next);
  await until(
    () => ask.get<{ running: readonly unknown[] }>("/api/status"),
    ({ running }) => running.length === 1,
    "the turn goes on",
  );
  const [asked] = await ask.transcript("c1");
  const { turn } = await ask.get<{ turn: { attempt: number } }>(`/api/turns/${asked?.turn}`);
  assert.equal(turn.attempt, 2);
  assert.equal(await next.end("SIGINT"), 0);
}

test("SIGTERM twice at once is one request: the drain goes on, the turn finishes, the class stays", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home, { env: { EVERTURN_GATEWAY__DRAIN_SECONDS: "120" } });
  const ask = client(gateway);
  await isRunning(ask, "count to 4 slowly");
  signal(gateway.pid, "SIGTERM");
  signal(gateway.pid, "SIGTERM");
  assert.equal(await within(gateway.exit, "it did not end"), unexpected, gateway.err());
  const next = await runGateway(t, home, { port: gateway.port });
  const all = await until(
    () => ask.transcript("c1"),
    (seen) => seen.length === 2,
    "it is answered",
  );
  assert.match(all[1]?.text ?? "", /Counted to 4 without interruption/);
  assert.equal(await next.end("SIGINT"), 0);
});

test("another SIGTERM during the drain, a second later, ends the drain and nothing else", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home, { env: { EVERTURN_GATEWAY__DRAIN_SECONDS: "600" } });
  await isRunning(client(gateway));
  const asked = Date.now();
  signal(gateway.pid, "SIGTERM");
  await until(
    () => Date.now() - asked,
    (passed) => passed > 1_500,
    "a second has passed",
  );
  assert.ok(isAlive(gateway.pid), "it drains");
  // Another kind of request changes nothing about what this stop is.
  signal(gateway.pid, "SIGINT");
  assert.equal(await within(gateway.exit, "the drain was not ended", boundMs), unexpected, gateway.err());
  assert.equal(stateOf(home).gateway_state, "running", "nobody announced it");
  await goesOn(t, home, gateway);
});

test("SIGHUP, as a closed terminal sends it, is a stop like any other", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  await isRunning(client(gateway));
  assert.equal(await within(gateway.end("SIGHUP"), "it did not end", boundMs), unexpected, gateway.err());
  await goesOn(t, home, gateway);
});

test("a signal at any moment of the start ends it, and leaves a home that the next start can use", async (t) => {
  const roll = dice(seed);
  const home = newHome(t);
  const ends: string[] = [];
  for (let i = 0; i < 12; i++) {
    const started = spawnGateway(t, home);
    await pause(roll.between(0, 500));
    const name = (["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"] as const)[i % 4] ?? "SIGTERM";
    // A restart is no end; it may be asked of one that is about to begin all the same.
    signal(started.pid, name);
    if (name === "SIGUSR1") signal(started.pid, "SIGTERM");
    const exit = await within(started.exit, `${name} did not end it: ${started.err()}`);
    // Before it has begun to listen to signals, one ends it as it ends any program.
    assert.ok([0, 1, name, "SIGTERM"].includes(exit), `seed ${seed}: ${name} ended it with ${exit}: ${started.err()}`);
    ends.push(`${name} ${exit}`);
    await until(
      () => processesOf(home),
      (left) => left.length === 0,
      "nothing of it runs",
      50,
    );
  }
  const gateway = await runGateway(t, home);
  await client(gateway).send("c1", "m1", "hello");
  assert.equal(await gateway.end("SIGINT"), 0);
  assert.deepEqual(
    readdirSync(home).filter((name) => name.endsWith(".tmp") || name.startsWith(".gateway-")),
    [],
  );
  t.diagnostic(`seed ${seed}: ${ends.join(", ")}`);
});

for (const [name, jump] of [
  ["back by an hour", -3_600_000],
  ["ahead by a day", 86_400_000],
] as const) {
  test(`a clock that is set ${name} in the middle of a stop does not hold it`, async (t) => {
    const preload = pathToFileURL(join(import.meta.dirname, "clock-jumps.ts")).href;
    const home = newHome(t);
    const env = { NODE_OPTIONS: `--import ${preload}`, CLOCK_JUMP: String(jump) };
    const gateway = await runGateway(t, home, { env });
    await isRunning(client(gateway));
    assert.equal(await within(gateway.end("SIGTERM"), "the stop did not end", boundMs), unexpected, gateway.err());
    await goesOn(t, home, gateway);
  });
}

test("a home that a dead machine left, with numbers that belong to others now, is taken as it is and nobody is harmed", async (t) => {
  const home = newHome(t);
  mkdirSync(home, { mode: 0o700 });
  const bystander = start(t, process.execPath, ["-e", "setInterval(() => {}, 1e6)"], {});
  const left = {
    gateway_state: "running",
    desired_state: "running",
    pid: bystander.pid,
    start_time: 1,
    url: "http://127.0.0.1:45671",
    version: "0.0.1",
    started_at: "2020-01-01T00:00:00.000Z",
    updated_at: "2020-01-01T00:00:00.000Z",
  };
  const marker = { target_pid: bystander.pid, target_start_time: 1, written_at: "2020-01-01T00:00:00.000Z" };
  const put = (name: string, value: unknown) =>
    writeFileSync(join(home, name), typeof value === "string" ? value : JSON.stringify(value));
  put("gateway_state.json", left);
  put("gateway.lock", "");
  put(".gateway-planned-stop.json", { ...marker, stopper_pid: 2 });
  put(".gateway-takeover.json", '{"target_pid":');
  put(".restart_pending.json", "\u0000 half a file");
  const stopped = await run(t, home, ["gateway", "stop"]);
  assert.equal(stopped.code, 0, stopped.err);
  put("gateway_state.json", left);
  const gateway = await runGateway(t, home, { words: ["--replace"] });
  assert.equal(stateOf(home).pid, gateway.pid);
  await client(gateway).send("c1", "m1", "hello");
  assert.ok(isAlive(bystander.pid), "whoever has the number now was left alone");
  await until(
    () => existsSync(join(home, ".restart_pending.json")) || existsSync(join(home, ".gateway-planned-stop.json")),
    (there) => !there,
    "what was left is gone",
  );
  assert.equal(await gateway.end("SIGINT"), 0);
  assert.ok(isAlive(bystander.pid));
});

test("a successor whose predecessor died, and whose place another one took, goes away by itself", async (t) => {
  const home = newHome(t);
  // Whatever it starts waits a while first, so that the successor is found before it takes over.
  const wait = "Atomics.wait(new%20Int32Array(new%20SharedArrayBuffer(4)),0,0,3000)";
  const first = await runGateway(t, home, { env: { NODE_OPTIONS: `--import data:text/javascript,${wait}` } });
  signal(first.pid, "SIGUSR1");
  const successor = await until(
    () => processesOf(home).find(({ pid, words }) => pid !== first.pid && words.includes("gateway run"))?.pid,
    (pid) => pid !== undefined,
    "a successor is started",
    1,
  );
  assert.ok(successor !== undefined);
  // It is slow, the one before it dies meanwhile, and a supervisor is quicker.
  signal(successor, "SIGSTOP");
  await first.end("SIGKILL");
  const other = await runGateway(t, home, { port: first.port });
  signal(successor, "SIGCONT");
  const asked = Date.now();
  await until(
    () => isAlive(successor),
    (alive) => !alive,
    "the successor is gone",
  );
  // Whoever stops the gateway now must not find it running again.
  assert.ok(Date.now() - asked < 20_000, `it waited ${Date.now() - asked} ms for a home that is not about to be free`);
  assert.equal(stateOf(home).pid, other.pid);
  assert.equal(await other.end("SIGINT"), 0);
});

test("kill -9 of the one that stays, in the drain of a restart: the home is handed over all the same", async (t) => {
  const home = newHome(t);
  // A port of its own, because whoever comes in a hurry does not know the one of the life before.
  const probe = await runGateway(t, home);
  assert.equal(await probe.end("SIGINT"), 0);
  const { port } = probe;
  const stays = await runGateway(t, home, { port, env: { EVERTURN_GATEWAY__DRAIN_SECONDS: "4" } });
  const ask = client(stays);
  const servedBy = (not: number) =>
    until(
      () => ask.get<{ pid: number; state: string }>("/api/status").catch(() => null),
      (now) => now !== null && now.pid !== not && now.state === "running",
      () => `another one serves; left: ${JSON.stringify(processesOf(home))}`,
    );
  signal(stays.pid, "SIGUSR1");
  const second = (await servedBy(stays.pid))?.pid ?? assert.fail();
  await isRunning(ask);
  signal(second, "SIGUSR1");
  await until(
    () => stateOf(home).gateway_state,
    (state) => state === "draining",
    "it drains",
  );
  await stays.end("SIGKILL");
  await servedBy(second);
  const stopped = await run(t, home, ["gateway", "stop"], { port });
  assert.equal(stopped.code, 0, stopped.err);
  await until(
    () => processesOf(home),
    (left) => left.length === 0,
    "nothing of it runs",
    100,
  );
});
