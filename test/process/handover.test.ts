// One gateway hands over to the next without a supervisor: restarts in the foreground, twice, in vain, at awkward moments,
// and take-overs. Real processes, looked at from outside: who serves, who stays, what the terminal gets to know.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { client } from "./client.ts";
import { next, processesOf, runDetached } from "./lives.ts";
import {
  type Started,
  atEnd,
  endWhoeverServes,
  environmentOf,
  isAlive,
  newHome,
  root,
  runGateway,
  signal,
  spawnGateway,
  start,
  stateOf,
  until,
  whenReady,
  within,
} from "./stage.ts";

const quickMs = 30_000;

/** As people type it, in a session of its own: the negative of its pid is all that a terminal would tell of Ctrl-C. */
function npmStart(t: TestContext, home: string): Started {
  const npm = start(t, "npm", ["start"], { cwd: root, env: environmentOf(home), detached: true });
  npm.child.stdin?.end();
  atEnd(t, () => endWhoeverServes(home));
  return npm;
}

test("`npm start`: /restart in a chat comes back by itself, twice, without a chain; Ctrl-C then stops everything", async (t) => {
  const home = newHome(t);
  const npm = npmStart(t, home);
  const ask = client(await whenReady(npm));
  let pid = stateOf(home).pid;
  const first = pid;
  await ask.send("slow", "s1", "count to 6 slowly");
  for (const round of [1, 2]) {
    assert.equal(await ask.send("c1", `r${round}`, "/restart"), "accepted");
    pid = await next(home, pid);
    assert.equal(await ask.send("c1", `r${round}`, "/restart"), "duplicate", "asked again, it is the same request");
    const seen = await until(
      () => ask.transcript("c1"),
      (all) => all.length >= 2 * round,
      "the restart is answered where it was asked",
    );
    assert.equal(seen.length, 2 * round);
    assert.match(seen.at(-1)?.text ?? "", /^Restarted\. /);
    const all = await until(
      () => processesOf(home),
      (found) => found.length === 2,
      "only the one that stays and the one that serves are left",
    );
    assert.deepEqual(new Set(all), new Set([first, pid]));
  }
  assert.equal(stateOf(home).pid, pid, "nothing restarts again by itself");
  await until(npm.out, (said) => /Took over in \d+ ms\./.test(said), "it says how long nobody listened");
  const slow = await until(
    () => ask.transcript("slow"),
    (all) => all.length >= 2,
    "what was interrupted is answered",
  );
  assert.match(slow[1]?.text ?? "", /^1, 2, 3, 4, 5, 6\n/);
  assert.equal(slow.length, 2);
  signal(-npm.pid, "SIGINT");
  await within(npm.exit, "npm did not end", quickMs);
  await until(
    () => processesOf(home),
    (found) => found.length === 0,
    "everything is gone",
  );
  assert.deepEqual([stateOf(home).gateway_state, stateOf(home).desired_state], ["stopped", "stopped"]);
});

test("after a restart SIGTERM to the pid of `npm start` still stops the gateway, and its code is passed on", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  signal(gateway.pid, "SIGUSR1");
  const pid = await next(home, gateway.pid);
  assert.equal(await within(gateway.end("SIGTERM"), "the one that stays did not end", quickMs), 1);
  assert.equal(isAlive(pid), false);
  const npm = npmStart(t, home);
  await whenReady(npm);
  const before = stateOf(home).pid;
  signal(before, "SIGUSR1");
  const after = await next(home, before);
  await within(npm.end("SIGTERM"), "npm did not end", quickMs);
  await until(
    () => isAlive(after),
    (alive) => !alive,
    "the gateway is gone",
  );
});

/** The launcher as an old Node runs it; the gateway gets the Node that was installed along. */
function launch(t: TestContext, home: string): Started {
  const old = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.1.0"}})';
  const words = ["--import", `data:text/javascript,${encodeURIComponent(old)}`, join(root, "bin", "everturn.js")];
  const launcher = start(t, process.execPath, [...words, "gateway", "run"], { env: environmentOf(home) });
  launcher.child.stdin?.end();
  atEnd(t, () => endWhoeverServes(home));
  return launcher;
}

test("S41 a stop names the real parent, not the launcher: at first, and after a restart", async (t) => {
  const home = newHome(t);
  for (const restarts of [0, 1]) {
    const launcher = launch(t, home);
    await whenReady(launcher);
    let { pid } = stateOf(home);
    assert.notEqual(pid, launcher.pid, "the launcher is a process of its own");
    if (restarts > 0) {
      signal(pid, "SIGUSR1");
      pid = await next(home, pid);
    }
    await within(launcher.end("SIGTERM"), "the launcher did not end", quickMs);
    const log = readFileSync(join(home, "logs", "gateway.log"), "utf8");
    const parents = Array.from(log.matchAll(/ pid=(\d+) [^\n]*?parent_pid=(\d+)/g), ([, of, parent]) => [of, parent]);
    assert.deepEqual(parents.at(-1), [String(pid), String(process.pid)]);
  }
});

test("S41 of a gateway that handed over in the foreground, the successor names the real parent too", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  signal(gateway.pid, "SIGUSR1");
  await next(home, gateway.pid);
  await within(gateway.end("SIGTERM"), "the one that stays did not end", quickMs);
  const log = readFileSync(join(home, "logs", "gateway.log"), "utf8");
  assert.equal(log.match(/parent_pid=\d+/g)?.at(-1), `parent_pid=${process.pid}`);
});

test("kill -9 of the one that stays leaves the gateway serving, and it can restart again", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  signal(gateway.pid, "SIGUSR1");
  const second = await next(home, gateway.pid);
  await gateway.end("SIGKILL");
  assert.ok(isAlive(second));
  const ask = client(gateway);
  await ask.send("c1", "m1", "still there?");
  await until(
    () => ask.transcript("c1"),
    (all) => all.length === 2,
    "it still answers",
  );
  signal(second, "SIGUSR1");
  const third = await next(home, second);
  assert.ok(isAlive(second), "now this one stays");
  signal(third, "SIGINT");
  await until(
    () => isAlive(second) || isAlive(third),
    (alive) => !alive,
    "both are gone",
  );
});

test("a configuration that has become wrong: the restart is refused with the reason, and the gateway goes on", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const ask = client(gateway);
  writeFileSync(join(home, "config.yaml"), "gateway:\n  drainSecond: 5\n");
  await ask.send("c1", "r1", "/restart");
  const seen = await until(
    () => ask.transcript("c1"),
    (all) => all.length >= 2,
    "the asker is told",
  );
  assert.match(seen[1]?.text ?? "", /^Not restarted.*drainSecond/s);
  const asked = await ask.call("/api/restart", { method: "POST", body: '{"by":"cli"}', headers: headersOf(gateway) });
  assert.equal(asked.status, 409);
  assert.match(JSON.stringify(asked.body), /drainSecond/);
  signal(gateway.pid, "SIGUSR1");
  await until(gateway.err, (said) => said.includes("goes on as before"), "the log says so");
  assert.deepEqual([stateOf(home).pid, stateOf(home).gateway_state], [gateway.pid, "running"]);
  await ask.send("c1", "m2", "hello");
  await until(
    () => ask.transcript("c1"),
    (all) => all.length === 4,
    "it still answers",
  );
  writeFileSync(join(home, "config.yaml"), "gateway:\n  drainSeconds: 0\n");
  await ask.send("c1", "r2", "/restart");
  await next(home, gateway.pid);
  assert.equal(await gateway.end(), 0);
});

function headersOf({ token }: { readonly token: string }): Record<string, string> {
  return { authorization: `Bearer ${token}`, "content-type": "application/json" };
}

test("a stop that comes while a restart is prepared wins: nobody serves afterwards", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  signal(gateway.pid, "SIGUSR1");
  await until(
    () => processesOf(home),
    (found) => found.length === 2,
    "the next one is being started",
    1,
  );
  signal(gateway.pid, "SIGINT");
  assert.equal(await within(gateway.exit, "it did not end", quickMs), 0, gateway.err());
  await until(
    () => processesOf(home),
    (found) => found.length === 0,
    "nobody is left",
  );
  assert.deepEqual([stateOf(home).gateway_state, stateOf(home).desired_state], ["stopped", "stopped"]);
});

test("--replace takes over from a gateway that is only just starting", async (t) => {
  const home = newHome(t);
  const hook = join(import.meta.dirname, "slow-start.ts");
  const slow = spawnGateway(t, home, { env: { NODE_OPTIONS: `--import=${hook}` } });
  await until(
    () => existsSync(join(home, "gateway_state.json")) && stateOf(home).pid === slow.pid,
    (holds) => holds,
    "it holds the home",
    5,
  );
  assert.equal(stateOf(home).gateway_state, "starting");
  const taker = await runGateway(t, home, { words: ["--replace"] });
  assert.equal(await within(slow.exit, "the starting one did not end", quickMs), 79, slow.err());
  assert.deepEqual([stateOf(home).pid, stateOf(home).gateway_state], [taker.pid, "running"]);
  assert.equal(existsSync(join(home, ".gateway-takeover.json")), false);
  assert.equal(await taker.end(), 0);
});

test("a detached gateway hands over without anybody who stays, at the same port, with its words in logs/gateway.out", async (t) => {
  const home = newHome(t);
  const gateway = await runDetached(t, home);
  const { url } = stateOf(home);
  signal(gateway.pid, "SIGUSR1");
  assert.equal(await within(gateway.exit, "the old one did not end", quickMs), 0, gateway.err());
  const second = await next(home, gateway.pid);
  assert.deepEqual(processesOf(home), [second]);
  assert.equal(stateOf(home).url, url);
  await until(
    () => readFileSync(join(home, "logs", "gateway.out"), "utf8"),
    (said) => /Took over in \d+ ms/.test(said),
    "its words are kept",
  );
  signal(second, "SIGUSR1");
  const third = await next(home, second);
  signal(third, "SIGINT");
  await until(
    () => processesOf(home),
    (found) => found.length === 0,
    "nobody is left",
  );
});
