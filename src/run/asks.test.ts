// What becomes of requests: those that come before there is a gateway, signals with and without a marker, and the look at
// the machine at the first of them. Real signals of this process, real markers, time in hand.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pathsIn } from "../config/paths.ts";
import type { Instant } from "../core/ids.ts";
import type { StopIntent } from "../core/lifecycle.ts";
import { limits } from "../core/limits.ts";
import { ownIdentity } from "../host/identity.ts";
import { newMarker, writeMarker } from "../host/markers.ts";
import { redactor } from "../log/redact.ts";
import { watchAsks } from "./asks.ts";

const hide = redactor([process.argv0]).facts;

function watched(t: TestContext, drainMs = 0) {
  const home = mkdtempSync(join(tmpdir(), "everturn-asks-"));
  t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
  const paths = pathsIn(home);
  const self = ownIdentity();
  const logged: string[] = [];
  const late: StopIntent[] = [];
  const asks = watchAsks({
    world: { now: () => Date.now() as Instant, log: (_level, what) => void logged.push(what) },
    paths,
    self,
    env: {},
    drainMs,
    hide,
    overdue: (intent) => void late.push(intent),
  });
  t.after(() => asks.off());
  const asked: StopIntent[] = [];
  const answer = () =>
    asks.answer({
      stop: (intent) => void asked.push({ ...intent, context: { ...asks.witness(intent) } }),
      restart: (intent) => void asked.push(intent),
    });
  const announce = (kind: "plannedStop" | "takeOver", target = self) =>
    writeMarker(paths[kind], newMarker(kind, target, 1, Date.now()));
  return { asks, answer, asked, announce, logged, late, paths };
}

const kindsOf = (asked: readonly StopIntent[]) => asked.map((one) => [one.class, one.by]);

test("a request that comes before there is a gateway waits for it", (t) => {
  const { answer, asked } = watched(t);
  process.emit("SIGTERM", "SIGTERM");
  process.emit("SIGUSR1", "SIGUSR1");
  assert.deepEqual(asked, []);
  answer();
  assert.deepEqual(kindsOf(asked), [
    ["unexpected", "signal"],
    ["restart", "signal"],
  ]);
});

test("a marker that names this process decides, one that names another does not", async (t) => {
  const { asks, answer, asked, announce } = watched(t);
  answer();
  await announce("plannedStop", { pid: 1, startTime: 5 });
  process.emit("SIGHUP", "SIGHUP");
  await announce("plannedStop");
  process.emit("SIGTERM", "SIGTERM");
  asks.marked();
  await announce("takeOver");
  process.emit("SIGINT", "SIGINT");
  assert.deepEqual(kindsOf(asked), [
    ["unexpected", "signal"],
    ["planned", "marker"],
    ["planned", "marker"],
    ["take-over", "marker"],
  ]);
});

for (const isPlanned of [true, false])
  test(`S65 the context line is logged and kept for ${isPlanned ? "a planned stop" : "an unexpected one"}, and a diagnostic follows`, async (t) => {
    const { answer, asked, announce, logged, paths } = watched(t);
    if (isPlanned) await announce("plannedStop");
    answer();
    process.emit("SIGTERM", "SIGTERM");
    const kind = isPlanned ? "planned, by marker" : "unexpected, by signal";
    assert.equal(logged.length, 1);
    assert.match(
      logged[0] ?? "",
      new RegExp(`^asked to stop \\(${kind}\\): signal=SIGTERM .*parent_pid=\\d+ .*parent_cmdline=`),
    );
    const [{ context } = assert.fail()] = asked;
    const { signal, signal_num: number, pid, planned_stop_marker: marker } = context ?? {};
    assert.deepEqual([signal, number, pid], ["SIGTERM", 15, process.pid]);
    assert.equal((marker as { for_self: boolean } | null)?.for_self ?? false, isPlanned);
    const file = join(paths.logs, "gateway-shutdown-diag.log");
    while (!existsSync(file) || !readFileSync(file, "utf8").includes("end of the diagnostic")) await pause(20);
    assert.match(readFileSync(file, "utf8"), /shutdown diagnostic .* signal=SIGTERM /);
  });

test("what is kept of the moment holds no secret that stood on a command line", async (t) => {
  const { answer, asked, announce } = watched(t);
  // Written by anybody who can write to the home; kept as it was found, but for this.
  await announce("plannedStop", { pid: process.pid, startTime: null });
  answer();
  process.emit("SIGTERM", "SIGTERM");
  assert.ok(!JSON.stringify(asked[0]?.context).includes(process.argv0));
});

test("S49 S50 what is kept is JSON that gives back pid and signal, whatever else it was made of", (t) => {
  const { answer, asked } = watched(t);
  answer();
  process.emit("SIGTERM", "SIGTERM");
  const [{ context } = assert.fail()] = asked;
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const refuse = () => {
    throw new Error("closed");
  };
  const odd: readonly (readonly [unknown, unknown])[] = [
    [1n, "1"],
    [Number.NaN, "NaN"],
    [Symbol("s"), "Symbol(s)"],
    [refuse, "[function]"],
    [cycle, { self: "[cycle]" }],
    [new Proxy({}, { ownKeys: refuse, get: refuse }), "[unreadable]"],
  ];
  for (const [content, kept] of odd) {
    const stored = JSON.stringify(hide({ ...context, takeover_marker: { content, for_self: false }, odd: content }));
    const back = JSON.parse(stored) as Record<string, unknown>;
    assert.deepEqual([back["pid"], back["signal"]], [process.pid, "SIGTERM"], typeof content);
    assert.deepEqual(back["odd"], kept, `the odd key: ${typeof content}`);
    assert.deepEqual(back["takeover_marker"], { content: kept, for_self: false });
  }
});

test("a restart is known by its signal although that is long over when the stop begins", (t) => {
  const { asks, answer, asked } = watched(t);
  answer();
  process.emit("SIGUSR1", "SIGUSR1");
  const [intent = assert.fail()] = asked;
  assert.equal(asks.witness(intent)?.["signal"], "SIGUSR1");
});

test("a stop that does not come to an end is ended, with the class it began with, and only once", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { answer, late } = watched(t, 7_000);
  answer();
  process.emit("SIGINT", "SIGINT");
  t.mock.timers.tick(3_000);
  process.emit("SIGTERM", "SIGTERM");
  t.mock.timers.tick(4_000 + limits.stopMs - 1);
  assert.deepEqual(late, []);
  t.mock.timers.tick(1);
  assert.deepEqual(kindsOf(late), [["planned", "signal"]]);
  t.mock.timers.tick(60_000);
  assert.equal(late.length, 1);
});

test("what is asked to stop before there is a gateway ends in the same time, whatever hangs; a restart goes on", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { late } = watched(t, 7_000);
  process.emit("SIGUSR1", "SIGUSR1");
  t.mock.timers.tick(60_000);
  assert.deepEqual(late, []);
  process.emit("SIGTERM", "SIGTERM");
  t.mock.timers.tick(7_000 + limits.stopMs - 1);
  assert.deepEqual(late, []);
  t.mock.timers.tick(1);
  assert.deepEqual(kindsOf(late), [["unexpected", "signal"]]);
});

test("what takes the return of a restart back: the last word, but its owner's wish for an end above all", async (t) => {
  const { asks, answer, announce, paths } = watched(t);
  answer();
  process.emit("SIGUSR1", "SIGUSR1");
  assert.equal(asks.revoked(), null);
  await announce("plannedStop", { pid: 1, startTime: 5 });
  assert.equal(asks.revoked(), null, "it names another process");
  process.emit("SIGTERM", "SIGTERM");
  assert.equal(asks.revoked(), "unexpected");
  process.emit("SIGINT", "SIGINT");
  process.emit("SIGTERM", "SIGTERM");
  assert.equal(asks.revoked(), "planned");
  await announce("plannedStop");
  assert.equal(asks.revoked(), "planned");
  rmSync(paths.plannedStop);
  await announce("takeOver");
  assert.equal(asks.revoked(), "take-over");
});

test("afterwards signals are nobody's business", (t) => {
  const before = process.listenerCount("SIGUSR1");
  const { asks } = watched(t);
  assert.equal(process.listenerCount("SIGUSR1"), before + 1);
  asks.off();
  assert.equal(process.listenerCount("SIGUSR1"), before);
});
