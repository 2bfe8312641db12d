// The address of the next gateway belongs to another program, or nobody comes at all: the old gateway goes on where it
// can, and no command waits for what will never be.

import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { client } from "./client.ts";
import { placeOf } from "./lives.ts";
import {
  type Settings,
  atEnd,
  environmentOf,
  isAlive,
  newHome,
  root,
  run,
  runGateway,
  signal,
  spawnGateway,
  start,
  stateOf,
  until,
  within,
} from "./stage.ts";

/** Much shorter than the patience for a gateway that still starts. */
const soonMs = 60_000;
/** The port comes from the file of the home. */
const fromFile: Settings = { env: { EVERTURN_CONTROL__PORT: "" } };

async function takenPort(t: TestContext): Promise<number> {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  atEnd(t, () => holder.close());
  return (holder.address() as AddressInfo).port;
}

function configure(home: string, lines: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "config.yaml"), lines);
}

/** A port that was free a moment ago, so that two homes do not meet at the usual one. */
async function freePort(): Promise<number> {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  const { port } = holder.address() as AddressInfo;
  await new Promise((resolve) => holder.close(resolve));
  return port;
}

/** A gateway under a parent that has the name of s6's own, and what that shell does when it has ended. */
async function underShell(t: TestContext, home: string, settings: Settings, then = "exit $?") {
  const parent = join(dirname(home), "s6-supervise");
  symlinkSync("/bin/sh", parent);
  const shell = spawnGateway(t, home, { ...settings, through: [parent, "-c", `"$0" "$@"; ${then}`] });
  await until(shell.out, (said) => said.includes("everturn link"), "it runs");
  return shell;
}

test("a restart into an address that cannot be used is refused with the reason, and the gateway goes on", async (t) => {
  const home = newHome(t);
  configure(home, `control:\n  port: ${await freePort()}\n`);
  const gateway = await runGateway(t, home, fromFile);
  const port = await takenPort(t);
  for (const [config, why] of [
    [`control:\n  port: ${port}\n`, new RegExp(`Another program already uses 127\\.0\\.0\\.1:${port}`)],
    ["control:\n  host: 10.254.253.252\n", /has no address 10\.254\.253\.252|control\.host/],
  ] as const) {
    configure(home, config);
    const refused = await within(run(t, home, ["gateway", "restart"], fromFile), "it waits for nobody", soonMs);
    assert.equal(refused.code, 1);
    assert.match(refused.err, why);
    assert.deepEqual([stateOf(home).pid, stateOf(home).gateway_state], [gateway.pid, "running"]);
  }
  configure(home, `control:\n  port: ${await freePort()}\n`);
  const moved = await run(t, home, ["gateway", "restart"], fromFile);
  assert.equal(moved.code, 0, moved.err);
  assert.notEqual(stateOf(home).url, gateway.url);
  assert.equal((await run(t, home, ["gateway", "stop"], fromFile)).code, 0);
});

test("under a supervisor such a restart is refused by the gateway that runs", async (t) => {
  const home = newHome(t);
  configure(home, `control:\n  port: ${await freePort()}\n`);
  const shell = await underShell(t, home, fromFile);
  const { pid } = stateOf(home);
  configure(home, `control:\n  port: ${await takenPort(t)}\n`);
  signal(pid, "SIGUSR1");
  await until(shell.err, (said) => said.includes("goes on as before"), "the log says so");
  assert.equal(stateOf(home).gateway_state, "running");
  signal(pid, "SIGINT");
  assert.equal(await within(shell.exit, "it did not end", soonMs), 0);
});

test("a restart after which nobody comes is told soon, and why the last one ended", async (t) => {
  const home = newHome(t);
  await underShell(t, home, {});
  const restarted = await within(run(t, home, ["gateway", "restart"]), "it waits for nobody", soonMs);
  assert.equal(restarted.code, 1);
  assert.match(restarted.err, /The gateway did not start\.\nNobody serves .* any more \(.*\)\. `everturn logs`/);
});

test("a restart after which the next one fails is told at once, with what that one said", async (t) => {
  const home = newHome(t);
  const port = await takenPort(t);
  await underShell(t, home, {}, `EVERTURN_CONTROL__PORT=${port} "$0" "$@"`);
  const restarted = await within(run(t, home, ["gateway", "restart"]), "it waits for nobody", soonMs);
  assert.equal(restarted.code, 1);
  assert.match(restarted.err, new RegExp(`did not start\\.\nAnother program already uses 127\\.0\\.0\\.1:${port}`));
});

test("a start that meets a gateway which is about to end waits for that, and then starts one", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home, { env: { EVERTURN_GATEWAY__DRAIN_SECONDS: "3" } });
  await client(gateway).send("c1", "m1", "count to 50 slowly");
  await until(
    () => client(gateway).get<{ running: readonly unknown[] }>("/api/status"),
    ({ running }) => running.length === 1,
    "the turn runs",
  );
  const stopping = run(t, home, ["gateway", "stop"]);
  await until(
    () => stateOf(home).gateway_state,
    (state) => state === "draining",
    "it drains",
  );
  const words = [join(root, "src/main.ts"), "gateway", "start"];
  const starting = start(t, process.execPath, words, { cwd: root, env: environmentOf(home) });
  assert.equal((await stopping).code, 0);
  assert.equal(await within(starting.exit, "it did not start", soonMs), 0, starting.err());
  assert.match(starting.out(), /The gateway runs: pid \d+/);
  assert.match(starting.err(), new RegExp(`pid ${gateway.pid}\\) is stopping; the next one starts`));
  const { pid, desired_state } = stateOf(home);
  assert.ok(isAlive(pid) && pid !== gateway.pid);
  assert.equal(desired_state, "running");
  assert.equal((await client(placeOf(home)).call("/readyz")).status, 200);
  assert.equal((await run(t, home, ["gateway", "stop"])).code, 0);
});
