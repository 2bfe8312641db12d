// Commands inside a chat: carried out in the commit that accepts them, also while a turn runs, and whatever dies.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Act } from "../src/sim/agent.ts";
import { broken } from "../src/sim/invariants.ts";
import { wellBehaved } from "../src/sim/platform.ts";
import { type Said, type Story, type Told, plainStory, tell } from "../src/sim/story.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";

const open = () => openSqliteStore({ file: ":memory:", writer: "inline" });

function say(at: number, name: string, ...acts: Act[]): Said {
  return { at, server: "keyed", chat: "a", name, acts };
}

function order(at: number, text: string): Said {
  return { ...say(at, `${text} at ${at}`), text };
}

function story(...said: Said[]): Story {
  return { ...plainStory, seed: 3, servers: { keyed: { ...wellBehaved, repeats: 0.5 } }, said };
}

async function check(one: Story): Promise<Told> {
  const told = await tell(one, open);
  assert.deepEqual(await broken(told), [], JSON.stringify(one.cuts));
  return told;
}

async function outcomes(told: Told): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { input, now } of await told.store.turns({ limit: 100 })) {
    found[input.key] = now.state === "done" ? now.outcome : now.state;
  }
  return found;
}

function seen(told: Told): readonly string[] {
  return told.servers.flatMap((one) => one.seen.map(({ text }) => text));
}

test("S111 /stop ends the running turn and keeps the session; the next message is answered in it", async () => {
  const told = await check(story(say(0, "m1", "say", "hang"), order(200, "/stop"), say(300, "m2")));
  assert.deepEqual(await outcomes(told), { m1: "cancelled", "/stop at 200": "replied", m2: "replied" });
  assert.deepEqual(seen(told), ["Stopped.", "answer to m2"]);
  const sessions = await told.store.sessions({ limit: 10 });
  assert.deepEqual(
    sessions.map(({ standing, endedAt, reset }) => [standing, endedAt, reset]),
    [["active", null, null]],
  );
  const turns = await told.store.turns({ limit: 10 });
  assert.deepEqual(new Set(turns.map(({ session }) => session)), new Set([sessions[0]?.id]));
});

test("/stop withdraws an open question, and says so when there is nothing to stop", async () => {
  const told = await check(story(say(0, "m1", "hang"), order(10, "/stop"), order(2_000, "/stop")));
  assert.deepEqual(seen(told), ["Stopped.", "There is nothing to stop."]);
});

test("/new begins an empty session; what was asked before is still answered, its questions are withdrawn", async () => {
  const told = await check(story(say(0, "m1", "say", "say"), order(20, "/new"), say(400, "m2")));
  const sessions = await told.store.sessions({ limit: 10 });
  assert.equal(sessions.length, 2);
  assert.equal(sessions.filter((one) => one.endedAt !== null).length, 1);
  const [turn] = (await told.store.turns({ limit: 10 })).filter(({ input }) => input.key === "m2");
  const live = sessions.find((one) => one.endedAt === null);
  assert.equal(turn?.session, live?.id);
  assert.equal((await told.store.history(live?.id ?? sessions[0]!.id, 100)).length, 2, "nothing from before");
  assert.equal(seen(told).filter((text) => text === "answer to m1").length, 1);
});

test("/status and /help answer while a turn runs; an unknown command suggests", async () => {
  const told = await check(story(say(0, "m1", "hang"), order(50, "/status"), order(60, "/halp"), order(70, "/xyzzy")));
  const [status, wrong, unknown] = seen(told);
  assert.match(status ?? "", /^I have been working for 0 s and finished 0 steps\. Nothing waits\.$/);
  assert.equal(wrong, "I do not know /halp. Did you mean /help?");
  assert.equal(unknown, "I do not know /xyzzy. Send /help to see what there is.");
});

test("a power cut at every commit of a story with commands", async () => {
  const one = story(say(0, "m1", "say", "ask"), order(150, "/stop"), order(300, "/new"), say(500, "m2", "once"));
  const { commits } = await check(one);
  for (let commit = 1; commit <= commits; commit++) {
    for (const when of ["before", "after"] as const) await check({ ...one, cuts: [{ commit, when, end: "dead" }] });
  }
});
