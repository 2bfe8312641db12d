// What the commands tell afterwards: why the last life ended, what the log says across lives, what is wrong with a home,
// and a backup that is brought back. Real processes that really stopped, died and were replaced.

import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { client } from "./client.ts";
import { atEnd, environmentOf, newHome, root, run, runGateway, signal, start, stateOf, until } from "./stage.ts";

type Life = {
  readonly end: string;
  readonly class: string | null;
  readonly pid: number;
  readonly exitCode: number | null;
  readonly headline: string;
  readonly facts: readonly (readonly [string, string])[];
};

async function lives(t: TestContext, home: string, words: readonly string[] = []) {
  const told = await run(t, home, ["why", "--json", ...words]);
  assert.equal(told.code, 0, told.err);
  return JSON.parse(told.out) as { running: Life | null; lives: readonly Life[] };
}

const fact = (life: Life | undefined, name: string): string => life?.facts.find(([key]) => key === name)?.[1] ?? "";

test("why tells a planned stop, a kill -9, an unannounced signal, a restart and a take-over, each as what it was", async (t) => {
  const home = newHome(t);
  atEnd(t, () => signal(stateOf(home).pid, "SIGKILL"));
  const first = await runGateway(t, home);
  assert.match(
    (await run(t, home, ["why"])).out,
    /^The gateway runs \(pid \d+\)\. It has not stopped or died before\.\n$/,
  );
  await client(first).send("c1", "m1", "count to 100 slowly");
  await run(t, home, ["gateway", "stop"]);
  assert.equal(await first.exit, 0);
  const planned = (await lives(t, home)).lives;
  assert.deepEqual(
    [planned.length, planned[0]?.end, planned[0]?.class, planned[0]?.pid],
    [1, "stopped", "planned", first.pid],
  );
  assert.match(fact(planned[0], "who asked"), /`everturn gateway stop` asked for it; marker written by pid \d+/);
  assert.match(fact(planned[0], "parent"), /pid \d+/);
  assert.match(fact(planned[0], "running"), /^1 turn when it was asked; 0 finished in time, 1 interrupted/);
  assert.ok(planned[0]?.facts.some(([name, value]) => name === "phase" && value.startsWith("drain ")));
  const text = (await run(t, home, ["why"])).out;
  assert.match(text, /^No gateway is running\.\n\nStopped on purpose .*: `everturn gateway stop` asked for it\.\n/);

  const second = await runGateway(t, home);
  await client(second).send("c2", "m2", "count to 100 slowly");
  await second.end("SIGKILL");
  const killed = (await lives(t, home)).lives[0];
  assert.deepEqual([killed?.end, killed?.class, killed?.pid], ["died", null, second.pid]);
  assert.match(killed?.headline ?? "", /^Died without a word; its last sign of life was /);
  assert.match(fact(killed, "last sign"), /nobody has started it since/);
  const lastStep = fact(killed, "last step");
  assert.match(lastStep, /^\d\d:\d\d:\d\d\.\d{3}: .+ \(turn \w+\)$/);
  assert.match(fact(killed, "machine"), /went on running, so the process was killed from outside/);

  const third = await runGateway(t, home);
  const after = await lives(t, home);
  assert.equal(after.running?.pid, third.pid);
  assert.match(fact(after.lives[0], "next start"), /^ready .*it went on with 2 turns/);
  const kept = await until(
    async () => fact((await lives(t, home)).lives[0], "last step"),
    (step) => step !== "",
    "the new gateway has stored it",
  );
  assert.equal(kept, lastStep, "steps of the new gateway do not count");
  assert.equal(await third.end("SIGTERM"), 1);
  const signalled = (await lives(t, home)).lives;
  assert.deepEqual([signalled[0]?.class, signalled[0]?.end], ["unexpected", "stopped"]);
  assert.match(signalled[0]?.headline ?? "", /by SIGTERM that nobody had announced/);
  assert.equal(fact(signalled[0], "signal"), "SIGTERM");
  assert.equal(signalled[1]?.pid, second.pid, "and the unclean death before it");

  const fourth = await runGateway(t, home);
  assert.equal((await run(t, home, ["gateway", "restart"])).code, 0);
  const restarted = (await lives(t, home)).lives[0];
  assert.deepEqual([restarted?.class, restarted?.pid], ["restart", fourth.pid]);
  assert.match(restarted?.headline ?? "", /: `everturn gateway restart` asked for it\.$/);
  assert.match(fact(restarted, "next start"), /nobody listened for \d+ ms/);

  const before = stateOf(home).pid;
  const fifth = await runGateway(t, home, { words: ["--replace"] });
  const replaced = (await lives(t, home)).lives[0];
  assert.deepEqual([replaced?.class, replaced?.pid], ["take-over", before]);
  assert.match(replaced?.headline ?? "", new RegExp(`another gateway took over \\(pid ${stateOf(home).pid}\\)`));
  assert.match(fact(replaced, "next start"), /nobody listened for \d+ ms/);
  const all = await lives(t, home, ["--boots", "4"]);
  assert.deepEqual(
    all.lives.map((one) => one.class ?? one.end),
    ["running", "take-over", "restart", "unexpected"],
  );
  await run(t, home, ["gateway", "stop"]);
  assert.equal(await fifth.exit, 0);
  for (const one of (await lives(t, home, ["--boots", "9"])).lives)
    if (one.end === "stopped") assert.notEqual(one.exitCode, null, one.headline);
});

test("a retried turn is named, and a platform that there is not is told", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const ask = client(gateway);
  await ask.send("c1", "m1", "hello");
  const { turns } = await until(
    () => ask.get<{ turns: { id: string; outcome: string | null }[] }>("/api/turns"),
    (list) => list.turns[0]?.outcome === "replied",
    "it is answered",
  );
  const again = await run(t, home, ["turns", "retry", turns[0]?.id ?? "", "--json"]);
  assert.equal(again.code, 0, again.err);
  const { turn } = JSON.parse(again.out) as { turn: string };
  assert.notEqual(turn, turns[0]?.id);
  const shown = await run(t, home, ["turns", "show", turn]);
  assert.match(shown.out, /message +hello/);
  const plain = await run(t, home, ["turns", "retry", turns[0]?.id ?? ""]);
  assert.match(plain.out, /^Its message runs again, as turn \S+\.\n$/);
  const none = await run(t, home, ["sessions", "list", "--platform", "wbe"]);
  assert.equal(none.code, 1);
  assert.match(none.err, /There is no platform "wbe"; there are web, terminal, api\./);
  const empty = await run(t, home, ["sessions", "list", "--platform", "terminal"]);
  assert.deepEqual([empty.code, empty.out], [0, "No conversations yet.\n"]);
  await gateway.end("SIGINT");
});

test("why tells of a death in the middle of a stop", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home, { env: { EVERTURN_GATEWAY__DRAIN_SECONDS: "600" } });
  await client(gateway).send("c1", "m1", "count to 1000 slowly");
  signal(gateway.pid, "SIGTERM");
  await until(
    () => stateOf(home),
    (state) => state.gateway_state === "draining",
    "it drains",
  );
  await until(
    () => lives(t, home, ["--boots", "1"]),
    ({ lives: [life] }) => life?.class === "unexpected",
    "the stop is stored",
  );
  await gateway.end("SIGKILL");
  const { lives: told } = await lives(t, home);
  assert.equal(told[0]?.end, "cut-short");
  assert.match(told[0]?.headline ?? "", /in the middle of a stop: SIGTERM came, and it ended before it was done/);
});

test("logs -f goes on across a restart and a start, with JSON lines for a program", async (t) => {
  const home = newHome(t);
  const words = [join(root, "src", "main.ts"), "logs", "--follow"];
  const following = start(t, process.execPath, words, { cwd: root, env: environmentOf(home) });
  await until(following.err, (said) => said.includes("waiting for one"), "it waits for a log");
  const first = await runGateway(t, home);
  atEnd(t, () => signal(stateOf(home).pid, "SIGKILL"));
  const ready = (text: string) => text.match(/"messages are accepted and answered"/g)?.length ?? 0;
  await until(following.out, (text) => ready(text) === 1, "the first start is told");
  assert.equal((await run(t, home, ["gateway", "restart"])).code, 0);
  await until(following.out, (text) => ready(text) === 2, "the restart is told");
  assert.equal((await run(t, home, ["gateway", "stop"])).code, 0);
  assert.equal(await first.exit, 0);
  const second = await runGateway(t, home);
  await until(following.out, (text) => ready(text) === 3, "the next start is told");
  await following.end("SIGINT");
  for (const line of following.out().trim().split("\n")) assert.equal(typeof JSON.parse(line), "object");
  const log = readFileSync(join(home, "logs", "gateway.log"), "utf8")
    .trim()
    .split("\n");
  const last = await run(t, home, ["logs", "--lines", "3"]);
  assert.equal(last.out.trim().split("\n").length, 3);
  assert.ok(log.join("\n").includes(last.out.trim().split("\n")[0] ?? "?"));
  await second.end("SIGINT");
});

test("doctor finds what is wrong with a broken home and says what to do; --fix repairs what is safe", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const well = await run(t, home, ["doctor", "--json"]);
  assert.equal(well.code, 0, well.out);
  assert.notEqual((JSON.parse(well.out) as { level: string }).level, "fault");
  await gateway.end("SIGKILL");
  chmodSync(home, 0o755);
  chmodSync(join(home, "control.token"), 0o644);
  const marker = join(home, ".gateway-planned-stop.json");
  writeFileSync(marker, JSON.stringify({ target_pid: 1, target_start_time: 1, written_at: "2020-01-01T00:00:00Z" }));
  utimesSync(marker, 1, 1);
  writeFileSync(join(home, "config.yaml"), "gateway: { drainSeconds: never }\n");
  const broken = await run(t, home, ["doctor"]);
  assert.equal(broken.code, 1);
  assert.match(
    broken.out,
    /fault +permissions +others on this machine can read .*home \(755\).*control\.token \(644\)/,
  );
  assert.match(broken.out, /fault +config +.*gateway\.drainSeconds must be a number/);
  assert.match(broken.out, /warning +gateway +the last one \(pid \d+\) is gone without a word/);
  assert.match(broken.out, /warning +markers +left by somebody.*planned-stop/);
  assert.match(broken.out, /ok +store +/);
  assert.match(broken.out, /`everturn doctor --fix` repairs some of it/);
  const fixed = await run(t, home, ["doctor", "--fix"]);
  assert.equal(fixed.code, 1, "the configuration is its owner's");
  assert.match(fixed.out, /^Repaired permissions: .*\nRepaired markers: /);
  assert.match(fixed.out, /ok +permissions/);
  assert.match(fixed.out, /ok +markers +none/);
  assert.ok(!existsSync(marker));
  assert.equal(statSync(home).mode & 0o777, 0o700);
  assert.equal(statSync(join(home, "control.token")).mode & 0o777, 0o600);

  for (const end of ["-wal", "-shm"]) rmSync(join(home, `state.db${end}`), { force: true });
  writeFileSync(join(home, "state.db"), "this is no database at all, and long enough to be taken for none".repeat(100));
  const damaged = await run(t, home, ["doctor", "--json"]);
  const { checks } = JSON.parse(damaged.out) as { checks: { name: string; level: string; todo: string | null }[] };
  const store = checks.find((one) => one.name === "store");
  assert.equal(store?.level, "fault");
  assert.match(store.todo ?? "", /everturn restore/);
  const deep = await run(t, home, ["gateway", "status", "--deep", "--json"]);
  assert.equal(deep.code, 1);
  const found = JSON.parse(deep.out) as { state: string; deep: { checks: { name: string; level: string }[] } };
  assert.equal(found.state, "stopped");
  assert.ok(found.deep.checks.some((one) => one.name === "store" && one.level === "fault"));
});

test("status --deep looks at platforms, store, disk, lock, markers and service beside a running gateway", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const deep = await run(t, home, ["gateway", "status", "--deep"]);
  assert.equal(deep.code, 0, deep.err);
  for (const line of [
    /state +running/,
    /ok +control +answers in \d+ ms/,
    /ok +web\/local +up for \d+ s/,
    /ok +terminal\/local +up for \d+ s/,
    /(?:ok|warning) +disk +[\d.]+ (?:MB|GB) of /,
    /file system +/,
    /ok +store +.*read and checked in \d+ ms/,
    new RegExp(`ok +lock +held by the gateway \\(pid ${gateway.pid}\\)`),
    /ok +markers +none/,
    /service +/,
  ])
    assert.match(deep.out, line);
  await gateway.end("SIGINT");
});

// -------------------------------------------------------------------------------------------------------------- restore

test("restore brings a backup back, keeps what was there, and is refused while a gateway serves the home", async (t) => {
  const home = newHome(t);
  const file = join(dirname(home), "copy.db");
  const first = await runGateway(t, home);
  const ask = client(first);
  await ask.send("c1", "m1", "before");
  await until(
    () => ask.transcript("c1"),
    (all) => all.length === 2,
    "it is answered",
  );
  assert.equal((await run(t, home, ["backup", file])).code, 0);
  await ask.send("c1", "m2", "after");
  const refused = await run(t, home, ["restore", file]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, new RegExp(`A gateway \\(pid ${first.pid}\\) serves ${home}\\. Stop it first`));
  // Killed: what is new is still in the log beside the store.
  await first.end("SIGKILL");
  const restored = await run(t, home, ["restore", file, "--json"]);
  assert.equal(restored.code, 0, restored.err);
  const { kept } = JSON.parse(restored.out) as { kept: string };
  assert.equal(statSync(join(home, "state.db")).mode & 0o777, 0o600);
  assert.equal(statSync(kept).mode & 0o777, 0o600);
  const words = (path: string) => {
    const db = new DatabaseSync(path, { readOnly: true });
    const found = db.prepare("SELECT text FROM messages WHERE role = 'user' ORDER BY n").all();
    db.close();
    return found.map((row) => row["text"]);
  };
  assert.deepEqual(words(kept), ["before", "after"]);
  const second = await runGateway(t, home);
  assert.deepEqual(
    (await client(second).transcript("c1")).map((one) => one.text),
    ["before", "You said: before"],
  );
  await second.end("SIGINT");
  // Into a home that is not there yet.
  const empty = newHome(t);
  const moved = await run(t, empty, ["restore", file]);
  assert.equal(moved.code, 0, moved.err);
  assert.match(moved.out, /is now what .*copy\.db holds: .*whole; 0 unfinished turns/);
  assert.equal(statSync(empty).mode & 0o777, 0o700);
});

test("restore takes nothing that is no whole backup, and leaves everything as it was", async (t) => {
  const home = newHome(t);
  const folder = dirname(home);
  const gateway = await runGateway(t, home);
  await client(gateway).send("c1", "m1", "before");
  const copy = join(folder, "copy.db");
  assert.equal((await run(t, home, ["backup", copy])).code, 0);
  await gateway.end("SIGINT");
  const before = readdirSync(home).toSorted();
  const whole = readFileSync(copy);
  const bytes = readFileSync(join(home, "state.db"));
  const cases: readonly (readonly [string, Buffer | string, RegExp])[] = [
    ["empty.db", "", /is empty; it is no backup/],
    ["text.db", "not a database ".repeat(1_000), /cannot be restored: it is damaged or not a database/],
    ["short.db", whole.subarray(0, whole.length - 8_192), /cannot be restored: it is (?:cut short|damaged)/],
    [
      "holes.db",
      Buffer.concat([whole.subarray(0, 8_192), Buffer.alloc(20_480, 7), whole.subarray(28_672)]),
      /cannot be restored/,
    ],
  ];
  for (const [name, content, says] of cases) {
    const file = join(folder, name);
    writeFileSync(file, content);
    const told = await run(t, home, ["restore", file]);
    assert.equal(told.code, 1, name);
    assert.match(told.err, says);
  }
  const log = join(folder, "open.db");
  writeFileSync(log, whole);
  writeFileSync(`${log}-wal`, "x");
  assert.match((await run(t, home, ["restore", log])).err, /is a database in use, or was not closed/);
  mkdirSync(join(folder, "dir"));
  assert.match((await run(t, home, ["restore", join(folder, "dir")])).err, /is not a file/);
  assert.match((await run(t, home, ["restore", join(folder, "none")])).err, /There is no file/);
  assert.match((await run(t, home, ["restore", join(home, "state.db")])).err, /is the store itself/);
  assert.deepEqual(readdirSync(home).toSorted(), before);
  assert.deepEqual(readFileSync(join(home, "state.db")), bytes);
});

test("a damaged store is replaced by a backup, and kept as it is", async (t) => {
  const home = newHome(t);
  const copy = join(dirname(home), "copy.db");
  const gateway = await runGateway(t, home);
  await client(gateway).send("c1", "m1", "before");
  assert.equal((await run(t, home, ["backup", copy])).code, 0);
  await gateway.end("SIGINT");
  const junk = Buffer.alloc(100_000, 7);
  writeFileSync(join(home, "state.db"), junk);
  const restored = await run(t, home, ["restore", copy, "--json"]);
  assert.equal(restored.code, 0, restored.err);
  const { kept } = JSON.parse(restored.out) as { kept: string };
  assert.deepEqual(readFileSync(kept), junk);
  const next = await runGateway(t, home);
  await until(
    () => client(next).transcript("c1"),
    (all) => all.length === 2,
    "it goes on from the backup",
  );
  await next.end("SIGINT");
});
