// What the scheduled task runs, run for real: the arguments of its XML and its script, with the gateway in it. It starts
// the gateway again after a crash and after a restart, and leaves it down after a planned stop. Task Scheduler itself is
// not part of wine; its commands are tested as text beside their source.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
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
  start,
  stateOf,
  taskkill,
  windows,
  windowsPath,
} from "./stage.ts";

windows();

/** A folder as users have them; all but the percent sign, in which wine's shell is not the one of Windows. */
const name = "Bürgers (1) & häuslich!";

/** Its files where an installation puts them, and what Task Scheduler would start. */
async function runTask(t: TestContext, home: string): Promise<Started> {
  const user = { name: "somebody", uid: null, home: "C:\\users\\somebody" };
  const passOn = { MARK: "50% & more" };
  const place = { home: windowsPath(home), name: "everturn", node: nodeFile, main: mainFile, passOn, user };
  const files = windowsService(place).files(0);
  for (const file of files) await writeWhole({ ...file, path: ownPath(file.path) });
  const [xml] = files;
  const given = /<Arguments>(.*)<\/Arguments>/.exec(xml?.text ?? "")?.[1] ?? "";
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

test("the task starts the gateway again after a crash and after a restart, and leaves it down after a stop", async (t) => {
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

  const stopped = await ended(everturn(t, home, ["gateway", "stop"]));
  assert.equal(stopped.code, 0, `${stopped.out}\n${stopped.err}`);
  assert.equal((await ended(task)).code, 0, "the task is over");
  const state = await stateOf(home);
  assert.deepEqual([state.gateway_state, state.desired_state], ["stopped", "stopped"]);
});

test("a wrong configuration ends the task as if all were well, and the reason stands beside the script", async (t) => {
  const home = newHome(t, "nonsense: true\n", name);
  const task = await runTask(t, home);
  assert.equal((await ended(task)).code, 0);
  assert.match(readFileSync(join(home, "task", "task.log"), "utf8"), /nonsense is not known/);
});
