// A restart asked in a chat or by a tool: obeyed once and answered once, wherever the process dies on the way.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { echo } from "../src/agents/echo/index.ts";
import { Fault } from "../src/core/fault.ts";
import type { RestartAsk } from "../src/ports/gateway.ts";
import { broken } from "../src/sim/invariants.ts";
import { wellBehaved } from "../src/sim/platform.ts";
import { type Said, type Story, type Told, plainStory, tell } from "../src/sim/story.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";
import { restartTool } from "../src/tools/gateway/restart.ts";
import { type Living, type Stage, at, slowly, stage } from "./stop/stage.ts";

const back = "Restarted. I'm back.";

function say(ms: number, chat: string, name: string, text?: string): Said {
  return { at: ms, server: "keyed", chat, name, acts: [], ...(text === undefined ? {} : { text }) };
}

/** Every message comes again and again, although it was acknowledged. */
const asked: Story = {
  ...plainStory,
  seed: 21,
  servers: { keyed: { ...wellBehaved, repeats: 1 } },
  said: [say(0, "a", "m1"), say(60, "a", "restart", "/restart"), say(400, "a", "m2")],
};

async function check(story: Story): Promise<Told> {
  const told = await tell(story, () => openSqliteStore({ file: ":memory:", writer: "inline" }));
  assert.deepEqual(await broken(told), [], JSON.stringify(story.cuts));
  const answers = told.servers.flatMap((one) => one.seen.filter(({ text }) => text === back));
  assert.equal(answers.length, 1, `answered once with ${JSON.stringify(story.cuts)}`);
  assert.ok(told.lives <= 2 + told.ends, `${told.lives} lives with ${JSON.stringify(story.cuts)}`);
  return told;
}

test("/restart killed at every point between its acceptance and its answer: obeyed once, answered once", async () => {
  const plain = await check(asked);
  assert.equal(plain.lives, 2, "obeyed, although it was delivered again and again");
  for (let commit = 1; commit <= plain.commits; commit++) {
    for (const when of ["before", "after"] as const) {
      const first = { commit, when, end: "dead" } as const;
      await check({ ...asked, cuts: [first] });
      await check({ ...asked, cuts: [first, { commit: commit + 1, when: "before", end: "dead" }] });
      await check({ ...asked, cuts: [{ ...first, end: "frozen" }] });
    }
  }
});

const admins = { chat: { admins: ["ann"] } };
const sent = (on: Stage): readonly string[] => on.servers.get("chat")?.sent.map(({ text }) => text) ?? [];

async function ended(on: Stage, one: Living): Promise<void> {
  await on.until(() => one.ending !== null, "the end");
  one.life.kill();
}

test("only those named as admins may restart; anybody else is told so and nothing happens", async (t) => {
  const on = await stage(t);
  const one = await on.start({ settings: admins });
  await on.say("/restart", { sender: "bob" });
  await on.until(() => sent(on).length === 1);
  assert.match(sent(on)[0] ?? "", /^Only admins of chat may use \/restart, and bob is not one of them/);
  assert.equal(one.gateway.status().state, "running");
  await on.say("/restart", { sender: "ann" });
  await ended(on, one);
  assert.deepEqual([one.ending?.intent.class, one.ending?.intent.by], ["restart", "chat"]);
  assert.equal(sent(on).length, 1, "no answer before it has happened");
});

test("everybody may where * is named", async (t) => {
  const on = await stage(t);
  const one = await on.start({ settings: { chat: { admins: ["*"] } } });
  await on.say("/restart", { sender: "whoever" });
  await ended(on, one);
  await on.start({ settings: admins });
  await on.until(() => sent(on).includes(back));
});

test("asked twice, from wherever, it is prepared once and is one restart; everybody in a chat is answered", async (t) => {
  const on = await stage(t);
  let prepared = 0;
  const one = await on.start({
    settings: admins,
    prepareRestart: async () => {
      prepared++;
      await one.life.pass(500);
    },
  });
  const answers: unknown[] = [];
  const ask = (by: RestartAsk["by"]) =>
    void one.gateway.restart({ by, reason: `asked by ${by}` }).then((answer) => answers.push(answer));
  await on.say("/restart", { from: at("a") });
  ask("cli");
  ask("dashboard");
  await on.say("/restart", { from: at("b") });
  assert.equal(one.gateway.status().state, "running", "it serves until the successor is there");
  await ended(on, one);
  ask("signal");
  await on.pass(1);
  assert.equal(prepared, 1);
  assert.deepEqual(answers, ["restarting", "restarting", "restarting"]);
  assert.equal(one.ending?.intent.by, "chat", "the first decides");
  await on.start({ settings: admins });
  await on.until(() => sent(on).filter((text) => text === back).length === 2);
});

test("whoever asks while others are being refused is answered too", async (t) => {
  for (let gapMs = 1; gapMs <= 15; gapMs += 2) {
    const on = await stage(t);
    const prepareRestart = () => Promise.reject(new Fault("config-wrong", "wrong."));
    const one = await on.start({ settings: admins, store: slowly(on, 5), prepareRestart });
    void on.write("/restart", { from: at("a") });
    void on.write("/restart", { from: at("b") });
    await on.pass(gapMs);
    await on.say("/restart", { from: at("c") });
    await on.until(() => sent(on).length === 3, `three answers, ${gapMs} ms apart`);
    one.life.kill();
  }
});

test("a restart that cannot be prepared leaves the gateway serving, and whoever asked in a chat is told why", async (t) => {
  const on = await stage(t);
  let isBroken = true;
  const prepareRestart = async () => {
    if (isBroken) throw new Fault("config-wrong", "gateway.drainSeconds must be a number.");
  };
  const one = await on.start({ settings: admins, prepareRestart });
  await on.say("/restart", { key: "r1" });
  await on.until(() => sent(on).length === 1);
  assert.match(
    sent(on)[0] ?? "",
    /^Not restarted; everything continues as before\. gateway\.drainSeconds must be a number\.$/,
  );
  assert.deepEqual(await on.store.restarting(), []);
  assert.equal(one.gateway.status().state, "running");
  let answer: unknown = null;
  void one.gateway.restart({ by: "cli", reason: "asked" }).then((given) => (answer = given));
  await on.until(() => answer !== null);
  assert.deepEqual(answer, { refused: "gateway.drainSeconds must be a number." });
  assert.equal(await on.say("/restart", { key: "r1" }), "duplicate");

  isBroken = false;
  await on.say("/restart", { key: "r2" });
  await ended(on, one);
  await on.start({ settings: admins });
  await on.until(() => sent(on).includes(back));
  assert.equal(sent(on).length, 2);
});

test("another stop that comes while a restart is prepared stays what it is; the next start answers all the same", async (t) => {
  const on = await stage(t);
  const one = await on.start({ settings: admins, prepareRestart: () => one.life.pass(2_000), drainMs: 10_000 });
  await on.say("work 3000", { from: at("b") });
  await on.say("/restart");
  await on.pass(100);
  one.gateway.stop({ class: "planned", by: "signal", reason: "SIGINT" });
  await ended(on, one);
  assert.equal(one.ending?.intent.class, "planned");
  assert.ok(sent(on).includes("answer to work 3000"), "and the drain was not cut short by it");
  let answer: unknown = null;
  void one.gateway.restart({ by: "cli", reason: "asked" }).then((given) => (answer = given));
  await on.pass(1);
  assert.deepEqual(answer, { refused: "The gateway is stopping already: SIGINT." });
  await on.start({ settings: admins });
  await on.until(() => sent(on).includes(back));
});

test("a restart whose answer cannot be sent at once is answered when its platform connects, once", async (t) => {
  const on = await stage(t);
  const one = await on.start({ settings: admins });
  await on.say("/restart");
  await ended(on, one);
  const two = await on.start({ settings: admins, platforms: { other: {} } });
  await on.pass(60_000);
  assert.ok(!sent(on).includes(back));
  await on.stop(two);
  await on.start({ settings: admins });
  await on.until(() => sent(on).includes(back));
  await on.pass(600_000);
  assert.equal(sent(on).filter((text) => text === back).length, 1);
});

test("an agent's tool restarts the gateway, once, and its turn goes on in the next life", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-restart-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const on = await stage(t);
  let asks = 0;
  const agentFor = (gate: () => Living) =>
    echo({
      workspace: folder,
      stepMs: 0,
      toolMs: 0,
      restart: restartTool({
        approvals: "never",
        restart() {
          asks++;
          return gate().gateway.restart({ by: "tool", reason: "an agent asked for it" });
        },
      }),
    });
  const one: Living = await on.start({ agent: agentFor(() => one) });
  await on.say("please restart yourself");
  await ended(on, one);
  assert.deepEqual([one.ending?.intent.class, one.ending?.intent.by], ["restart", "tool"]);
  const two: Living = await on.start({ agent: agentFor(() => two) });
  await on.until(() => sent(on).some((text) => text.startsWith("I restarted the gateway")));
  await on.pass(60_000);
  assert.equal(asks, 1);
  assert.equal(two.ending, null, "the turn that goes on does not ask again");
});

test("a tool that asks for a restart that is refused tells its agent why", async (t) => {
  const on = await stage(t);
  const refused = { refused: "The configuration is wrong." };
  const restart = restartTool({ approvals: "never", restart: async () => refused });
  const agent = echo({ workspace: tmpdir(), stepMs: 0, toolMs: 0, restart });
  await on.start({ agent });
  await on.say("restart the gateway");
  await on.until(() => sent(on).length === 1);
  assert.equal(sent(on)[0], "I could not restart the gateway: The configuration is wrong.");
});
