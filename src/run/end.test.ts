// The last steps of a life on a real home: a real gateway over a store file is asked to stop or restart, and then ends as
// it would under each supervisor. What belongs to systemd are stand-ins on the path that write down how they were called.

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { loadConfig } from "../config/load.ts";
import type { StopIntent, SupervisorKind } from "../core/lifecycle.ts";
import type { StopBy, StopClass } from "../core/recovery.ts";
import { type ProcessIdentity, ownIdentity, readStateFile, writeDesiredState } from "../host/identity.ts";
import { newMarker, writeMarker } from "../host/markers.ts";
import { supervisorOf } from "../host/supervised.ts";
import { openSqliteStore } from "../stores/sqlite/index.ts";
import { realWorld } from "../world.ts";
import type { Revoked } from "./asks.ts";
import { codeOf, finalWrites } from "./end.ts";
import { openHandover } from "./next/handover.ts";
import { beginBoot, loadCode, settingsOf } from "./parts.ts";
import { openBoard } from "./state.ts";

const self = ownIdentity();

async function newLife(t: TestContext, revoked: () => Revoked | null = () => null) {
  const home = mkdtempSync(join(tmpdir(), "everturn-end-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const input = { home, env: {}, userHome: null, cwd: home, readFile: async () => ({ type: "missing" }) as const };
  const loaded = await loadConfig(input);
  assert.ok(loaded.type === "loaded");
  const { config, paths } = loaded;
  const logged: string[] = [];
  const world = realWorld((level, what, facts) => void logged.push(`${level} ${what} ${JSON.stringify(facts ?? {})}`));
  const store = await openSqliteStore({ file: paths.store, writer: "inline" });
  t.after(() => store.close());
  const code = await loadCode(config, paths);
  const boot = beginBoot(world, "1.2.3", "");
  const platforms = code.near.map((make) => make(store, { boot: boot.id, version: "1.2.3" }).platform);
  const gate = code.engine.gateway({
    store,
    platforms,
    agent: code.agent(),
    world,
    settings: settingsOf(config, []),
    boot,
  });
  const board = openBoard(paths.state, { ...self, version: "1.2.3", startedAt: boot.startedAt }, world);
  const running = gate.run();
  await gate.ready;

  /** Ends it as asked and does what comes last. */
  async function end(ask: { class: StopClass; by: StopBy }, supervisor: SupervisorKind | null, unit: string) {
    const intent: StopIntent = { ...ask, reason: "it was asked to" };
    if (ask.class === "restart") assert.equal(await gate.restart(intent), "restarting");
    else gate.stop(intent);
    const ending = await running;
    const handover = openHandover({
      isSupervised: true,
      env: {},
      logs: paths.logs,
      patienceMs: 1,
      check: async () => undefined,
    });
    const readCgroup = async () => `0::/system.slice/${unit}\n`;
    const parts = { world, paths, self, boot, board, handover, supervisor, revoked, readCgroup };
    const back = await finalWrites(ending.intent, parts);
    return {
      back,
      exit: codeOf(ending, supervisor, back),
      state: await readStateFile(paths.state),
    };
  }
  return { paths, boot, end, logged };
}

/** Programs in the place of systemd's, and what they were called with. */
function standIns(t: TestContext, main: ProcessIdentity | null): () => readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "everturn-systemd-"));
  const log = join(folder, "asked.txt");
  const script = (name: string, answer: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $*" >> '${log}'\n${answer}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  script("systemctl", `echo ${main?.pid ?? 1}`);
  script("systemd-run", "exit 0");
  const before = process.env["PATH"];
  process.env["PATH"] = `${folder}${delimiter}${before}`;
  t.after(() => {
    process.env["PATH"] = before;
    rmSync(folder, { recursive: true, force: true });
  });
  return () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
}

const pendingIn = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;

test("S17 S29 a service restart under systemd launches the shortcut once, ends with 0, and leaves .restart_pending.json and `stopped`", async (t) => {
  const asked = standIns(t, self);
  const { paths, boot, end } = await newLife(t);
  const ended = await end({ class: "restart", by: "signal" }, "systemd", "everturn.service");
  assert.deepEqual([ended.back, ended.exit], ["arranged", 0]);
  const launches = asked().filter((one) => one.startsWith("systemd-run "));
  assert.equal(launches.length, 1);
  assert.match(launches[0] ?? "", /everturn\.service/);
  const { restart, by } = pendingIn(paths.restartPending);
  assert.deepEqual([restart, by], [boot.id, "signal"]);
  const { gateway_state, desired_state, restart_requested } = ended.state ?? {};
  assert.deepEqual([gateway_state, desired_state, restart_requested], ["stopped", "running", true]);
});

test("S17 where we are not the process of the unit, nothing is launched and systemd is asked by 75", async (t) => {
  const asked = standIns(t, null);
  const { paths, end, logged } = await newLife(t);
  const ended = await end({ class: "restart", by: "cli" }, "systemd", "everturn.service");
  assert.deepEqual([ended.back, ended.exit], ["open", 75]);
  assert.ok(!asked().some((one) => one.startsWith("systemd-run ")));
  assert.ok(existsSync(paths.restartPending));
  assert.ok(
    logged.some((one) => one.startsWith("warn") && one.includes("the short way back")),
    logged.join("\n"),
  );
});

test("S18 a service restart on macOS ends with 75, and nothing of systemd is asked", async (t) => {
  const asked = standIns(t, self);
  const hints = { env: { XPC_SERVICE_NAME: "dev.everturn.gateway" }, pid: 42, ppid: 1, parentName: null };
  const supervisor = supervisorOf({ ...hints, platform: "darwin" });
  assert.equal(supervisor, "launchd");
  const { paths, end } = await newLife(t);
  const ended = await end({ class: "restart", by: "signal" }, supervisor, "everturn.service");
  assert.deepEqual([ended.back, ended.exit], ["open", 75]);
  assert.deepEqual(asked(), []);
  assert.ok(existsSync(paths.restartPending));
});

for (const by of ["chat", "tool"] as const)
  test(`S23 a restart asked for by ${by === "chat" ? "a message" : "a tool"} leaves no .restart_pending.json`, async (t) => {
    standIns(t, self);
    const { paths, end } = await newLife(t);
    const ended = await end({ class: "restart", by }, "systemd", "everturn.service");
    assert.equal(ended.exit, 0);
    assert.equal(existsSync(paths.restartPending), false);
    assert.equal(ended.state?.gateway_state, "stopped");
  });

test("S114 the marker that named this process is gone afterwards, one for another process stays", async (t) => {
  const { paths, end } = await newLife(t);
  await writeMarker(paths.plannedStop, newMarker("plannedStop", self, 1, Date.now()));
  await writeMarker(paths.takeOver, newMarker("takeOver", { pid: 1, startTime: 5 }, 1, Date.now()));
  const ended = await end({ class: "planned", by: "marker" }, null, "x");
  assert.deepEqual([existsSync(paths.plannedStop), existsSync(paths.takeOver)], [false, true]);
  assert.deepEqual([ended.exit, ended.state?.gateway_state, ended.state?.desired_state], [0, "stopped", "stopped"]);
});

test("who was fenced off leaves the state file to whoever serves now", async (t) => {
  const { paths, end } = await newLife(t);
  writeFileSync(paths.state, '{"gateway_state":"running","pid":1}');
  const ended = await end({ class: "take-over", by: "fault" }, null, "x");
  assert.deepEqual([ended.exit, ended.state?.gateway_state, ended.state?.pid], [79, "running", 1]);
});

test("a step that fails does not keep the others from running, and what failed is told together", async (t) => {
  const { paths, end, logged } = await newLife(t);
  mkdirSync(join(paths.restartPending, "in the way"), { recursive: true });
  const ended = await end({ class: "restart", by: "cli" }, "s6", "x");
  assert.deepEqual([ended.exit, ended.state?.gateway_state], [75, "stopped"]);
  assert.equal(logged.filter((one) => one.includes("a note for the next start")).length, 1);
});

const changes: readonly {
  readonly what: string;
  readonly word: Revoked;
  readonly under: SupervisorKind | null;
  /** It came while the return was being arranged. */
  readonly late?: true;
  readonly exit: number;
  readonly desired: string;
  readonly launches: number;
  readonly comes: boolean;
}[] = [
  { what: "its owner", word: "planned", under: "systemd", exit: 79, desired: "stopped", launches: 0, comes: false },
  { what: "its owner", word: "planned", under: "s6", exit: 0, desired: "stopped", launches: 0, comes: false },
  { what: "its owner", word: "planned", under: "task", exit: 0, desired: "stopped", launches: 0, comes: false },
  { what: "its owner", word: "planned", under: null, exit: 0, desired: "stopped", launches: 0, comes: false },
  { what: "another one", word: "take-over", under: "s6", exit: 79, desired: "running", launches: 0, comes: false },
  {
    what: "a bare signal",
    word: "unexpected",
    under: "systemd",
    exit: 75,
    desired: "running",
    launches: 0,
    comes: false,
  },
  { what: "a bare signal", word: "unexpected", under: null, exit: 75, desired: "running", launches: 0, comes: false },
  {
    what: "its owner, late",
    word: "planned",
    under: null,
    late: true,
    exit: 0,
    desired: "stopped",
    launches: 0,
    comes: false,
  },
  // Systemd has been asked already; whoever stops it finds that another life begins, and ends it.
  {
    what: "its owner, late",
    word: "planned",
    under: "systemd",
    late: true,
    exit: 79,
    desired: "stopped",
    launches: 1,
    comes: true,
  },
];

for (const { what, word, under, late, exit, desired, launches, comes } of changes)
  test(`a restart under ${under ?? "nobody"} whose return is taken back by ${what}`, async (t) => {
    const asked = standIns(t, self);
    let looks = 0;
    const { paths, end } = await newLife(t, () => (late === true && looks++ === 0 ? null : word));
    const ended = await end({ class: "restart", by: "signal" }, under, "everturn.service");
    assert.deepEqual([ended.back, ended.exit], [word, exit]);
    assert.equal(asked().filter((one) => one.startsWith("systemd-run ")).length, launches);
    assert.equal(existsSync(paths.restartPending), false, "of a restart that is none nobody hears");
    const { gateway_state, desired_state, restart_requested } = ended.state ?? {};
    assert.deepEqual([gateway_state, desired_state, restart_requested], ["stopped", desired, comes]);
  });

test("what its owner has written meanwhile stays, whatever kind of stop it is", async (t) => {
  const { paths, end } = await newLife(t);
  await writeDesiredState(paths.state, "stopped");
  const ended = await end({ class: "unexpected", by: "signal" }, null, "x");
  assert.deepEqual([ended.state?.gateway_state, ended.state?.desired_state], ["running", "stopped"]);
});
