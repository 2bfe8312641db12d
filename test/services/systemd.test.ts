// The unit under real systemd as process 1. First the unit alone, with a few lines of shell in the gateway's place that
// end as they are told; then the real gateway, installed, killed, blocked, stopped and restarted.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Place } from "../../src/services/kinds.ts";
import { systemdUnit } from "../../src/services/systemd.ts";
import { client } from "../process/client.ts";
import type { Order, Report } from "../process/oracle.ts";
import { patienceMs, root, start, until, within } from "../process/stage.ts";
import { type Container, bootSystemd, newFolder } from "./container.ts";
import { answerTo, counted, freePort, slowly } from "./talk.ts";

function placeIn(folder: string): Place {
  return {
    home: join(folder, "home"),
    name: "everturn",
    node: process.execPath,
    main: join(root, "src", "main.ts"),
    passOn: {},
    user: { name: "root", uid: 0, home: folder },
  };
}

/** What systemd itself has to say about a unit; it ends with 0 even for settings that it does not know. */
function verify(file: string, runtime: string, scope: "user" | "system"): Promise<string> {
  const words = [`--${scope}`, "verify", "--man=no", file];
  const env = { ...process.env, XDG_RUNTIME_DIR: runtime };
  return new Promise((done) =>
    execFile("systemd-analyze", words, { env }, (error, out, err) => done(`${error?.message ?? ""}${out}${err}`)),
  );
}

for (const scope of ["user", "system"] as const)
  test(`systemd has nothing to say against the ${scope} unit, whatever is in its paths`, async (t) => {
    const folder = newFolder(t, "verify");
    const odd = join(folder, `it's "odd" %h $HOME \\x41 süß`);
    mkdirSync(odd);
    for (const name of ["node", "main.js"]) symlinkSync("/bin/true", join(odd, name));
    const plain = placeIn(folder);
    const places = [
      plain,
      { ...plain, home: odd, node: join(odd, "node"), main: join(odd, "main.js"), passOn: { X: odd } },
    ];
    const file = join(folder, "everturn.service");
    for (const place of places) {
      writeFileSync(file, systemdUnit(place, scope, { drainSeconds: 0 }));
      assert.equal(await verify(file, folder, scope), "");
    }
    writeFileSync(file, systemdUnit(plain, scope, { drainSeconds: 0 }).replace("KillMode=mixed", "KilMode=mixed"));
    assert.match(await verify(file, folder, scope), /Unknown key.*'KilMode'/, "a mistake would have been told");
  });

type Facts = Readonly<Record<string, string>>;

async function show(machine: Container, unit = "everturn.service"): Promise<Facts> {
  const properties =
    "ActiveState,SubState,Result,ExecMainStatus,ExecMainCode,MainPID,NRestarts,StatusText,TimeoutStopUSec";
  const out = await machine.must(["systemctl", "show", `--property=${properties}`, unit]);
  return Object.fromEntries(out.split("\n").map((line) => line.split(/=(.*)/s, 2) as [string, string]));
}

/** Shell in the place of Node: says that it is ready, then ends with the number that it finds, once. */
const actor = `
trap 'exit "$(cat "$EVERTURN_HOME/at-term")"' TERM
systemd-notify --ready --status="acting $*"
while [ ! -e "$EVERTURN_HOME/end" ]; do sleep 0.05; done
code=$(cat "$EVERTURN_HOME/end")
rm "$EVERTURN_HOME/end"
exit "$code"
`;

async function actingMachine(t: TestContext) {
  const folder = newFolder(t, "actor");
  const home = join(folder, "home");
  const main = join(folder, "actor.sh");
  mkdirSync(home);
  writeFileSync(main, actor);
  writeFileSync(join(home, "at-term"), "1");
  const unit = systemdUnit({ ...placeIn(folder), node: "/bin/sh", main }, "system", { drainSeconds: 0 });
  const machine = await bootSystemd(t, [folder]);
  const unitFile = join(folder, "everturn.service");
  writeFileSync(unitFile, unit);
  chmodSync(unitFile, 0o644);
  await machine.must(["cp", unitFile, "/etc/systemd/system/everturn.service"]);
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "start", "everturn"]);
  return { machine, end: (code: number) => writeFileSync(join(home, "end"), String(code)) };
}

test("the unit starts again after every end but 78 and 79, and a stop that ends with 1 is no failure", async (t) => {
  const { machine, end } = await actingMachine(t);
  const first = await show(machine);
  assert.equal(first["StatusText"], "acting gateway run");
  assert.equal(first["TimeoutStopUSec"], "1min 30s");
  let restarts = 0;
  for (const code of [0, 1, 70, 75]) {
    end(code);
    restarts += 1;
    const back = await until(
      () => show(machine),
      (now) => now["ActiveState"] === "active" && now["NRestarts"] === String(restarts),
      `it is back after ${code}`,
    );
    assert.equal(back["Result"], "success", `after ${code}`);
  }
  await machine.must(["systemctl", "kill", "--signal=KILL", "everturn"]);
  restarts += 1;
  await until(
    () => show(machine),
    (now) => now["ActiveState"] === "active" && now["NRestarts"] === String(restarts),
    "it is back after a kill",
  );
  await machine.must(["systemctl", "stop", "everturn"]);
  assert.equal((await show(machine))["ActiveState"], "inactive", "asked to stop it ended with 1, which is no failure");

  for (const [code, state] of [
    [78, "failed"],
    [79, "inactive"],
  ] as const) {
    await machine.must(["systemctl", "start", "everturn"]);
    end(code);
    const down = await until(
      () => show(machine),
      (now) => now["ActiveState"] === state,
      `it is down after ${code}`,
    );
    // systemd forgets about a unit that is down without a failure.
    if (state === "failed") assert.equal(down["ExecMainStatus"], String(code));
    // Twice the pause before a new start.
    await machine.must(["sleep", "1.2"]);
    const still = await show(machine);
    assert.deepEqual([still["ActiveState"], still["MainPID"]], [state, "0"], `it stays down after ${code}`);
  }
});

// ----------------------------------------------------------------------------------------------------- the real gateway

/** The gateway installed by its own command, as root's service. */
async function installed(
  t: TestContext,
  { config = "", env = {}, shared = [] }: { config?: string; env?: Record<string, string>; shared?: string[] } = {},
) {
  const folder = newFolder(t, "gateway");
  const home = join(folder, "home");
  mkdirSync(home, { mode: 0o700 });
  const port = await freePort();
  const configFile = join(home, "config.yaml");
  const configure = (more: string) => writeFileSync(configFile, `control: { port: ${port} }\n${more}`);
  configure(config);
  const machine = await bootSystemd(t, [folder, ...shared]);
  const everturn = (...words: readonly string[]) =>
    machine.run([process.execPath, join(root, "src", "main.ts"), "gateway", ...words, "--home", home], env);
  const install = await everturn("install", "--allow-root", "--json");
  assert.equal(install.code, 0, `${install.err}\n${await journal(machine)}`);
  const { service } = JSON.parse(install.out) as {
    readonly service: { readonly label: string; readonly kind: string };
  };
  assert.equal(service.kind, "systemd-system");
  // Codes that count as success are not in the journal.
  const exits = join(folder, "exits");
  writeFileSync(exits, "");
  await dropIn(machine, service.label, `ExecStopPost=/bin/sh -c 'echo "$EXIT_STATUS" >>${exits}'`);
  const url = `http://127.0.0.1:${port}`;
  return {
    machine,
    exits: () => readFileSync(exits, "utf8").split("\n").filter(Boolean),
    home,
    unit: service.label,
    url,
    everturn,
    configure,
    ask: client({ url, token: readFileSync(join(home, "control.token"), "utf8").trim() }),
    show: () => show(machine, service.label),
    systemctl: (verb: string, ...words: readonly string[]) =>
      machine.must(["systemctl", verb, ...words, service.label]),
    ready: async () => (await fetch(`${url}/readyz`)).status,
    state: () =>
      JSON.parse(readFileSync(join(home, "gateway_state.json"), "utf8")) as Readonly<Record<string, unknown>>,
    log: () => readFileSync(join(home, "logs", "gateway.log"), "utf8"),
  };
}

/** A setting for the test alone. */
async function dropIn(machine: Container, unit: string, setting: string): Promise<void> {
  const folder = `/run/systemd/system/${unit}.d`;
  const write = 'mkdir -p "$1" && printf "[Service]\\n%s\\n" "$2" >"$1/${2%%=*}.conf"';
  await machine.must(["sh", "-c", write, "-", folder, setting]);
  await machine.must(["systemctl", "daemon-reload"]);
}

type Installed = Awaited<ReturnType<typeof installed>>;

function journal(machine: Container): Promise<string> {
  return machine.run(["journalctl", "--no-pager", "-o", "cat"]).then(({ out }) => out);
}

/** When another process than this is the unit's, and ready. */
function anotherThan({ show: look, ready }: Installed, pid: string | undefined): Promise<Facts> {
  return until(
    async (): Promise<Facts> => ({ ...(await look()), ready: String(await ready().catch(() => 0)) }),
    (now) => now["ActiveState"] === "active" && now["MainPID"] !== pid && now["ready"] === "200",
    "the next process is ready",
  );
}

test("installed it is started when it is ready, told so, enabled, and not changed by a second install; uninstalled it is gone", async (t) => {
  const one = await installed(t);
  assert.equal(await one.ready(), 200, "`systemctl start` returned when it answered, not before");
  const facts = await one.show();
  assert.equal(facts["ActiveState"], "active");
  assert.notEqual(facts["StatusText"], "");
  assert.equal(facts["MainPID"], String(one.state()["pid"]), "no launcher in between");
  assert.equal(await one.systemctl("is-enabled"), "enabled");
  for (const verb of ["stop", "start"]) await one.systemctl(verb);
  assert.equal(await one.ready(), 200, "and again");

  const again = await one.everturn("install", "--json");
  assert.deepEqual([again.code, (JSON.parse(again.out) as { written: unknown }).written], [0, []]);
  const { MainPID: pid } = await one.show();
  const removed = await one.everturn("uninstall");
  assert.equal(removed.code, 0, removed.err);
  assert.match(removed.out, /Stopped and removed the systemd system service/);
  assert.match(await one.machine.must(["systemctl", "show", "--property=LoadState", one.unit]), /LoadState=not-found/);
  assert.notEqual((await one.machine.run(["kill", "-0", pid ?? ""])).code, 0, "its process is gone");
  assert.equal(one.state()["desired_state"], "stopped", "it was a planned stop");
});

test("a blocked event loop is seen by the watchdog; a killed gateway comes back; turns go on in both cases", async (t) => {
  const blocking = join(import.meta.dirname, "blocking.js");
  const one = await installed(t, { env: { NODE_OPTIONS: `--import=${blocking}` } });
  await dropIn(one.machine, one.unit, "WatchdogSec=2");
  await one.systemctl("restart");
  const { MainPID: first } = await one.show();
  // It lives much longer than the watchdog waits, because it gives signs of life.
  await one.ask.send("before", "m0", slowly);
  await answerTo(one.ask, "before");
  assert.equal((await one.show())["MainPID"], first, "while its loop turns it is left alone");

  await one.ask.send("blocked", "m1", slowly);
  writeFileSync(join(one.home, "block-now"), "");
  const second = await anotherThan(one, first);
  assert.match(await journal(one.machine), /Watchdog timeout/);
  assert.match(await answerTo(one.ask, "blocked"), counted);

  await one.ask.send("killed", "m2", slowly);
  await one.machine.must(["kill", "-KILL", second["MainPID"] ?? ""]);
  const third = await anotherThan(one, second["MainPID"]);
  assert.equal(third["Result"], "success");
  assert.match(await answerTo(one.ask, "killed"), counted);
});

test("a wrong configuration stays down with 78; mended, it starts", async (t) => {
  const one = await installed(t);
  one.configure("gateway: { drainSeconds: soon }\n");
  const restart = await one.machine.run(["systemctl", "restart", one.unit]);
  assert.notEqual(restart.code, 0, "systemctl says that it did not start");
  const down = await one.show();
  assert.deepEqual([down["ActiveState"], down["ExecMainStatus"], down["MainPID"]], ["failed", "78", "0"]);
  assert.match(await journal(one.machine), /gateway\.drainSeconds/, "the reason is in the journal");
  one.configure("");
  const started = await one.everturn("start");
  assert.equal(started.code, 0, started.err);
  assert.equal(await one.ready(), 200);
});

test("a stop in the middle of a turn ends within its budget, and the turn goes on after the start", async (t) => {
  const one = await installed(t);
  for (const [n, verb] of (["stop", "everturn stop"] as const).entries()) {
    const chat = `c${n}`;
    await one.ask.send(chat, `m${n}`, slowly);
    const begun = Date.now();
    if (verb === "stop") await one.systemctl("stop");
    else assert.equal((await one.everturn("stop")).code, 0);
    const tookMs = Date.now() - begun;
    t.diagnostic(`${verb} with a running turn: ${tookMs} ms`);
    assert.ok(tookMs < 5_000, `${verb} took ${tookMs} ms; drain 0 and 5 s are allowed`);
    assert.equal((await one.show())["ActiveState"], "inactive", "it stays down, and is no failure");
    const states = [one.state()["gateway_state"], one.state()["desired_state"]];
    assert.deepEqual(states, verb === "stop" ? ["running", "running"] : ["stopped", "stopped"]);
    assert.equal((await one.everturn("start")).code, 0);
    assert.match(await answerTo(one.ask, chat), counted);
  }
});

test("S115 a planned stop that did not come through systemctl is not revived: by marker, by marker and SIGTERM, by SIGINT", async (t) => {
  const one = await installed(t);
  const marker = (pid: string) => {
    const { start_time } = one.state();
    const content = { target_pid: Number(pid), target_start_time: start_time, written_at: new Date().toISOString() };
    writeFileSync(join(one.home, ".gateway-planned-stop.json"), JSON.stringify(content));
  };
  const ways = [
    { name: "marker", ask: async (pid: string) => marker(pid) },
    {
      name: "marker and SIGTERM",
      async ask(pid: string) {
        marker(pid);
        await one.machine.must(["kill", "-TERM", pid]);
      },
    },
    { name: "SIGINT", ask: async (pid: string) => void (await one.machine.must(["kill", "-INT", pid])) },
  ];
  for (const { name, ask } of ways) {
    const { MainPID: pid = "", NRestarts: restarts } = await one.show();
    await ask(pid);
    await until(one.show, (now) => now["ActiveState"] === "inactive", `it is down after ${name}`);
    assert.deepEqual([one.exits().at(-1), one.state()["gateway_state"]], ["79", "stopped"], name);
    assert.ok(!existsSync(join(one.home, ".gateway-planned-stop.json")), "S114 the marker is consumed");
    // Longer than the pause before a new start.
    await one.machine.must(["sleep", "1.2"]);
    const still = await one.show();
    assert.deepEqual([still["ActiveState"], still["MainPID"]], ["inactive", "0"], `it stays down after ${name}`);
    assert.equal(still["Result"], "success", `${name} is no failure`);
    await one.systemctl("start");
    assert.equal((await one.show())["NRestarts"], restarts, "systemd restarted nothing by itself");
  }
  await one.machine.must(["kill", "-TERM", (await one.show())["MainPID"] ?? ""]);
  await until(one.show, (now) => now["NRestarts"] === "1", "an unannounced signal is revived");
  assert.equal(one.exits().at(-1), "1");
});

test("S17 a service restart under systemd: the shortcut is launched once, the exit code is 0, .restart_pending.json is written, and it comes back", async (t) => {
  const one = await installed(t);
  const ways = [
    { name: "systemctl reload", pending: true, ask: () => one.systemctl("reload") },
    {
      name: "SIGUSR1",
      pending: true,
      ask: async () => one.machine.must(["kill", "-USR1", (await one.show())["MainPID"] ?? ""]),
    },
    {
      name: "everturn gateway restart",
      pending: true,
      ask: async () => assert.equal((await one.everturn("restart")).code, 0),
    },
    { name: "/restart", pending: false, ask: () => one.ask.send("asker", "r1", "/restart") },
  ];
  for (const [n, { name, ask, pending }] of ways.entries()) {
    const chat = `c${n}`;
    await one.ask.send(chat, `m${n}`, slowly);
    const { MainPID: before = "" } = await one.show();
    const seen = watchFor(t, join(one.home, ".restart_pending.json"));
    const from = Date.now();
    await ask();
    const after = await anotherThan(one, before);
    t.diagnostic(`${name}: ready again after ${Date.now() - from} ms`);
    assert.equal(after["Result"], "success");
    assert.match(await answerTo(one.ask, chat), counted, name);
    // Written at the end of the one life, read and removed by the next.
    assert.equal(seen(), pending, `${name}: a note for the homes is written, unless a chat is answered anyway`);
    const shortcuts = await one.machine.must([
      "journalctl",
      "--no-pager",
      "-o",
      "cat",
      "-u",
      `everturn-restart-${before}-*`,
    ]);
    assert.equal(shortcuts.match(/Started everturn-restart/g)?.length, 1, `${name}: ${shortcuts}`);
    assert.deepEqual(one.exits().slice(n), ["0"], name);
  }
  const asker = await one.ask.transcript("asker");
  assert.equal(asker.filter((said) => said.role !== "user").length, 1, JSON.stringify(asker));
});

/** Whether a file was there at any moment since. */
function watchFor(t: TestContext, path: string): () => boolean {
  let found = existsSync(path);
  const watcher = watch(join(path, ".."), (_, name) => {
    if (name !== null && path.endsWith(`/${name}`)) found = true;
  });
  t.after(() => watcher.close());
  return () => found;
}

test("where the short way is barred a restart ends with 75, and systemd starts it again", async (t) => {
  const folder = newFolder(t, "path");
  // Only what the gateway tells systemd with; nothing that could launch another unit.
  symlinkSync("/usr/bin/systemd-notify", join(folder, "systemd-notify"));
  symlinkSync("/usr/bin/systemctl", join(folder, "systemctl"));
  const one = await installed(t, { env: { PATH: folder }, shared: [folder] });
  const { MainPID: before } = await one.show();
  await one.ask.send("c1", "m1", slowly);
  await one.systemctl("reload");
  await anotherThan(one, before);
  assert.match(await answerTo(one.ask, "c1"), counted);
  assert.deepEqual(one.exits(), ["75"]);
});

test("`systemctl restart` under load loses nothing, doubles nothing and keeps the order", async (t) => {
  const one = await installed(t);
  const people = start(t, process.execPath, [join(root, "test", "process", "oracle.ts")], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const report = new Promise<Report>((resolve) => people.child.once("message", (said) => resolve(said as Report)));
  const token = readFileSync(join(one.home, "control.token"), "utf8").trim();
  people.child.send({ type: "begin", place: { url: one.url, token }, seed: 17 } satisfies Order);
  for (let n = 0; n < 4; n++) {
    await one.systemctl(n % 2 === 0 ? "restart" : "reload-or-restart");
    // A reload returns while the next process is still on its way.
    const count = () => answers(one).catch(() => -1);
    const before = await until(count, (found) => found >= 0, "the gateway can be asked");
    await until(count, (found) => found >= before + 5, "people are answered again");
  }
  people.child.send({ type: "finish", waitMs: patienceMs } satisfies Order);
  const { lost, doubled, disordered, wrong, givenUp, messages, answered } = await within(report, "no report came");
  assert.deepEqual(
    { lost, doubled, disordered, wrong, givenUp },
    { lost: [], doubled: [], disordered: [], wrong: [], givenUp: [] },
  );
  t.diagnostic(
    `4 restarts by systemctl while ${messages} messages were written: ${answered} answered, lost 0, doubled 0`,
  );
});

/** How often the first of them was answered so far. */
async function answers({ ask }: Installed): Promise<number> {
  return (await ask.transcript("person0")).filter((one) => one.role === "assistant").length;
}

test("S32 a unit that no longer fits is told at the start, with what to do, and `install --force` repairs it", async (t) => {
  const one = await installed(t);
  assert.doesNotMatch(one.log(), /install --force/);
  one.configure("gateway: { drainSeconds: 200 }\n");
  await one.systemctl("restart");
  await until(
    () => one.log(),
    (text) => /needs 230 s.*everturn gateway install --force.*smaller .*gateway\.drainSeconds/.test(text),
    "it is told",
  );
  assert.equal((await one.show())["TimeoutStopUSec"], "1min 30s");
  const refused = await one.everturn("install");
  assert.equal(refused.code, 1);
  assert.match(refused.err, /TimeoutStopSec.*install --force/);
  const { MainPID: before } = await one.show();
  const repaired = await one.everturn("install", "--force");
  assert.equal(repaired.code, 0, repaired.err);
  await anotherThan(one, before);
  assert.equal((await one.show())["TimeoutStopUSec"], "3min 50s");
});
