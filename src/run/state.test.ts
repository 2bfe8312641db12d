// What gateway_state.json says in each state and after each kind of end, and in which order it is written.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Instant } from "../core/ids.ts";
import type { StopIntent } from "../core/lifecycle.ts";
import { newHealth } from "../core/links/health.ts";
import type { StopClass } from "../core/recovery.ts";
import { readStateFile, writeDesiredState } from "../host/identity.ts";
import { openBoard, stateAfter, stateWhile } from "./state.ts";

const who = { pid: 42, startTime: 1_230, version: "1.2.3", startedAt: 0 };
const stop = (kind: StopClass): StopIntent => ({ class: kind, by: "signal", reason: "it was asked to" });
const link = newHealth(0 as Instant);
const status = {
  state: "running",
  reason: null,
  safeMode: false,
  startedAt: 0 as Instant,
  boot: "b1",
  running: [],
  platforms: [
    { ...link, platform: "web", account: "local", isFar: false, state: "up", up: true, why: null },
    { ...link, platform: "telegram", account: "bot", isFar: true, state: "down", up: false, why: "no answer" },
  ],
  recovered: { turns: 0, items: 0, tookMs: 0 },
} as const;

async function board(t: TestContext, logged: string[] = []) {
  const home = await mkdtemp(join(tmpdir(), "everturn-board-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const file = join(home, "gateway_state.json");
  const world = { now: () => 5_000 as Instant, log: (_: string, what: string) => void logged.push(what) };
  return { file, home, made: openBoard(file, who, world) };
}

test("what is left after each kind of end", () => {
  const rows: readonly (readonly [StopClass, string, string])[] = [
    ["planned", "stopped", "stopped"],
    ["restart", "stopped", "running"],
    ["take-over", "stopped", "running"],
    ["unexpected", "running", "running"],
    ["fault", "running", "running"],
  ];
  for (const [kind, state, desired] of rows)
    assert.deepEqual(stateAfter(stop(kind)), { gateway_state: state, desired_state: desired }, kind);
  // Its owner has said so meanwhile, and keeps it.
  for (const [kind, state] of rows)
    assert.deepEqual(stateAfter(stop(kind), "stopped"), { gateway_state: state, desired_state: "stopped" }, kind);
});

test("platforms, running turns and the reason of a stop are told", () => {
  const told = stateWhile({ ...status, state: "draining" }, "http://x", stop("restart"));
  assert.deepEqual(told, {
    gateway_state: "draining",
    active_agents: 0,
    restart_requested: true,
    exit_reason: "it was asked to",
    platforms: {
      "web/local": { state: "connected", why: null },
      "telegram/bot": { state: "connecting", why: "no answer" },
    },
    url: "http://x",
  });
  assert.equal(stateWhile(status, null, null).exit_reason, null);
  const [web, telegram] = status.platforms;
  const denied = { ...status, platforms: [web, { ...telegram, state: "denied", why: "wrong token" }] } as const;
  assert.deepEqual(stateWhile(denied, null, null).platforms["telegram/bot"], { state: "denied", why: "wrong token" });
});

test("starting is written first; the newest wins; the last word is waited for and nothing comes after it", async (t) => {
  const { file, made } = await board(t);
  for (let n = 0; n < 20; n++) made.show(stateWhile(status, `http://${n}`, null));
  await made.last(stateAfter(stop("planned")), { exit_reason: "enough" });
  const found = await readStateFile(file);
  assert.deepEqual(
    [found?.gateway_state, found?.desired_state, found?.pid, found?.url, found?.exit_reason],
    ["stopped", "stopped", 42, null, "enough"],
  );
  assert.deepEqual([found?.started_at, found?.updated_at], ["1970-01-01T00:00:00.000Z", "1970-01-01T00:00:05.000Z"]);
  made.show(stateWhile(status, "http://late", null));
  await made.last(stateAfter(stop("planned")), {});
  assert.equal((await readStateFile(file))?.url, null);
});

test("S27 S28 S29 `stopped` is said by the last word alone, and only if somebody wanted it", async (t) => {
  const rows: readonly (readonly [StopClass, string])[] = [
    ["unexpected", "running"],
    ["planned", "stopped"],
    ["restart", "stopped"],
  ];
  for (const [kind, left] of rows) {
    const { file, made } = await board(t);
    made.show(stateWhile({ ...status, state: "draining" }, "http://1", stop(kind)));
    await made.settled();
    made.show(stateWhile({ ...status, state: "stopped" }, "http://1", stop(kind)));
    await made.settled();
    assert.equal((await readStateFile(file))?.gateway_state, "draining", kind);
    await made.last(stateAfter(stop(kind)), {});
    assert.equal((await readStateFile(file))?.gateway_state, left, kind);
  }
});

test("what its owner wants is kept while it runs, and is running at the start", async (t) => {
  const { file, made } = await board(t);
  const settled = async (isThere: (state: Awaited<ReturnType<typeof readStateFile>>) => boolean) => {
    for (;;) {
      const found = await readStateFile(file);
      if (isThere(found)) return found;
      await new Promise((done) => setImmediate(done));
    }
  };
  await settled((found) => found?.gateway_state === "starting" && found.desired_state === "running");
  await writeDesiredState(file, "stopped");
  made.show(stateWhile(status, "http://1", null));
  const found = await settled((one) => one?.gateway_state === "running");
  assert.equal(found?.desired_state, "stopped");
});

test("a file that cannot be written is told, and stops nothing", async (t) => {
  const logged: string[] = [];
  const { home, made } = await board(t, logged);
  await rm(home, { recursive: true, force: true });
  await made.last(stateAfter(stop("planned")), {});
  assert.ok(logged.includes("other commands cannot find this gateway"));
});
