// What the scheduled task runs, run for real: the arguments of its XML and its script, with the gateway in it. It starts
// the gateway again after a crash and after a restart, and leaves it down after a planned stop. Task Scheduler itself is
// not part of wine; its commands are tested as text beside their source.

import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { writeWhole } from "../../src/services/files.ts";
import { windowsService } from "../../src/services/windows.ts";
import { client } from "../process/client.ts";
import { atEnd, until } from "../process/stage.ts";
import {
  type Started,
  ended,
  everturn,
  mainFile,
  newHome,
  nodeFile,
  ownPath,
  runGateway,
  start,
  stateOf,
  taskkill,
  windows,
  windowsPath,
} from "./stage.ts";

windows();

/** A folder as users have them; all but the percent sign, in which wine's shell is not the one of Windows. */
const name = "Bürgers (1) & häuslich!";

/** Puts the files of the task where an installation puts them; returns the task itself. */
async function writeTask(home: string): Promise<string> {
  const user = { name: "somebody", uid: null, home: "C:\\users\\somebody" };
  const passOn = { MARK: "50% & more" };
  const place = { home: windowsPath(home), name: "everturn", node: nodeFile, main: mainFile, passOn, user };
  const files = windowsService(place).files({ drainSeconds: 0 });
  for (const file of files) await writeWhole({ ...file, path: ownPath(file.path) });
  return files[0]?.text ?? "";
}

/** What Task Scheduler would start. */
async function runTask(t: TestContext, home: string): Promise<Started> {
  const xml = await writeTask(home);
  const given = /<Arguments>(.*)<\/Arguments>/.exec(xml)?.[1] ?? "";
  const words = given.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  // As the scheduler does it: one program, and the rest of the line as it stands.
  const scheduler = `const { spawn } = require("node:child_process");
    const task = spawn("cmd.exe", [process.env.TASK], { windowsVerbatimArguments: true, stdio: "ignore" });
    task.on("exit", (code) => process.exit(code));`;
  const task = start(t, home, [nodeFile, "-e", scheduler], { TASK: words });
  atEnd(t, async () => {
    // Whatever became of the test, the script must not start another one.
    writeFileSync(join(home, "config.yaml"), "nonsense: true\n");
    await ended(everturn(t, home, ["gateway", "stop"]));
  });
  return task;
}

/** The gateway that serves the home now, other than those before. */
async function nextGateway(home: string, before: readonly number[]) {
  const state = await until(
    () => stateOf(home),
    (seen) => seen.gateway_state === "running" && seen.url !== null && !before.includes(seen.pid),
    "the next gateway runs",
  );
  const token = readFileSync(join(home, "control.token"), "utf8").trim();
  return { pid: state.pid, url: state.url ?? "", token };
}

test("S100 S101 the task starts the gateway again after a crash and after a restart, and leaves it down after a stop that forces nothing", async (t) => {
  const home = newHome(t, "", name);
  const task = await runTask(t, home);
  const first = await nextGateway(home, []);
  await client(first).send("c1", "m1", "count to 40 slowly");
  await taskkill(t, home, "/F", "/PID", String(first.pid));

  const second = await nextGateway(home, [first.pid]);
  const restarted = await ended(everturn(t, home, ["gateway", "restart"]));
  assert.equal(restarted.code, 0, `${restarted.out}\n${restarted.err}`);

  const third = await nextGateway(home, [first.pid, second.pid]);
  const all = await until(
    () => client(third).transcript("c1"),
    (seen) => seen.length >= 2,
    "the count is answered",
  );
  assert.match(all[1]?.text ?? "", /Counted to 40\. I was interrupted 2 times/);

  const stopped = await ended(everturn(t, home, ["gateway", "stop", "--json"]));
  assert.equal(stopped.code, 0, `${stopped.out}\n${stopped.err}`);
  assert.equal(lastEvent(stopped.out)["forced"], false);
  assert.equal((await ended(task)).code, 0, "the task is over");
  const state = await stateOf(home);
  assert.deepEqual([state.gateway_state, state.desired_state], ["stopped", "stopped"]);
});

function lastEvent(out: string): Record<string, unknown> {
  return JSON.parse(out.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
}

/** The processes of this system that run the gateway of a home. */
function processesOf(home: string): readonly number[] {
  const isIts = (pid: string): boolean => {
    try {
      const [words, env] = ["cmdline", "environ"].map((name) => readFileSync(`/proc/${pid}/${name}`, "utf8"));
      return words?.includes("gateway\0run") === true && env?.includes(`EVERTURN_HOME=${windowsPath(home)}\0`) === true;
    } catch (error) {
      // It ended in between.
      if (error instanceof Error) return false;
      throw error;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isIts(name))
    .map(Number);
}

test("S102 S109 a gateway of a task that hangs is killed by force after the whole patience, and its turn goes on", async (t) => {
  const home = newHome(t);
  await writeTask(home);
  const first = await runGateway(t, home);
  await client(first).send("c1", "m1", "count to 30 slowly");
  await until(
    () => client(first).get<{ running: readonly { steps: number }[] }>("/api/status"),
    ({ running }) => (running[0]?.steps ?? 0) >= 2,
    "the count is under way",
  );
  const hanging = processesOf(home);
  assert.notDeepEqual(hanging, []);
  for (const pid of hanging) process.kill(pid, "SIGSTOP");
  const stopped = await ended(everturn(t, home, ["gateway", "stop", "--json"]));
  assert.equal(stopped.code, 0, `${stopped.out}\n${stopped.err}`);
  const { event, forced, waitedMs } = lastEvent(stopped.out);
  assert.deepEqual([event, forced], ["stopped", true]);
  assert.ok(Number(waitedMs) >= 30_000, `${String(waitedMs)} ms`);
  await until(
    () => processesOf(home),
    (left) => left.length === 0,
    "nothing of it is left",
  );
  const next = await runGateway(t, home);
  const all = await until(
    () => client(next).transcript("c1"),
    (seen) => seen.length >= 2,
    "the count is answered",
  );
  assert.match(all[1]?.text ?? "", /Counted to 30\. I was interrupted once/);
});

test("a wrong configuration ends the task as if all were well, and the reason stands beside the script", async (t) => {
  const home = newHome(t, "nonsense: true\n", name);
  const task = await runTask(t, home);
  assert.equal((await ended(task)).code, 0);
  assert.match(readFileSync(join(home, "task", "task.log"), "utf8"), /nonsense is not known/);
});
