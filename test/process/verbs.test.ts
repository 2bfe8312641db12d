// The verbs that people type: start, stop, restart, status, resume. Real programs in real processes; where a supervisor is
// meant, a stand-in for its program that writes down what it found when it was called.

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { startTimeOf } from "../../src/host/identity.ts";
import { type Client, client } from "./client.ts";
import {
  type Settings,
  atEnd,
  isAlive,
  newHome,
  root,
  run,
  runGateway,
  signal,
  environmentOf,
  start,
  stateOf,
  tokenOf,
  until,
} from "./stage.ts";

type Facts = Readonly<Record<string, unknown>>;

/** `gateway start`, and the end of whatever serves the home with the test. */
async function begin(t: TestContext, home: string, settings: Settings = {}) {
  atEnd(t, () => {
    if (existsSync(join(home, "gateway_state.json"))) signal(stateOf(home).pid, "SIGKILL");
  });
  const started = await run(t, home, ["gateway", "start", "--json"], settings);
  assert.equal(started.code, 0, started.err);
  const facts = JSON.parse(started.out) as { pid: number; link: string; boot: string; started: boolean };
  return { ...facts, ask: asking(facts.link, home) };
}

function asking(url: string, home: string): Client {
  return client({ url, token: tokenOf(home) });
}

async function answered(ask: Client, chat: string): Promise<string> {
  const all = await until(
    () => ask.transcript(chat),
    (seen) => seen.length >= 2,
    "it is answered",
  );
  assert.equal(all.length, 2, "once");
  return all[1]?.text ?? "";
}

/** Resolves when a turn has done some of its steps. */
async function underWay(ask: Client, steps: number): Promise<void> {
  await until(
    () => ask.get<{ running: { steps: number }[] }>("/api/status"),
    ({ running }) => (running[0]?.steps ?? 0) >= steps,
    "the turn is under way",
  );
}

/** Half a second each: long enough for a command to come in between on any machine. */
const far = 16;

const wanted = (home: string) => (stateOf(home) as unknown as { desired_state: string }).desired_state;
const lines = (text: string): Facts[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Facts);

test("start, chat, stop in the middle of an answer, start again: the answer arrives, once", async (t) => {
  const home = newHome(t);
  const first = await begin(t, home);
  assert.equal(first.started, true);
  assert.equal(stateOf(home).pid, first.pid);
  assert.ok(isAlive(first.pid), "it outlives the command that started it");
  const again = await run(t, home, ["gateway", "start"]);
  assert.equal(again.code, 0);
  assert.match(again.out, new RegExp(`already serves ${home}: pid ${first.pid}\nWeb chat: http`));

  await first.ask.send("c1", "m1", `count to ${far} slowly`);
  await underWay(first.ask, 1);
  const gone = until(
    () => isAlive(first.pid),
    (alive) => !alive,
    "it is gone",
    1,
  ).then(() => Date.now());
  const stopped = await run(t, home, ["gateway", "stop"]);
  t.diagnostic(`the command returned ${Date.now() - (await gone)} ms after the exit of the gateway`);
  assert.equal(stopped.code, 0, stopped.err);
  assert.match(
    stopped.out,
    new RegExp(`The gateway \\(pid ${first.pid}\\) has stopped\\. It took .*goes on at the next start`),
  );
  assert.ok(!isAlive(first.pid));
  assert.deepEqual([stateOf(home).gateway_state, wanted(home)], ["stopped", "stopped"]);
  assert.ok(!existsSync(join(home, ".gateway-planned-stop.json")), "nothing is left behind");

  const second = await begin(t, home);
  assert.equal(wanted(home), "running");
  assert.match(await answered(second.ask, "c1"), /^1, 2, 3, .*\n\nCounted to 16\. I was interrupted once/);
  assert.equal((await run(t, home, ["gateway", "stop"])).code, 0);
});

test("a stop with a drain shows the turn it waits for, and lets it finish; it knows the drain of the one that runs", async (t) => {
  const home = newHome(t);
  const { ask } = await begin(t, home, { env: { EVERTURN_GATEWAY__DRAIN_SECONDS: "60" } });
  await ask.send("c1", "m1", `count to ${far} slowly`);
  await underWay(ask, 1);
  const stopped = await run(t, home, ["gateway", "stop"]);
  assert.equal(stopped.code, 0, stopped.err);
  assert.match(stopped.out, /^1 turn runs, at most (?:60|5\d) s more; then interrupted, to go on at the next start/);
  assert.match(stopped.out, /\n {2}turn \S+ of session \S+: step \d+, for \d+ s\n/);
  const next = await begin(t, home);
  assert.match(await answered(next.ask, "c1"), /Counted to 16 without interruption/);
  assert.equal((await run(t, home, ["gateway", "stop"])).code, 0);
});

test("a stop tells a program what it waits for as JSON lines, and status tells everybody else", async (t) => {
  const home = newHome(t);
  const { ask, pid } = await begin(t, home, { env: { EVERTURN_GATEWAY__DRAIN_SECONDS: "9" } });
  await ask.send("c1", "m1", "count to 50 slowly");
  await underWay(ask, 1);
  const stopping = run(t, home, ["gateway", "stop", "--json"]);
  await until(
    async () => (await run(t, home, ["gateway", "status"])).out,
    (told) => /draining[^]*1 turn runs, at most \d s more/.test(told),
    "status tells that it drains, and what it waits for",
  );
  const { out, code } = await stopping;
  assert.equal(code, 0);
  const told = lines(out);
  const progress = told.filter((one) => one["event"] === "progress");
  assert.ok(progress.length > 1);
  for (const one of progress) {
    assert.equal(one["state"], "draining");
    assert.ok(Number(one["leftMs"]) <= 9_000);
  }
  assert.deepEqual([told.at(-1)?.["event"], told.at(-1)?.["pid"], told.at(-1)?.["forced"]], ["stopped", pid, false]);
  assert.ok(Number(told.at(-1)?.["waitedMs"]) >= 9_000, "it was given its time");
});

test("a stop where nothing runs says so, and changes nothing but what is wanted", async (t) => {
  const home = newHome(t);
  const none = await run(t, home, ["gateway", "stop"]);
  assert.deepEqual([none.code, none.out], [0, `No gateway is running for ${home}; there is nothing to stop.\n`]);
  assert.ok(!existsSync(home));
  const gateway = await runGateway(t, home);
  await gateway.end("SIGKILL");
  assert.equal(wanted(home), "running");
  const dead = await run(t, home, ["gateway", "stop", "--json"]);
  assert.deepEqual([dead.code, lines(dead.out)], [0, [{ event: "absent" }]]);
  assert.equal(wanted(home), "stopped", "a container must not bring it back");
});

for (const kind of ["detached", "in the foreground"] as const)
  test(`a restart without a service, ${kind}: it comes back by itself, and says how long nobody listened`, async (t) => {
    const home = newHome(t);
    const gateway = kind === "detached" ? await begin(t, home) : await runGateway(t, home);
    const ask = "ask" in gateway ? gateway.ask : client(gateway);
    atEnd(t, () => signal(stateOf(home).pid, "SIGKILL"));
    await ask.send("c1", "m1", `count to ${far} slowly`);
    await underWay(ask, 1);
    const { pid } = stateOf(home);
    const restarted = await run(t, home, ["gateway", "restart", "--json"]);
    assert.equal(restarted.code, 0, restarted.err);
    const last = lines(restarted.out).at(-1) ?? {};
    assert.equal(last["event"], "restarted");
    assert.notEqual(last["pid"], pid);
    assert.equal(typeof last["awayMs"], "number");
    t.diagnostic(`${kind}: took ${String(last["tookMs"])} ms, nobody listened for ${String(last["awayMs"])} ms`);
    assert.equal(stateOf(home).pid, last["pid"]);
    assert.match(
      await answered(asking(String(last["link"]), home), "c1"),
      /^1, 2, 3, .*\n\nCounted to 16\. I was interrupted once/,
    );
    if ("exit" in gateway) assert.ok(isAlive(gateway.pid), "whoever the terminal knows stays");
    const plain = await run(t, home, ["gateway", "restart"]);
    assert.match(
      plain.out,
      /The gateway has restarted\. It took .*nobody listened for \d+ ms of it\. It runs: pid \d+\nWeb chat: /,
    );
    assert.equal((await run(t, home, ["gateway", "stop"])).code, 0);
    if ("exit" in gateway) assert.equal(await gateway.exit, 0);
  });

test("a restart where nothing runs starts it", async (t) => {
  const home = newHome(t);
  atEnd(t, () => signal(stateOf(home).pid, "SIGKILL"));
  const restarted = await run(t, home, ["gateway", "restart"]);
  assert.equal(restarted.code, 0, restarted.err);
  assert.match(restarted.out, /No gateway was running; one runs now: pid \d+\nWeb chat: /);
  assert.equal((await run(t, home, ["gateway", "stop"])).code, 0);
});

test("a start that fails says what the gateway itself said", async (t) => {
  const home = newHome(t);
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  atEnd(t, () => holder.close());
  const { port } = holder.address() as AddressInfo;
  const taken = await run(t, home, ["gateway", "start"], { port });
  assert.equal(taken.code, 1);
  assert.match(
    taken.err,
    new RegExp(`The gateway did not start\\.\nAnother program already uses 127\\.0\\.0\\.1:${port}\\.`),
  );
  writeFileSync(join(home, "config.yaml"), "contrl: {}\n");
  const wrong = await run(t, home, ["gateway", "start", "--json"]);
  assert.equal(wrong.code, 78);
  const { error } = JSON.parse(wrong.err) as { error: { code: string; message: string } };
  assert.equal(error.code, "config-wrong");
  assert.match(error.message, /contrl is not known/);
});

test("two starts at the same moment: one gateway, and both commands are content", async (t) => {
  const home = newHome(t);
  const both = await Promise.all([begin(t, home), begin(t, home)]);
  assert.equal(both[0].pid, both[1].pid);
  assert.equal((await run(t, home, ["gateway", "stop"])).code, 0);
});

// ------------------------------------------------------------------------------------------------ marker before signal

/** Notes what it finds in the home when it is called or signalled, in the order in which that happens. */
const witness = (home: string, log: string) => `
  const { appendFileSync, existsSync, readFileSync } = require("node:fs");
  const json = (name) => existsSync(name) ? JSON.parse(readFileSync(name, "utf8")) : null;
  const note = (what) => {
    const marker = json(${JSON.stringify(join(home, ".gateway-planned-stop.json"))});
    const state = json(${JSON.stringify(join(home, "gateway_state.json"))});
    appendFileSync(${JSON.stringify(log)}, JSON.stringify({ what, target: marker?.target_pid ?? null, stopper: marker?.stopper_pid ?? null, desired: state?.desired_state, version: state?.version }) + "\\n");
  };
`;

/** A process that takes the place of a gateway: the state file names it, and it ends when it is asked to. */
async function standIn(t: TestContext, home: string, log: string): Promise<number> {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const code = `${witness(home, log)} process.on("SIGTERM", () => { note("SIGTERM"); process.exit(0); }); setInterval(() => {}, 1000); console.log("up");`;
  const { pid, out } = start(t, process.execPath, ["-e", code], { env: environmentOf(home) });
  await until(out, (said) => said.includes("up"), "the stand-in is up");
  const state = {
    gateway_state: "running",
    desired_state: "running",
    pid,
    start_time: startTimeOf(pid),
    url: null,
    version: "9.9.9",
  };
  writeFileSync(join(home, "gateway_state.json"), JSON.stringify(state));
  return pid;
}

/** A program under this name, first in the PATH, that notes how it was called and then does the rest. */
function program(folder: string, name: string, home: string, log: string, rest: string): void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  const body = `#!${process.execPath}\n${witness(home, log)} const words = process.argv.slice(2).join(" ");\n${rest}\n`;
  writeFileSync(file, body);
  chmodSync(file, 0o755);
}

const supervisors = ["no service", "systemd", "s6"] as const;

for (const kind of supervisors)
  test(`S28 gateway stop, ${kind}: marker and desired state are written before anything is asked; a planned stop persists stopped`, async (t) => {
    const home = newHome(t);
    const folder = dirname(home);
    const log = join(folder, "order.log");
    const pid = await standIn(t, home, log);
    const dry = await run(t, home, ["gateway", "install", "--dry-run", "--allow-root", "--json"]);
    const unit = basename((JSON.parse(dry.out) as { write: { path: string }[] }).write[0]?.path ?? "");
    const bin = join(folder, "bin");
    const config = join(folder, "config");
    const scan = join(folder, "scan");
    const end = `process.kill(${pid}, "SIGTERM");`;
    if (kind === "systemd") {
      mkdirSync(join(config, "systemd", "user"), { recursive: true });
      writeFileSync(join(config, "systemd", "user", unit), "");
      const answer = `if (words.includes(" show ")) { console.log("LoadState=loaded\\nActiveState=active"); } else { note("systemctl " + words); ${end} }`;
      program(bin, "systemctl", home, log, answer);
    }
    if (kind === "s6") {
      const place = join(scan, unit.replace(/\.service$/, ""));
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, "run"), "");
      program(bin, "s6-svscanctl", home, log, "");
      program(bin, "s6-svstat", home, log, 'console.log("true");');
      program(bin, "s6-svc", home, log, `note("s6-svc " + words); ${end}`);
    }
    const env = {
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      XDG_CONFIG_HOME: config,
      EVERTURN_S6_SCAN: scan,
    };
    const stopped = await run(t, home, ["gateway", "stop", "--json"], { env });
    assert.equal(stopped.code, 0, stopped.err);
    const seen = lines(readFileSync(log, "utf8"));
    assert.ok(seen.length >= 1);
    assert.equal(seen.at(-1)?.["what"], "SIGTERM");
    if (kind === "systemd") assert.match(String(seen[0]?.["what"]), /^systemctl --user stop everturn\S*\.service$/);
    if (kind === "s6") assert.match(String(seen[0]?.["what"]), /^s6-svc (?:-\S+ )*-d /);
    for (const one of seen) {
      assert.equal(one["target"], pid, `${String(one["what"])} came after the marker`);
      assert.equal(one["desired"], "stopped");
      assert.equal(typeof one["stopper"], "number");
      assert.equal(one["version"], "9.9.9", "whatever else the state file says stays");
    }
    if (kind !== "no service") return;
    const real = newHome(t);
    const gateway = await runGateway(t, real);
    assert.equal((await run(t, real, ["gateway", "stop"])).code, 0);
    assert.equal(await gateway.exit, 0);
    assert.deepEqual([stateOf(real).gateway_state, wanted(real)], ["stopped", "stopped"]);
  });

/** A home with a systemd unit installed, and a systemctl that notes its calls and answers like this. */
async function underSystemd(t: TestContext, home: string, answer: string) {
  const folder = dirname(home);
  const log = join(folder, "order.log");
  const dry = await run(t, home, ["gateway", "install", "--dry-run", "--allow-root", "--json"]);
  const unit = basename((JSON.parse(dry.out) as { write: { path: string }[] }).write[0]?.path ?? "");
  const config = join(folder, "config");
  mkdirSync(join(config, "systemd", "user"), { recursive: true });
  writeFileSync(join(config, "systemd", "user", unit), "");
  program(join(folder, "bin"), "systemctl", home, log, `note("systemctl " + words); ${answer}`);
  const env = { PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`, XDG_CONFIG_HOME: config };
  return { env, calls: () => lines(readFileSync(log, "utf8")).map((one) => String(one["what"])) };
}

test("a gateway started by hand is not left to an installed service that does not run it", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const { env, calls } = await underSystemd(t, home, 'console.log("LoadState=loaded\\nActiveState=inactive");');
  const stopped = await run(t, home, ["gateway", "stop"], { env });
  assert.equal(stopped.code, 0, stopped.err);
  assert.equal(await gateway.exit, 0);
  assert.deepEqual(
    calls().map((one) => one.includes(" show ")),
    [true],
  );
});

test("a supervisor that refuses is no success: the marker ends the gateway, but it may be started again", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const { env } = await underSystemd(
    t,
    home,
    'if (words.includes(" show ")) console.log("LoadState=loaded\\nActiveState=active"); else { console.error("Failed to stop: Access denied"); process.exit(4); }',
  );
  const stopped = await run(t, home, ["gateway", "stop"], { env });
  assert.equal(await gateway.exit, 0);
  assert.equal(stopped.code, 1);
  assert.match(stopped.err, /has ended, but its supervisor was not told to leave it down.*Access denied.*sudo/);
});

test("with a service installed, start goes through it, and says what the supervisor says", async (t) => {
  const home = newHome(t);
  const { env, calls } = await underSystemd(
    t,
    home,
    'if (words.includes(" start ")) { console.error("Job for it failed."); process.exit(1); } else console.log("LoadState=loaded\\nActiveState=inactive");',
  );
  const started = await run(t, home, ["gateway", "start"], { env });
  assert.equal(started.code, 1);
  assert.match(started.err, /Cannot start the service: .*Job for it failed\./);
  assert.ok(calls().some((one) => /^systemctl --user start everturn\S*\.service$/.test(one)));
});

// ----------------------------------------------------------------------------------------------- inside, and safe mode

test("from inside a tool of the gateway, a stop is refused and a restart is noted and obeyed once", async (t) => {
  const home = newHome(t);
  const { pid } = await begin(t, home);
  const inside = { env: { EVERTURN_INSIDE: "1" } };
  const refused = await run(t, home, ["gateway", "stop"], inside);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /inside a tool of the gateway it would stop.*everturn gateway restart/);
  assert.ok(isAlive(pid));
  assert.equal(wanted(home), "running");
  const elsewhere = await run(t, home, ["gateway", "stop"], { env: { EVERTURN_INSIDE: join(root, "other") } });
  assert.equal(elsewhere.code, 0, "a tool of another gateway may");
  const second = await begin(t, home);
  await second.ask.send("c1", "m1", `count to ${far} slowly`);
  await underWay(second.ask, 1);
  const noted = await run(t, home, ["gateway", "restart"], inside);
  assert.equal(noted.code, 0, noted.err);
  assert.match(noted.out, /The restart is asked for/);
  await until(
    () => stateOf(home),
    (state) => state.pid !== second.pid && state.gateway_state === "running",
    "the next one runs",
  );
  const why = await run(t, home, ["why"]);
  assert.match(why.out, /Restarted .*: asked for by the agent, through a tool\./);
  assert.match(await answered(second.ask, "c1"), /Counted to 16\. I was interrupted once/);
  assert.equal((await run(t, home, ["gateway", "stop"])).code, 0);
});

test("safe mode is told by start, status, doctor and why; resume leaves it, and does nothing outside of it", async (t) => {
  const home = newHome(t);
  const first = await begin(t, home);
  await first.ask.send("c1", "m1", "hello");
  const idle = await run(t, home, ["gateway", "resume"]);
  assert.deepEqual([idle.code, idle.out], [0, "The gateway is not in safe mode; there was nothing to leave.\n"]);
  assert.equal((await run(t, home, ["gateway", "stop"])).code, 0);
  // Three lives that ended before they were ready, as three kills in the first moments would leave them.
  const db = new DatabaseSync(join(home, "state.db"));
  const copy = `INSERT INTO boots(id, live, started_at, beat_at, facts) SELECT ?, 0, ?, ?, facts FROM boots ORDER BY n LIMIT 1`;
  for (let n = 0; n < 3; n++) db.prepare(copy).run(`early-${n}`, Date.now(), Date.now());
  db.close();
  const second = await begin(t, home);
  const status = await run(t, home, ["gateway", "status"]);
  assert.match(status.out, /state +in safe mode: .*everturn gateway resume/);
  const doctor = await run(t, home, ["doctor"]);
  assert.equal(doctor.code, 1);
  assert.match(doctor.out, /fault +gateway +it is in safe mode/);
  assert.match((await run(t, home, ["why"])).out, /Died without a word before it was ready/);
  const resumed = await run(t, home, ["gateway", "resume", "--json"]);
  assert.deepEqual([resumed.code, JSON.parse(resumed.out)], [0, { resumed: true }]);
  await second.ask.send("c1", "m2", "again");
  await until(
    () => second.ask.transcript("c1"),
    (all) => all.length === 4,
    "it answers again",
  );
  assert.equal((await run(t, home, ["gateway", "stop"])).code, 0);
});

// ------------------------------------------------------------------------------------------------------------ bad input

test("wrong words are told with what there is, as text and as JSON; commands that need a gateway say so", async (t) => {
  const home = newHome(t);
  const wrong = [
    ["gateway", "start", "now"],
    ["gateway", "stop", "--froce"],
    ["gateway", "restart", "--json=yes"],
    ["gateway", "status", "--dep"],
    ["gateway", "resume", "x"],
    ["gateway", "halt"],
    ["why", "--boots", "all"],
    ["logs", "--lines", "0"],
    ["logs", "-x"],
    ["doctor", "home"],
    ["restore"],
    ["sessions", "list", "--limit", "many"],
  ];
  for (const words of wrong) {
    const told = await run(t, home, words);
    assert.deepEqual([told.code, told.out], [64, ""], words.join(" "));
    assert.match(told.err, /--help` shows what there is\.\n$/);
    const asJson = await run(t, home, [...words, "--json"]);
    assert.equal(asJson.code, 64);
    assert.equal((JSON.parse(asJson.err) as { error: { code: string } }).error.code, "usage");
  }
  for (const words of [["gateway", "resume"], ["gateway", "status"], ["why"], ["logs"]]) {
    const told = await run(t, home, words);
    assert.equal(told.code, 1, words.join(" "));
    assert.match(told.err, /[Nn]o gateway (?:is running|has run)/);
  }
  assert.ok(!existsSync(home), "looking makes nothing");
});
