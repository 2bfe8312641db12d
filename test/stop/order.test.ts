// The order of a stop: who is interrupted, closed, killed and disconnected, when, and how often.

import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../src/config/load.ts";
import type { Settings } from "../../src/engine/parts.ts";
import { settingsOf } from "../../src/run/parts.ts";
import { type Stage, at, listedProcesses, stage } from "./stage.ts";

const only = (on: Stage, word: string): readonly string[] => on.calls.filter((call) => call.startsWith(word));

async function stuckIn(on: Stage, chat: string, text = "stuck"): Promise<void> {
  const before = only(on, `step ${text}`).length;
  await on.say(text, { from: at(chat) });
  await on.until(() => only(on, `step ${text}`).length > before);
}

test("S11 a stop ends what runs, and what waits behind it is in the store", async (t) => {
  const on = await stage(t);
  const one = await on.start();
  await stuckIn(on, "a");
  await on.say("behind it", { from: at("a") });
  assert.equal(one.gateway.status().running.length, 1);
  await on.stop(one);
  assert.deepEqual(one.gateway.status().running, [], "active sessions");
  const { turns } = await on.store.counts();
  assert.deepEqual([turns.parked, turns.queued, turns.running], [1, 1, 0], "messages wait in the store, not in memory");
});

/** What the product does where nothing is configured. */
async function defaultSettings(): Promise<Settings> {
  const readFile = async () => ({ type: "missing" }) as const;
  const loaded = await loadConfig({ home: "/nowhere", env: {}, userHome: null, cwd: "/", readFile });
  assert.ok(loaded.type === "loaded");
  return settingsOf(loaded.config, []);
}

test("S13 S30 unless configured, a stop waits for nobody: the agent is interrupted once, at once, with `Gateway shutting down`; platform and cached clients close once", async (t) => {
  const on = await stage(t);
  const { drainMs } = await defaultSettings();
  assert.equal(drainMs, 0);
  const one = await on.start({ drainMs });
  await stuckIn(on, "a");
  const from = on.now();
  const ending = await on.stop(one);
  assert.ok(on.now() - from < 100, `took ${on.now() - from} ms`);
  assert.deepEqual(only(on, "interrupt"), ["interrupt stuck: Gateway shutting down"]);
  assert.deepEqual(only(on, "disconnect"), ["disconnect chat"]);
  assert.deepEqual(only(on, "close"), ["close session", "close all"]);
  assert.equal(ending.clean, true);
});

test("S14 after a stop no platform, running agent, pending message or approval is in memory; all of it is stored, and run() has resolved", async (t) => {
  const on = await stage(t);
  const one = await on.start();
  await stuckIn(on, "a");
  await on.say("after it", { from: at("a") });
  await on.say("ask", { from: at("b") });
  await on.until(() => one.events.some((event) => event.type === "turn-waiting"));
  await on.stop(one);
  const status = one.gateway.status();
  assert.equal(status.state, "stopped");
  assert.deepEqual(status.running, []);
  assert.deepEqual(
    status.platforms.filter((platform) => platform.up),
    [],
  );
  assert.notEqual(one.ending, null, "run() has resolved");
  const { turns } = await on.store.counts();
  assert.deepEqual(turns, { queued: 1, running: 0, waiting: 1, parked: 1, restarting: 0 });

  await on.start();
  await on.until(() => on.servers.get("chat")?.sent.some(({ text }) => text === "answer to after it") === true);
  const answers = on.servers.get("chat")?.sent.map(({ text }) => text);
  assert.ok(answers?.includes("answer to stuck"), "what was interrupted goes on");
});

test("S15 an agent that finishes inside the window is not interrupted; then the platform is disconnected", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 5_000 });
  await stuckIn(on, "a", "work 50");
  const from = on.now();
  const ending = await on.stop(one);
  assert.deepEqual(only(on, "interrupt"), []);
  assert.deepEqual(only(on, "disconnect"), ["disconnect chat"]);
  assert.ok(on.calls.indexOf("send answer to work 50") < on.calls.indexOf("disconnect chat"), "answered first");
  assert.ok(on.now() - from < 1_000, "the rest of the window is not waited for");
  assert.equal(ending.clean, true);
});

test("S16 when the window has passed the agent is interrupted with exactly that reason, then the platform is disconnected", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 50 });
  await stuckIn(on, "a");
  const from = on.now();
  await on.stop(one);
  assert.deepEqual(only(on, "interrupt"), ["interrupt stuck: Gateway shutting down"]);
  assert.ok(on.now() - from >= 50);
  assert.ok(on.calls.indexOf("interrupt stuck: Gateway shutting down") < on.calls.indexOf("disconnect chat"));
  assert.equal(only(on, "disconnect").length, 1);
  assert.notEqual(one.ending, null);
});

test("an interrupted agent hears `Gateway restarting` when somebody goes on with its work", async (t) => {
  for (const kind of ["restart", "take-over"] as const) {
    const on = await stage(t);
    const one = await on.start();
    await stuckIn(on, "a");
    await on.stop(one, { class: kind });
    assert.deepEqual(only(on, "interrupt"), ["interrupt stuck: Gateway restarting"]);
  }
});

test("S24 draining two agents that end at different times gives 3 to 4 status updates: start, each change, end", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 1_000 });
  await stuckIn(on, "a", "work 120");
  await stuckIn(on, "b", "work 240");
  await on.stop(one);
  const updates = one.events.filter((event) => event.type === "draining");
  assert.ok(updates.length >= 3 && updates.length <= 4, `${updates.length} updates`);
  assert.deepEqual(
    updates.map(({ running, over }) => [running, over]),
    [
      [2, false],
      [1, false],
      [0, false],
      [0, true],
    ],
  );
});

test("a drain in which nothing changes is told at most once a second", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 3_500 });
  await stuckIn(on, "a");
  const moments: number[] = [];
  one.gateway.watch((event) => {
    if (event.type === "draining") moments.push(on.now());
  });
  await on.stop(one);
  const gaps = moments.slice(1, -1).map((moment, i) => moment - (moments[i] ?? 0));
  assert.deepEqual(gaps, [1_000, 1_000, 1_000]);
  assert.equal(moments.length, 5, "start, three times in between, end");
});

test("S25 when the drain times out, tool processes are killed before the first disconnect and once more at the end", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 10, processes: listedProcesses(on.calls) });
  await stuckIn(on, "a");
  await on.stop(one);
  const order = on.calls.filter((call) => /^(?:kill|disconnect|interrupt)/.test(call));
  assert.deepEqual(order, ["interrupt stuck: Gateway shutting down", "kill all", "disconnect chat", "kill all"]);
});

test("S26 a graceful stop kills tool processes exactly once", async (t) => {
  for (const drainMs of [0, 1_000]) {
    const on = await stage(t);
    const one = await on.start({ drainMs, processes: listedProcesses(on.calls) });
    if (drainMs > 0) await stuckIn(on, "a", "work 50");
    await on.stop(one);
    assert.deepEqual(only(on, "kill"), ["kill all"]);
    assert.ok(on.calls.indexOf("disconnect chat") < on.calls.indexOf("kill all"));
  }
});

test("jobs made to outlive the gateway are spared when somebody goes on with its work, and killed by a stop", async (t) => {
  const spared = { restart: true, "take-over": true, planned: false, unexpected: false, fault: false } as const;
  for (const [kind, isSpared] of Object.entries(spared) as [keyof typeof spared, boolean][]) {
    const on = await stage(t);
    const one = await on.start({ processes: listedProcesses(on.calls) });
    await stuckIn(on, "a");
    await on.stop(one, { class: kind });
    const which = isSpared ? "kill all-but-jobs" : "kill all";
    assert.deepEqual(only(on, "kill"), [which, which], kind);
  }
});

test("S66 each phase of a stop is logged with its time, and the story of this life keeps them", async (t) => {
  const on = await stage(t);
  const platforms = { chat: {}, telegram: {} };
  const one = await on.start({ drainMs: 100, platforms, processes: listedProcesses(on.calls) });
  await stuckIn(on, "a");
  await stuckIn(on, "b", "work 20");
  const ending = await on.stop(one);
  const lines = on.log.filter(({ what }) => what.startsWith("stop: "));
  for (const { what, facts } of lines) assert.equal(typeof facts["ms"], "number", what);
  const names = lines.map(({ what }) => what.slice("stop: ".length));
  for (const name of ["notify", "drain", "tool kill", "disconnect", "all disconnected", "final kill"])
    assert.ok(names.includes(name), name);
  const drain = lines.find(({ what }) => what === "stop: drain")?.facts;
  assert.deepEqual(drain, { ms: 100, seconds: 0.1, running: 2, finished: 1, left: 1, timed_out: true });
  const disconnects = lines
    .filter(({ what }) => what === "stop: disconnect")
    .map(({ facts }) => String(facts["platform"]));
  assert.deepEqual(disconnects.toSorted(), ["chat", "telegram"]);

  const [boot] = await on.store.lastBoots(1);
  const kept = boot?.story.phases?.map(({ name }) => name) ?? [];
  assert.deepEqual(kept, names.slice(0, kept.length), "stored as told, but for the last write itself");
  assert.deepEqual(
    ending.phases.map(({ name }) => name),
    names,
    "whoever closes the store goes on from here",
  );
  assert.ok((boot?.story.silentAt ?? 0) > 0, "when the last platform let go");
});

test("S65 what the machine looked like is asked once, at the first request, and stored with planned and unexpected stops alike", async (t) => {
  for (const kind of ["planned", "unexpected"] as const) {
    const on = await stage(t);
    const seen: string[] = [];
    const witness = (intent: { readonly class: string }) => {
      seen.push(intent.class);
      return { signal: "SIGTERM", parent_pid: 1 };
    };
    const one = await on.start({ witness, drainMs: 3_000 });
    await stuckIn(on, "a");
    one.gateway.stop({ class: kind, by: "signal", reason: "SIGTERM" });
    await on.pass(1_500);
    one.gateway.stop({ class: "planned", by: "signal", reason: "SIGTERM again" });
    await on.until(() => one.ending !== null);
    assert.deepEqual(seen, [kind]);
    const [boot] = await on.store.lastBoots(1);
    assert.equal(boot?.stop?.class, kind, "the first request decides");
    assert.deepEqual(boot?.stop?.context, { signal: "SIGTERM", parent_pid: 1 });
  }
});

test("the stop is stored before anybody is told of it, and the boot's row says how it ended", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 500 });
  await stuckIn(on, "a");
  one.gateway.stop({ class: "planned", by: "cli", reason: "enough" });
  await on.until(() => only(on, "send Gateway").length > 0);
  const [during] = await on.store.lastBoots(1);
  assert.deepEqual([during?.stop?.class, during?.stop?.reason, during?.stop?.clean], ["planned", "enough", false]);
  await on.until(() => one.ending !== null);
  const [after] = await on.store.lastBoots(1);
  assert.equal(after?.stop?.clean, true);
  assert.ok(after?.readyAt !== null, "and that it was ready");
  assert.ok((after?.story.listeningAt ?? 0) > 0, "since when it listened");
  assert.deepEqual(after?.story.tookOver, { turns: 0, items: 0 });
});
