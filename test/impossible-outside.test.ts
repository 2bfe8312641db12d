// What cannot happen between the gateway and the machine it runs on: signals, markers, files, supervisors, clocks. Where it
// takes a process, it is a real one. The numbers are rows of docs/checklist.md.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pathsIn } from "../src/config/paths.ts";
import type { BootId, Instant } from "../src/core/ids.ts";
import { exitCodeOf, exitCodes, reportedCode } from "../src/core/lifecycle.ts";
import { limits } from "../src/core/limits.ts";
import { type StopClass, newBoot } from "../src/core/recovery.ts";
import { patienceFor } from "../src/host/ending.ts";
import { takeSnapshot } from "../src/host/forensics/snapshot.ts";
import { ownIdentity, readStateFile, startTimeOf, writeDesiredState } from "../src/host/identity.ts";
import { tryLock } from "../src/host/lock.ts";
import { judgeMarker, newMarker, parseMarker, readMarkerNow, writeMarker } from "../src/host/markers.ts";
import { watchMarkers } from "../src/host/watcher.ts";
import { openBoard, stateAfter, stateWhile } from "../src/run/state.ts";
import { shouldAutostart } from "../src/services/autostart.ts";
import { type Place, stopSeconds } from "../src/services/kinds.ts";
import { launchdList } from "../src/services/launchd.ts";
import { s6Files } from "../src/services/s6.ts";
import { systemdUnit } from "../src/services/systemd.ts";
import { openSqliteArchive, openSqliteStore } from "../src/stores/sqlite/index.ts";
import { openLives, parrot } from "./lives.ts";
import { client } from "./process/client.ts";
import { newHome, runGateway, signal, stateOf, until } from "./process/stage.ts";

const root = join(import.meta.dirname, "..");
const classes: readonly StopClass[] = ["planned", "take-over", "restart", "unexpected", "fault"];
const intentOf = (kind: StopClass) => ({ class: kind, by: "signal", reason: "it was asked to" }) as const;
const place: Place = {
  home: "/home/ann/.everturn",
  name: "everturn",
  node: "/opt/node",
  main: "/opt/everturn/main.js",
  passOn: {},
  user: { name: "ann", uid: 1000, home: "/home/ann" },
};

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-outside-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("impossible 18: whoever waits for a stop is more patient than the longest stop", () => {
  for (const drain of [0, 1, 5, 29, 30, 59, 60, 61, 120, 3_600]) {
    const longest = drain + limits.stopMs / 1_000;
    const unit = Number(/^TimeoutStopSec=(\d+)$/m.exec(systemdUnit(place, "user", { drainSeconds: drain }))?.[1]);
    const s6 = Number(
      s6Files(place, "/run/service/everturn", drain).find(({ path }) => path.endsWith("timeout-kill"))?.text,
    );
    const list = Number(/<key>ExitTimeOut<\/key>\s*<integer>(\d+)</.exec(launchdList(place, "user", drain))?.[1]);
    const waits = { "stop and --replace": patienceFor(drain) / 1_000, systemd: unit, s6: s6 / 1_000, launchd: list };
    for (const [who, seconds] of Object.entries(waits))
      assert.ok(seconds > longest, `${who} waits ${seconds} s for a stop that may take ${longest} s`);
    // Who asks forces before the supervisor does, so that it can say what happened.
    assert.ok(patienceFor(drain) / 1_000 < stopSeconds(drain));
  }
});

test("impossible 19: whoever gets the lock finds the last word of the one before, on the disk and in the store", async (t) => {
  for (const [kind, state] of [
    ["SIGINT", "stopped"],
    ["SIGTERM", "running"],
  ] as const) {
    const home = newHome(t);
    const gateway = await runGateway(t, home);
    await client(gateway).send("c", "m", "count to 50 slowly");
    const paths = pathsIn(home);
    const attempt = tryLock(paths.lock);
    signal(gateway.pid, kind);
    const lock = await until(
      () => attempt.take(),
      ({ type }) => type === "held",
      "the lock is free",
      1,
    );
    const found = await readStateFile(paths.state);
    const archive = openSqliteArchive(paths.store);
    const [boot] = await archive.lastBoots(1);
    archive.close();
    if (lock.type === "held") lock.release();
    assert.deepEqual([found?.gateway_state, found?.url], [state, null], kind);
    assert.ok(
      boot?.story.silentAt !== undefined && (boot.story.phases?.length ?? 0) > 0,
      "its story is told to the end",
    );
    assert.equal(boot?.stop?.clean, true);
    await gateway.exit;
    assert.equal((await readStateFile(paths.state))?.updated_at, found?.updated_at, "nothing is written after it");
  }
});

test("impossible 20: the first request decides the class, whatever comes after it, in the process and in the store", async (t) => {
  for (const first of classes) {
    for (const second of classes) {
      const lives = openLives(t);
      const life = await lives.begin({ agent: parrot().agent });
      life.gate.stop(intentOf(first));
      life.gate.stop(intentOf(second));
      const ending = await life.running;
      assert.equal(ending.intent.class, first);
      await life.die();
      const [boot] = await lives.look((store) => store.lastBoots(1));
      assert.equal(boot?.stop?.class, first, `${first}, then ${second}`);
    }
  }
});

for (const [name, ask] of [
  ["marker, then the signal, twice", ["mark", "SIGTERM", "SIGTERM"]],
  ["marker alone, then a late signal", ["mark", "wait", "SIGTERM"]],
  ["marker, then a signal that would mean something else", ["mark", "SIGHUP"]],
] as const) {
  test(`impossible 20: a planned stop is never taken for an accident: ${name}`, async (t) => {
    const home = newHome(t);
    const gateway = await runGateway(t, home);
    await client(gateway).send("c", "m", "count to 50 slowly");
    const target = { pid: gateway.pid, startTime: startTimeOf(gateway.pid) };
    const { plannedStop } = pathsIn(home);
    for (const step of ask) {
      if (step === "mark") await writeMarker(plannedStop, newMarker("plannedStop", target, process.pid, Date.now()));
      else if (step === "wait")
        await until(
          () => gateway.err(),
          (said) => said.includes("asked to stop"),
          "it has begun to stop",
        );
      else signal(gateway.pid, step);
    }
    assert.equal(await gateway.exit, 0, gateway.err());
    assert.equal(stateOf(home).gateway_state, "stopped");
    assert.equal(existsSync(plannedStop), false, "the marker that was obeyed is gone");
  });
}

test("impossible 21: markers for others, old ones and broken ones end nobody and excuse nobody", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const { plannedStop, takeOver } = pathsIn(home);
  const startTime = startTimeOf(gateway.pid);
  const stale = {
    target_pid: gateway.pid,
    target_start_time: (startTime ?? 0) + 10,
    written_at: "2020-01-01T00:00:00Z",
  };
  writeFileSync(plannedStop, JSON.stringify(stale));
  // An old one from before the machine's last start, which names no moment at all.
  writeFileSync(takeOver, JSON.stringify({ target_pid: 4_000_000 }));
  utimesSync(takeOver, new Date(0), new Date(0));
  await until(
    () => [plannedStop, takeOver].filter((file) => existsSync(file)),
    (left) => left.length === 0,
    "both stale markers are removed",
  );
  // A fresh one with the number of this process, but the start of an earlier one, and half a file.
  writeFileSync(plannedStop, JSON.stringify({ ...stale, written_at: new Date().toISOString() }));
  writeFileSync(takeOver, `{"target_pid":${gateway.pid},"target_st`);
  await client(gateway).send("c", "m", "still there");
  assert.equal(await gateway.end("SIGTERM"), exitCodes.unexpected, "nobody announced this one");
  assert.equal(stateOf(home).gateway_state, "running");
});

test("impossible 23: no subprocess is waited for on the loop of a gateway", () => {
  // What only commands of the command line use may wait; the gateway's own code may not.
  const ofCommands = /^src\/(?:services|cli)\//;
  const waits = /\b(?:spawnSync|execSync|execFileSync)\b|Atomics\.wait\(/;
  const found = globSync("src/**/*.ts", { cwd: root })
    .filter((file) => !/\.test\.ts$|^src\/testing\//.test(file) && !ofCommands.test(file))
    .filter((file) => waits.test(readFileSync(join(root, file), "utf8")));
  assert.deepEqual(found, []);
});

test("impossible 23: the loop turns while the disk works", async (t) => {
  const store = await openSqliteStore({ file: join(folderOf(t), "state.db"), writer: "thread" });
  t.after(() => store.close());
  const facts = { pid: 1, host: "", machine: "", version: "", config: "", startedAt: 0 as Instant };
  const boot = newBoot({ id: "b1" as BootId, ...facts });
  assert.equal(await store.openBoot(boot), "opened");
  const changes = Array.from(
    { length: 200 },
    (_, i) => ({ put: "fact", name: `n${i}`, value: "v".repeat(10_000) }) as const,
  );
  async function turnsWhile(): Promise<number> {
    let turns = 0;
    let isOver = false;
    const count = async () => {
      for (; !isOver; turns++) await pause(0);
    };
    const counting = count();
    assert.equal(await store.commit(changes, boot.id).finally(() => (isOver = true)), "committed");
    await counting;
    return turns;
  }
  // Until its thread stands, commits are made in place; then never again.
  let tries = 0;
  while ((await turnsWhile()) <= 2) assert.ok(tries++ < 1_000, "the loop stood still during every commit");
  for (let i = 0; i < 20; i++) assert.ok((await turnsWhile()) > 0, "the loop stood still once more");
});

test("impossible 24: every end that should be followed by a start is, under every supervisor", () => {
  const unit = systemdUnit(place, "user", { drainSeconds: 0 });
  const codesIn = (key: string) =>
    new Set((new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1] ?? "").split(" ").map(Number));
  assert.match(unit, /^Restart=always$/m);
  assert.match(unit, /^StartLimitIntervalSec=0$/m);
  const finish = s6Files(place, "/run/service/everturn", 0).find(({ path }) => path.endsWith("finish"))?.text ?? "";
  const staysDown = {
    systemd: (code: number) => codesIn("RestartPreventExitStatus").has(code),
    s6: (code: number) => runFinish(finish, code) === 125,
    launchd: (code: number) => code === 0,
    task: (code: number) => code === 0,
  } as const;
  assert.match(
    launchdList(place, "user", 0),
    /<key>KeepAlive<\/key>\s*<dict>\s*<key>SuccessfulExit<\/key>\s*<false\/>/,
  );
  for (const [supervisor, stays] of Object.entries(staysDown) as [
    keyof typeof staysDown,
    (code: number) => boolean,
  ][]) {
    const codeOf = (kind: StopClass, shortcut = false) => exitCodeOf({ intent: { class: kind } }, supervisor, shortcut);
    for (const kind of ["restart", "unexpected", "fault"] as const)
      assert.equal(stays(codeOf(kind)), false, `${supervisor} leaves it down after ${kind} (${codeOf(kind)})`);
    assert.equal(stays(codeOf("take-over")), true, `${supervisor} starts it beside the one that took over`);
    assert.equal(stays(codeOf("planned")), true, `${supervisor} revives a planned stop`);
    assert.equal(
      stays(reportedCode(exitCodes.config, supervisor)),
      true,
      `${supervisor} loops over a wrong configuration`,
    );
  }
  // Under systemd 0 comes back too: it is the code of a restart, and a planned stop has another.
  assert.equal(exitCodeOf({ intent: { class: "restart" } }, "systemd", true), 0);
  assert.equal(staysDown.systemd(0), false);
  assert.ok(codesIn("RestartForceExitStatus").has(exitCodes.again));
  assert.ok([1, 75, 79].every((code) => codesIn("SuccessExitStatus").has(code)));
});

function runFinish(text: string, code: number): number {
  try {
    execFileSync("sh", ["-c", text, "finish", String(code)]);
    return 0;
  } catch (error) {
    return (error as { readonly status: number }).status;
  }
}

test("impossible 26: a container that dies between stop and start of a restart comes back; after a planned stop it does not", () => {
  for (const kind of classes) {
    const left = stateAfter(intentOf(kind));
    assert.equal(shouldAutostart(left), kind !== "planned", kind);
  }
  assert.equal(stateAfter(intentOf("restart")).gateway_state, "stopped", "though it says what it is");
  assert.equal(shouldAutostart({ gateway_state: "running", desired_state: null }), true);
  assert.equal(shouldAutostart({ gateway_state: "stopped", desired_state: null }), false);
});

test("impossible 27: a marker is noticed by the event of its file, long before the next look", async (t) => {
  const folder = folderOf(t);
  const files = { plannedStop: join(folder, "stop.json"), takeOver: join(folder, "take-over.json") };
  const self = ownIdentity();
  const fired = Promise.withResolvers<string>();
  // Without events this would take an hour.
  const watching = watchMarkers({
    files,
    self,
    isOpen: () => true,
    isDraining: () => false,
    fire: (kind) => fired.resolve(kind),
    log: () => undefined,
    now: Date.now,
    intervalMs: 3_600_000,
  });
  t.after(() => watching.stop());
  const alive = setInterval(() => undefined, 1_000);
  t.after(() => clearInterval(alive));
  // The folder is watched when the first look is over; a marker written before that is seen by that look.
  await writeMarker(files.plannedStop, newMarker("plannedStop", { pid: self.pid + 1, startTime: 1 }, 1, Date.now()));
  await pause(0);
  await writeMarker(files.plannedStop, newMarker("plannedStop", self, 1, Date.now()));
  assert.equal(await fired.promise, "plannedStop");
});

const status = {
  state: "running",
  reason: null,
  safeMode: false,
  startedAt: 0 as Instant,
  boot: "b",
  running: [],
  platforms: [],
  recovered: { turns: 0, items: 0, tookMs: 0 },
} as const;

test("impossible 30: many writers of one file: every reader sees a whole one, and what the owner wants is kept", async (t) => {
  const file = join(folderOf(t), "gateway_state.json");
  const world = { now: () => Date.now() as Instant, log: () => undefined };
  for (let round = 0; round < 30; round++) {
    const board = openBoard(file, { pid: 1, startTime: 1, version: "1", startedAt: 0 }, world);
    await until(() => existsSync(file), Boolean, "the file is there", 1);
    let isOver = false;
    const reading = (async () => {
      for (; !isOver; await pause(0)) assert.notEqual(await readStateFile(file), null, "half a file was seen");
    })();
    for (let i = 0; i < 5; i++) board.show(stateWhile({ ...status, reason: `${i}` }, `http://${i}`, null));
    // As a planned stop goes: its owner writes what is wanted while the gateway writes what is, then asks.
    await writeDesiredState(file, "stopped");
    board.show(stateWhile({ ...status, state: "draining" }, "http://late", intentOf("planned")));
    const last = await until(
      () => readStateFile(file),
      (found) => found?.url === "http://late",
      "the last word is written",
      1,
    );
    isOver = true;
    await reading;
    assert.equal(last?.desired_state, "stopped", `round ${round}: what its owner wants was overwritten`);
    rmSync(file);
  }
});

test("impossible 31: times are UTC, whatever zone writer and reader live in", (t) => {
  const folder = folderOf(t);
  const file = join(folder, "marker.json");
  const program = `
    import { newMarker, writeMarker, judgeMarker, readMarkerNow } from ${JSON.stringify(join(root, "src/host/markers.ts"))};
    const [file, what, pid, start] = process.argv.slice(1);
    const self = { pid: Number(pid), startTime: start === "" ? null : Number(start) };
    if (what === "write") await writeMarker(file, newMarker("plannedStop", self, 1, Date.now()));
    else console.log(judgeMarker(readMarkerNow(file), self, Date.now()));`;
  const runIn = (zone: string, ...words: readonly string[]) =>
    execFileSync(process.execPath, ["--input-type=module", "-e", program, file, ...words], {
      env: { ...process.env, TZ: zone },
      encoding: "utf8",
    }).trim();
  // Without a start time the age decides, and a zone would be hours.
  for (const [writer, reader] of [
    ["Pacific/Kiritimati", "Pacific/Marquesas"],
    ["America/New_York", "Asia/Kathmandu"],
  ] as const) {
    runIn(writer, "write", "4242", "");
    assert.match(readFileSync(file, "utf8"), /"written_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/);
    assert.equal(runIn(reader, "judge", "4242", ""), "self", `${writer} → ${reader}`);
  }
  // With it, no clock is believed at all.
  const { pid, startTime } = ownIdentity();
  const found = parseMarker(JSON.stringify(newMarker("plannedStop", { pid, startTime }, 1, 0)), 0);
  if (startTime !== null) assert.equal(judgeMarker(found, { pid, startTime }, Date.now()), "self");
});

test("impossible 34: forensics compare numbers, not texts, however the marker is written", (t) => {
  const folder = folderOf(t);
  const markerFiles = { plannedStop: join(folder, "stop.json"), takeOver: join(folder, "take-over.json") };
  const snapshotOf = (pid: number, startTime: number | null) =>
    takeSnapshot({ signal: "SIGTERM", self: { pid, startTime }, markerFiles, env: {} });
  for (const spaces of [0, 2]) {
    const marker = newMarker("takeOver", { pid: 123, startTime: 50 }, 7, Date.now());
    writeFileSync(markerFiles.takeOver, JSON.stringify(marker, null, spaces));
    assert.equal(snapshotOf(123, 50).takeover_marker?.for_self, true);
    for (const [pid, start] of [
      [12, 50],
      [23, 50],
      [1, 50],
      [1234, 50],
      [123, 5],
      [123, 500],
    ] as const)
      assert.equal(snapshotOf(pid, start).takeover_marker?.for_self, false, `${pid} began at ${start}`);
  }
  assert.equal(judgeMarker(readMarkerNow(markerFiles.takeOver), { pid: 123, startTime: 50 }, Date.now()), "self");
});
