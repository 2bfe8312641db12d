// How a running gateway is asked to end, by signals, by markers, by both, at awkward moments: what it answers to whoever
// started it, what it leaves in its files and in its store, and what it writes in its log.

import assert from "node:assert/strict";
import { existsSync, readFileSync, symlinkSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Boot } from "../../src/core/recovery.ts";
import { newMarker, writeMarker } from "../../src/host/markers.ts";
import { openSqliteArchive } from "../../src/stores/sqlite/index.ts";
import { client } from "./client.ts";
import {
  type Gateway,
  type State,
  atEnd,
  newHome,
  runGateway,
  signal,
  spawnGateway,
  stateOf,
  until,
  within,
} from "./stage.ts";

/** Far more than a stop needs on any machine, far less than anything that waits for a timeout to end it. */
const quickMs = 20_000;

async function boots(home: string): Promise<readonly Boot[]> {
  const archive = openSqliteArchive(join(home, "state.db"));
  try {
    return await archive.lastBoots(10);
  } finally {
    archive.close();
  }
}

async function marks(home: string): Promise<readonly (string | null)[]> {
  const archive = openSqliteArchive(join(home, "state.db"));
  try {
    return (await archive.sessions({ limit: 10 })).map((one) => one.resume?.reason ?? null);
  } finally {
    archive.close();
  }
}

/** A gateway with a turn that is in the middle of its work. */
async function busy(t: TestContext, home: string, settings: Parameters<typeof runGateway>[2] = {}): Promise<Gateway> {
  const gateway = await runGateway(t, home, settings);
  const ask = client(gateway);
  await ask.send("c1", "m1", "count to 50 slowly");
  await until(
    () => ask.get<{ running: readonly { steps: number }[] }>("/api/status"),
    ({ running }) => running.length === 1,
    "the turn runs",
  );
  return gateway;
}

const target = (home: string) => ({ pid: stateOf(home).pid, startTime: stateOf(home).start_time });

async function announce(home: string, kind: "plannedStop" | "takeOver"): Promise<void> {
  const file = kind === "plannedStop" ? ".gateway-planned-stop.json" : ".gateway-takeover.json";
  await writeMarker(join(home, file), newMarker(kind, target(home), process.pid, Date.now()));
}

/** Every state that the file says, as far as one can look; and a last look. */
function statesOf(t: TestContext, home: string): () => readonly string[] {
  const seen: string[] = [];
  const look = () => {
    if (!existsSync(join(home, "gateway_state.json"))) return;
    const { gateway_state } = stateOf(home);
    if (seen.at(-1) !== gateway_state) seen.push(gateway_state);
  };
  const watching = watch(home, look);
  atEnd(t, () => watching.close());
  look();
  return () => {
    look();
    return seen;
  };
}

const phasesOf = (boot: Boot | undefined) => new Set(boot?.story.phases?.map((one) => one.name));

test("S9 S10 S27 S28 S65 S114 a marker alone drives the path of SIGTERM; it decides code and state, never the marks", async (t) => {
  const ways = [
    { way: "marker", code: 0, kind: "planned", by: "marker", state: "stopped", desired: "stopped" },
    { way: "SIGTERM", code: 1, kind: "unexpected", by: "signal", state: "running", desired: "running" },
    { way: "both", code: 0, kind: "planned", by: "marker", state: "stopped", desired: "stopped" },
  ] as const;
  const stories: { readonly way: string; readonly phases: ReadonlySet<string> }[] = [];
  for (const { way, code, kind, by, state, desired } of ways) {
    const home = newHome(t);
    const gateway = await busy(t, home);
    const states = statesOf(t, home);
    if (way !== "SIGTERM") await announce(home, "plannedStop");
    if (way !== "marker") signal(gateway.pid, "SIGTERM");
    assert.equal(await within(gateway.exit, `${way} did not end it`, quickMs), code, gateway.err());
    const left = stateOf(home);
    assert.deepEqual([left.gateway_state, left.desired_state, left.url], [state, desired, null], way);
    assert.equal(states().at(-1), state);
    if (state === "running") assert.ok(!states().includes("stopped"), states().join(", "));
    assert.equal(existsSync(join(home, ".gateway-planned-stop.json")), false, "the marker is used up");
    assert.deepEqual(await marks(home), ["shutdown_timeout"], way);
    const [boot] = await boots(home);
    assert.deepEqual([boot?.stop?.class, boot?.stop?.by, boot?.stop?.clean], [kind, by, true], way);
    const context = boot?.stop?.context as { readonly signal: string; readonly pid: number };
    assert.equal(context.pid, gateway.pid);
    // Marker and signal are one request; whichever is noticed first is its witness.
    const seen = { marker: ["UNKNOWN"], SIGTERM: ["SIGTERM"], both: ["UNKNOWN", "SIGTERM"] }[way];
    assert.ok(seen.includes(context.signal), `${way}: ${context.signal}`);
    stories.push({ way, phases: phasesOf(boot) });
    const line = new RegExp(`asked to stop \\(${kind}, by ${by}\\): signal=\\S+ .*parent_pid=\\d+ .*parent_cmdline=`);
    assert.equal(gateway.err().match(new RegExp(line, "g"))?.length, 1, gateway.err());
  }
  for (const { way, phases } of stories) assert.deepEqual(phases, stories[0]?.phases, way);
});

test("a take-over marker and the signal, in either order, are one request", async (t) => {
  const home = newHome(t);
  const gateway = await busy(t, home, { env: { EVERTURN_GATEWAY__DRAIN_SECONDS: "60" } });
  await announce(home, "takeOver");
  signal(gateway.pid, "SIGTERM");
  const ask = client(gateway);
  const { draining } = await until(
    () => ask.get<{ draining: { class: string; running: number; until: number } | null }>("/api/status"),
    (status) => status.draining !== null,
    "it drains",
  );
  assert.deepEqual([draining?.class, draining?.running], ["take-over", 1]);
  // More than a second after the drain began, another signal ends it early; the class stays.
  await until(
    () => {
      signal(gateway.pid, "SIGINT");
      return gateway.child.exitCode;
    },
    (code) => code !== null,
    "impatience is heard",
    300,
  );
  assert.equal(await gateway.exit, 79, gateway.err());
  const [boot] = await boots(home);
  assert.equal(boot?.stop?.class, "take-over");
  assert.deepEqual(await marks(home), ["restart_timeout"]);
});

test("S66 every phase of a stop is in the log with its time, to the close of the database and the total", async (t) => {
  const home = newHome(t);
  const gateway = await busy(t, home, { env: { EVERTURN_GATEWAY__DRAIN_SECONDS: "0.2" } });
  assert.equal(await within(gateway.end("SIGTERM"), "it did not end", quickMs), 1);
  type Line = { readonly what: string; readonly facts?: Readonly<Record<string, unknown>> };
  const lines = gateway
    .err()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line)
    .filter(({ what }) => what.startsWith("stop: "));
  for (const { what, facts } of lines) assert.equal(typeof facts?.["ms"], "number", what);
  const names = lines.map(({ what }) => what.slice("stop: ".length));
  const wanted = ["notify", "drain", "disconnect", "all disconnected", "final kill", "database close", "total"];
  for (const name of wanted) assert.ok(names.includes(name), `${name} is missing in ${names.join(", ")}`);
  assert.deepEqual(names.slice(-2), ["database close", "total"]);
  // The page, the terminal and the API.
  assert.equal(names.filter((name) => name === "disconnect").length, 3, "each platform by itself");
  const drain = lines.find(({ what }) => what === "stop: drain")?.facts;
  assert.deepEqual([drain?.["running"], drain?.["left"], drain?.["timed_out"]], [1, 1, true]);
  // What storing the stop took is not part of it, so on a slow machine little is left of the window.
  assert.equal(typeof drain?.["seconds"], "number");
});

test("SIGTERM twice, at once, is one request: the drain goes on", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home, { env: { EVERTURN_GATEWAY__DRAIN_SECONDS: "60" } });
  const ask = client(gateway);
  await ask.send("c1", "m1", "count to 4 slowly");
  await until(
    () => ask.get<{ running: readonly unknown[] }>("/api/status"),
    ({ running }) => running.length === 1,
    "the turn runs",
  );
  signal(gateway.pid, "SIGTERM");
  signal(gateway.pid, "SIGTERM");
  assert.equal(await within(gateway.exit, "it did not end", quickMs), 1);
  assert.deepEqual(await marks(home), [null], "the turn has finished inside the window");
  const again = await runGateway(t, home, { port: gateway.port });
  assert.match((await ask.transcript("c1"))[1]?.text ?? "", /Counted to 4 without interruption\.$/);
  assert.equal(await again.end(), 0);
});

test("a signal during the start ends it as at any other time", async (t) => {
  const home = newHome(t);
  for (const { name, code } of [
    { name: "SIGTERM", code: 1 },
    { name: "SIGINT", code: 0 },
  ] as const) {
    const starting = spawnGateway(t, home);
    // It answers for itself from the moment it holds the home, and says so in the file.
    await until(
      () => existsSync(join(home, "gateway_state.json")) && stateOf(home).pid === starting.pid,
      (holds) => holds,
      "it holds the home",
      1,
    );
    signal(starting.pid, name);
    assert.equal(await within(starting.exit, `${name} during the start did not end it`, quickMs), code, starting.err());
    const [boot] = await boots(home);
    assert.equal(boot?.stop?.by, "signal");
  }
  const gateway = await runGateway(t, home);
  assert.equal(await gateway.end(), 0);
});

/** A parent that has the name of s6's own, so that the gateway takes it for its supervisor. */
function underS6(home: string): readonly string[] {
  const parent = join(dirname(home), "s6-supervise");
  symlinkSync("/bin/sh", parent);
  // Two commands, because a shell with a single one becomes it.
  return [parent, "-c", '"$0" "$@"; exit $?'];
}

const runningOf = (home: string): State | null => {
  if (!existsSync(join(home, "gateway_state.json"))) return null;
  const state = stateOf(home);
  return state.gateway_state === "running" && state.url !== null ? state : null;
};

for (const way of ["signal", "chat"] as const)
  test(`S23 S29 a restart asked by ${way} under a supervisor: 75, \`stopped\`, and a note for the homes only if nobody asked in a chat`, async (t) => {
    const home = newHome(t);
    const shell = spawnGateway(t, home, { through: underS6(home) });
    const state = await until(
      () => runningOf(home),
      (found) => found !== null,
      "it runs",
    );
    await until(shell.out, (said) => said.includes("everturn link"), "it says where it is");
    assert.doesNotMatch(shell.out(), /token=|#link=/, "what is printed lets no one in");
    const token = readFileSync(join(home, "control.token"), "utf8").trim();
    if (way === "signal") signal(state?.pid ?? 0, "SIGUSR1");
    else await client({ url: state?.url ?? "", token }).send("c1", "m1", "/restart");
    assert.equal(await within(shell.exit, "it did not end", quickMs), 75, shell.err());
    const { gateway_state, desired_state, restart_requested } = stateOf(home);
    assert.deepEqual([gateway_state, desired_state, restart_requested], ["stopped", "running", true]);
    const note = join(home, ".restart_pending.json");
    assert.equal(existsSync(note), way === "signal");
    const next = await runGateway(t, home);
    await until(
      () => existsSync(note),
      (isThere) => !isThere,
      "the note is used up",
    );
    if (way === "chat") {
      const seen = await until(
        () => client(next).transcript("c1"),
        (all) => all.length >= 2,
        "the restart is answered",
      );
      assert.match(seen[1]?.text ?? "", /^Restarted\. /);
      assert.equal(seen.length, 2);
    }
    assert.equal(await next.end(), 0);
  });
