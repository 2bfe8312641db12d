// What still works at a place after its user started over: it can be allowed, denied, stopped and asked about in words, as
// if nothing had happened between.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Verdict } from "../../src/core/approval.ts";
import { type Stage, at, stage } from "../stop/stage.ts";
import { agentOf, calling, fine, texts, tool, turnsOf, untilAsked, untilSeen } from "./agents.ts";

type Old = { readonly ran: () => number; readonly begin: () => void };

const vet = async (): Promise<Verdict> => ({
  type: "approve",
  why: "it deletes",
  what: "rm",
  bound: "b",
  subject: null,
});

/** A turn is at work, its user starts over, and only then does it want something. */
async function workedThrough(on: Stage): Promise<Old> {
  let [ran, begin] = [0, (): void => undefined];
  const gate = new Promise<void>((go) => void (begin = go));
  const rm = tool("rm", "once", () => (ran++, fine), { vet });
  const wants = async () => {
    await gate;
    return calling("rm");
  };
  await on.start({ agent: agentOf([rm], [(job) => (job.input.body.kind === "text" ? wants() : calling())]) });
  await on.say("clean up");
  await on.say("/new");
  await untilSeen(on, 1);
  return { ran: () => ran, begin };
}

for (const [word, times] of [
  ["/approve", 1],
  ["yes", 1],
  ["/deny not now", 0],
] as const) {
  test(`asked after its user started over, and answered with ${word}`, async (t) => {
    const on = await stage(t);
    const old = await workedThrough(on);
    old.begin();
    await untilAsked(on);
    await on.say("/status");
    assert.match((await untilSeen(on, 3)).at(-1)?.text ?? "", /One thing waits to be allowed/);
    await on.say(word);
    await untilSeen(on, 4);
    assert.equal(texts(on).at(-1), "done");
    assert.equal(old.ran(), times);
    const [first] = await turnsOf(on);
    assert.ok(first?.now.state === "done" && first.now.outcome === "replied");
  });
}

test("what waits in an earlier conversation is stopped, and starting over once more withdraws it", async (t) => {
  const on = await stage(t);
  const old = await workedThrough(on);
  old.begin();
  await untilAsked(on);
  await on.say("/stop");
  assert.equal((await untilSeen(on, 3)).at(-1)?.text, "Stopped. The question is withdrawn.");
  await on.say("/stop");
  assert.equal((await untilSeen(on, 4)).at(-1)?.text, "There is nothing to stop.");
  await on.say("more");
  await untilAsked(on, 2);
  await on.say("/new");
  await on.say("/approve");
  assert.equal((await untilSeen(on, 7)).at(-1)?.text, "Nothing waits to be allowed here.");
  assert.equal(old.ran(), 0);
});

test("what runs in an earlier conversation is told and stopped", async (t) => {
  const on = await stage(t);
  const old = await workedThrough(on);
  await on.say("/status");
  assert.match((await untilSeen(on, 2)).at(-1)?.text ?? "", /^I have been working for/);
  await on.say("/stop");
  assert.equal((await untilSeen(on, 3)).at(-1)?.text, "Stopped.");
  const [first] = await turnsOf(on);
  assert.ok(first?.now.state === "done" && first.now.outcome === "cancelled");
  old.begin();
  await on.pass(1_000);
  assert.equal(old.ran(), 0);
});

test("another place has nothing to do with it", async (t) => {
  const on = await stage(t);
  const old = await workedThrough(on);
  old.begin();
  await untilAsked(on);
  const elsewhere = { from: at("b") };
  await on.say("/approve", elsewhere);
  await on.say("/stop", elsewhere);
  await untilSeen(on, 4);
  assert.deepEqual(texts(on).slice(-2), ["Nothing waits to be allowed here.", "There is nothing to stop."]);
  assert.equal(old.ran(), 0);
});

test("what is no clear word allows nothing, and whoever writes more behind /approve is told how to say it", async (t) => {
  const on = await stage(t);
  let ran = 0;
  const rm = tool("rm", "once", () => (ran++, fine), { vet });
  await on.start({ agent: agentOf([rm], [calling("rm")]) });
  await on.say("clean up");
  await untilAsked(on);
  await on.say("/approve not now, wait");
  assert.match((await untilSeen(on, 2)).at(-1)?.text ?? "", /^Nothing was decided.*"\/approve not now, wait".*\/deny/);
  await on.say("ok");
  await untilAsked(on, 2);
  assert.equal(ran, 0);
});
