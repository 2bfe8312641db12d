// A restart is under way, and somebody thinks better of it; or whoever should go on dies while it waits. Real processes,
// looked at from outside: who is left, what the files say, what whoever started them gets to know.

import assert from "node:assert/strict";
import { existsSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { newMarker, writeMarker } from "../../src/host/markers.ts";
import { client } from "./client.ts";
import { next, placeOf, processesOf, runDetached } from "./lives.ts";
import {
  type Gateway,
  isAlive,
  newHome,
  run,
  runGateway,
  signal,
  spawnGateway,
  stateOf,
  until,
  within,
} from "./stage.ts";

const quickMs = 60_000;
/** Long enough for a command to come in between. */
const drain = { EVERTURN_GATEWAY__DRAIN_SECONDS: "4" };

const modes = ["in the foreground", "with one that stays", "detached"] as const;
type Mode = (typeof modes)[number];

/** A gateway in the drain of a restart, with a successor that waits; the answer is who serves still. */
async function restarting(t: TestContext, home: string, mode: Mode): Promise<{ gateway: Gateway; pid: number }> {
  const begin = mode === "detached" ? runDetached : runGateway;
  const gateway = await begin(t, home, { env: drain });
  if (mode === "with one that stays") {
    signal(gateway.pid, "SIGUSR1");
    await next(home, gateway.pid);
  }
  const { pid } = stateOf(home);
  await client(gateway).send("c1", "m1", "count to 50 slowly");
  await until(
    () => client(gateway).get<{ running: readonly unknown[] }>("/api/status"),
    ({ running }) => running.length === 1,
    "the turn runs",
  );
  signal(pid, "SIGUSR1");
  await until(
    () => stateOf(home).gateway_state,
    (state) => state === "draining",
    "it drains",
  );
  return { gateway, pid };
}

function gone(home: string): Promise<unknown> {
  return until(
    () => processesOf(home),
    (found) => found.length === 0,
    "nobody is left",
  );
}

function assertStopped(home: string): void {
  const { gateway_state, desired_state, restart_requested } = stateOf(home);
  assert.deepEqual([gateway_state, desired_state, restart_requested], ["stopped", "stopped", false]);
  assert.equal(existsSync(join(home, ".restart_pending.json")), false, "nobody is told of a restart that was none");
  assert.equal(existsSync(join(home, ".gateway-planned-stop.json")), false);
}

for (const mode of modes)
  test(`${mode}: \`gateway stop\` in the drain of a restart wins over the return`, async (t) => {
    const home = newHome(t);
    const { gateway, pid } = await restarting(t, home, mode);
    const stopped = await run(t, home, ["gateway", "stop"]);
    assert.equal(stopped.code, 0, stopped.err);
    assert.match(stopped.out, new RegExp(`pid ${pid}\\) has stopped`));
    assert.equal(isAlive(pid), false);
    assert.equal(await within(gateway.exit, "it did not end", quickMs), 0, gateway.err());
    await gone(home);
    assertStopped(home);
  });

for (const mode of modes)
  test(`${mode}: Ctrl-C in the drain of a restart leaves nobody, and says that none is wanted`, async (t) => {
    const home = newHome(t);
    const { gateway, pid } = await restarting(t, home, mode);
    signal(pid, "SIGINT");
    assert.equal(await within(gateway.exit, "it did not end", quickMs), 0, gateway.err());
    await gone(home);
    assertStopped(home);
  });

test("a marker alone, as on a system without signals, takes the return back too", async (t) => {
  const home = newHome(t);
  const { gateway, pid } = await restarting(t, home, "in the foreground");
  const target = { pid, startTime: stateOf(home).start_time };
  await writeMarker(
    join(home, ".gateway-planned-stop.json"),
    newMarker("plannedStop", target, process.pid, Date.now()),
  );
  assert.equal(await within(gateway.exit, "it did not end", quickMs), 0, gateway.err());
  await gone(home);
  assertStopped(home);
});

test("under a supervisor a restart that is taken back ends with 0, so that nobody starts it again", async (t) => {
  const home = newHome(t);
  const parent = join(dirname(home), "s6-supervise");
  symlinkSync("/bin/sh", parent);
  const shell = spawnGateway(t, home, { env: drain, through: [parent, "-c", '"$0" "$@"; exit $?'] });
  await until(shell.out, (said) => said.includes("everturn link"), "it says where it is");
  const { pid } = stateOf(home);
  await client(placeOf(home)).send("c1", "m1", "count to 50 slowly");
  signal(pid, "SIGUSR1");
  await until(
    () => stateOf(home).gateway_state,
    (state) => state === "draining",
    "it drains",
  );
  signal(pid, "SIGINT");
  assert.equal(await within(shell.exit, "it did not end", quickMs), 0, shell.err());
  assertStopped(home);
});

for (const mode of modes)
  test(`${mode}: a successor that dies while it waits is replaced before the home is given up`, async (t) => {
    const home = newHome(t);
    const { gateway, pid } = await restarting(t, home, mode);
    const waiting = processesOf(home).filter((one) => one !== pid && one !== gateway.pid);
    assert.equal(waiting.length, 1);
    for (const one of waiting) signal(one, "SIGKILL");
    const after = await next(home, pid);
    assert.ok(!waiting.includes(after));
    signal(after, "SIGINT");
    assert.equal(await within(gateway.exit, "it did not end", quickMs), 0, gateway.err());
    await gone(home);
  });
