// The stop of a scheduled task with a real gateway: nothing but its marker asks, as on Windows. schtasks and taskkill are
// stand-ins that write down what they are given, and kill where the real ones would. test/windows has the real system.

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { pathsIn } from "../../src/config/paths.ts";
import type { Run } from "../../src/host/command.ts";
import { type Lookout, systemLookout } from "../../src/host/ending.ts";
import { runningGateway } from "../../src/services/announce.ts";
import { newMarker, writeMarker } from "../../src/host/markers.ts";
import { stopTask } from "../../src/services/windows.ts";
import { type Client, client } from "./client.ts";
import { type Gateway, newHome, runGateway, signal, stateOf, until } from "./stage.ts";

function standIns() {
  const calls: string[] = [];
  const run: Run = async (program, words) => {
    calls.push([program, ...words].join(" "));
    const pid = Number(words.at(-1));
    if (words.includes("/F")) signal(pid, "SIGKILL");
    return { code: 0, out: "", err: "" };
  };
  return { calls, run };
}

/** What `gateway stop` does for a task. */
async function stop(home: string, run: Run, lookout: Lookout = systemLookout) {
  const paths = pathsIn(home);
  const target = await runningGateway(paths);
  assert.ok(target !== null);
  const write = () => writeMarker(paths.plannedStop, newMarker("plannedStop", target, process.pid, Date.now()));
  const troubles: string[] = [];
  const told = { label: "everturn", target, drainSeconds: 0, onTrouble: (what: string) => void troubles.push(what) };
  const ended = await stopTask({ ...told, writeMarker: write }, run, lookout);
  assert.deepEqual(troubles, []);
  return { ended, pid: target.pid };
}

/** A conversation with a past, and a turn in the middle of its work. */
async function busy(gateway: Gateway): Promise<Client> {
  const ask = client(gateway);
  await ask.send("c1", "m1", "first");
  await until(
    () => ask.transcript("c1"),
    (all) => all.length === 2,
    "the first message is answered",
  );
  await ask.send("c1", "m2", "count to 6 slowly");
  await until(
    () => ask.get<{ running: readonly { steps: number }[] }>("/api/status"),
    ({ running }) => (running[0]?.steps ?? 0) >= 2,
    "the count is under way",
  );
  return ask;
}

function marksIn(home: string): readonly unknown[] {
  const db = new DatabaseSync(join(home, "state.db"), { readOnly: true });
  try {
    const rows = db.prepare("SELECT standing, json_extract(resume, '$.reason') AS reason FROM sessions").all();
    return rows.map((row) => [row["standing"], row["reason"]]);
  } finally {
    db.close();
  }
}

async function assertWentOn(t: TestContext, home: string): Promise<void> {
  const next = await runGateway(t, home);
  const all = await until(
    () => client(next).transcript("c1"),
    (seen) => seen.length >= 4,
    "the count is answered",
  );
  assert.deepEqual(
    all.map(({ role, text }) => [role, text]),
    [
      ["user", "first"],
      ["assistant", "You said: first"],
      ["user", "count to 6 slowly"],
      ["assistant", "1, 2, 3, 4, 5, 6\n\nCounted to 6. I was interrupted once and went on where I was."],
    ],
  );
  assert.equal(await next.end("SIGINT"), 0);
  assert.deepEqual(marksIn(home), [["active", null]], "a turn that ended takes its mark away");
}

test("S100 S101 S109 a task's gateway ends by its marker alone: marks written, history kept, and it goes on", async (t) => {
  const home = newHome(t);
  const first = await runGateway(t, home);
  await busy(first);
  const { calls, run } = standIns();
  const { ended, pid } = await stop(home, run);
  assert.equal(ended.type, "ended");
  assert.equal(await first.exit, 0, first.err());
  assert.deepEqual(calls, ["schtasks /End /TN everturn", `taskkill /T /FI PID eq ${pid} /FI IMAGENAME eq node.exe`]);
  assert.equal(stateOf(home).gateway_state, "stopped");
  assert.deepEqual(marksIn(home), [["active", "shutdown_timeout"]]);
  await assertWentOn(t, home);
});

test("S102 S109 one that hangs is killed with its tree after the whole patience, and loses nothing either", async (t) => {
  const home = newHome(t);
  const first = await runGateway(t, home);
  await busy(first);
  signal(first.pid, "SIGSTOP");
  const { calls, run } = standIns();
  // Its half minute passes a hundred times as fast, but a slow machine has its time to end a killed process.
  let killedAt = Number.POSITIVE_INFINITY;
  const hasty: Lookout = {
    ...systemLookout,
    now: () => performance.now() + 99 * Math.min(performance.now(), killedAt),
  };
  const kill: Run = (program, words, ...rest) => {
    if (words.includes("/F")) killedAt = performance.now();
    return run(program, words, ...rest);
  };
  const { ended, pid } = await stop(home, kill, hasty);
  assert.ok(ended.type === "forced" && ended.waitedMs >= 30_000, JSON.stringify(ended));
  assert.equal(await first.exit, "SIGKILL");
  assert.deepEqual(calls, ["schtasks /End /TN everturn", `taskkill /T /F /PID ${pid}`]);
  await assertWentOn(t, home);
});
