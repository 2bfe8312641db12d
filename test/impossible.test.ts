// What cannot happen to a message, its answer, or a stop. Each on a real gateway and store file, in virtual time; a kill
// takes everything that is in memory. The numbers are rows of docs/checklist.md.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change } from "../src/core/change.ts";
import type { ToolEffect } from "../src/core/journal.ts";
import { textOf } from "../src/core/message.ts";
import type { Agent } from "../src/ports/agent.ts";
import type { FullStore } from "../src/sim/power.ts";
import { type Living, type Stage, at, listedProcesses, stage } from "./stop/stage.ts";

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
const sent = (on: Stage): readonly string[] => on.servers.get("chat")?.sent.map(({ text }) => text) ?? [];
const times = (on: Stage, text: string): number => sent(on).filter((one) => one === text).length;

async function busy(on: Stage, chat = "a"): Promise<void> {
  await on.say("stuck", { from: at(chat) });
  await on.until(() => on.calls.includes("step stuck"));
}

/** Lets a message in, and kills the process the moment it is acknowledged. */
async function sayAndDie(on: Stage, one: Living, text: string, chat: string): Promise<void> {
  const accept = on.servers.get("chat")?.accept;
  const body = { kind: "text", text, files: [] } as const;
  const inbound = { key: `key of ${text}`, from: at(chat), sender: "ann", body, sentAt: on.clock.now() };
  let isIn = false;
  void accept?.(inbound, null).then(() => {
    one.life.kill();
    isIn = true;
  });
  await on.until(() => isIn);
}

test("impossible 1: what is acknowledged during the drain of a restart is answered after it", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 2_000 });
  await busy(on);
  one.gateway.stop({ class: "restart", by: "cli", reason: "asked" });
  for (let n = 0; n < 5; n++) {
    await on.pass(100);
    await on.say(`late ${n}`, { from: at(n % 2 === 0 ? "a" : "b") });
  }
  await on.until(() => one.ending !== null);
  one.life.kill();
  await on.start();
  for (let n = 0; n < 5; n++) await on.until(() => times(on, `answer to late ${n}`) === 1);
});

test("impossible 3, 5: however many messages wait behind a running turn, a kill loses, merges and overwrites none", async (t) => {
  const on = await stage(t);
  const one = await on.start();
  await busy(on);
  for (let n = 0; n < 60; n++) await on.say(`m${n}`, { from: at("a") });
  one.life.kill();
  await on.start();
  await on.until(() => times(on, "answer to m59") === 1);
  const answers = sent(on).filter((text) => text.startsWith("answer to m"));
  assert.deepEqual(
    answers,
    Array.from({ length: 60 }, (_, n) => `answer to m${n}`),
  );
});

test("impossible 4: a message whose agent had not begun is answered after a kill at its acknowledgement, and after a stop", async (t) => {
  const on = await stage(t);
  await sayAndDie(on, await on.start(), "barely in", "a");
  const two = await on.start();
  await on.until(() => times(on, "answer to barely in") === 1);
  void on.servers.get("chat")?.accept?.(
    {
      key: "k",
      from: at("b"),
      sender: "ann",
      body: { kind: "text", text: "too late", files: [] },
      sentAt: on.clock.now(),
    },
    null,
  );
  await on.stop(two);
  await on.start();
  await on.until(() => times(on, "answer to too late") === 1);
});

test("impossible 6: a turn that hangs when it is resumed shuts the door for nobody", async (t) => {
  const on = await stage(t);
  const agent: Agent = {
    tools: [],
    async step(job) {
      const text = textOf(job.input.body);
      if (text.startsWith("hangs")) return never();
      if (text.startsWith("fails")) throw new Error("no");
      return { type: "said", text: `answer to ${text}`, calls: [], final: true };
    },
    close: async () => undefined,
  };
  const one = await on.start({ agent: { ...agent, step: () => never() } });
  for (const chat of ["hangs", "fails", "fine"]) await on.say(chat, { from: at(chat) });
  await on.until(() => one.gateway.status().running.length === 3);
  one.life.kill();
  const two = await on.start({ agent });
  const ready = on.now();
  await on.until(() => times(on, "answer to fine") === 1);
  await on.say("new here", { from: at("another") });
  await on.until(() => times(on, "answer to new here") === 1);
  assert.ok(on.now() - ready < 1_000, "nobody waited");
  assert.ok(two.gateway.status().running.length > 0, "while it still hangs");
});

test("impossible 7, 9: a reply that was stored and not sent is sent by the next life, under the same key", async (t) => {
  for (const end of ["kill", "stop"] as const) {
    const on = await stage(t);
    const one = await on.start({ platforms: { chat: { sends: "never answers" } } });
    await on.say("hello");
    await on.until(() => one.events.some((event) => event.type === "turn-ended"));
    if (end === "kill") one.life.kill();
    else await on.stop(one);
    assert.deepEqual(sent(on), []);
    await on.start();
    await on.until(() => sent(on).length > 0);
    await on.pass(3_600_000 / 2);
    const items = on.servers.get("chat")?.sent ?? [];
    assert.equal(new Set(items.map(({ id }) => id)).size, 1, "one key, whoever sends it");
    assert.equal(items.length, 1);
  }
});

test("impossible 8: a turn is never over in the store before its answer is there to be sent", async (t) => {
  const on = await stage(t);
  const commits: (readonly Change[])[] = [];
  const store: FullStore = {
    ...on.store,
    commit(changes, by) {
      commits.push(changes);
      return on.store.commit(changes, by);
    },
  };
  await on.start({ store });
  await on.say("hello");
  await on.until(() => sent(on).length === 1);
  const over = commits.filter((changes) =>
    changes.some((one) => "put" in one && one.put === "turn" && one.turn.now.state === "done"),
  );
  assert.equal(over.length, 1);
  const kinds = over[0]?.map((one) => ("put" in one ? one.put : "drop" in one ? `drop ${one.drop}` : "check"));
  for (const kind of ["turn", "message", "item", "drop strikes"]) assert.ok(kinds?.includes(kind), kind);
});

test("impossible 10: a message that is delivered again, at once, during a stop or after a start, runs once", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 500 });
  assert.equal(await on.say("work 200", { key: "k" }), "accepted");
  assert.equal(await on.say("work 200", { key: "k" }), "duplicate");
  one.gateway.stop({ class: "planned", by: "cli", reason: "asked" });
  assert.equal(await on.say("work 200", { key: "k" }), "duplicate");
  await on.until(() => one.ending !== null);
  one.life.kill();
  await on.start();
  assert.equal(await on.say("work 200", { key: "k" }), "duplicate");
  await on.pass(60_000);
  assert.equal(on.calls.filter((call) => call === "step work 200").length, 1);
  assert.equal(times(on, "answer to work 200"), 1);
});

/** One call of a tool whose effect happens and whose process then dies. */
function toolUser(effect: ToolEffect, happened: { times: number }, die: () => void): Agent {
  return {
    tools: [
      {
        name: "act",
        description: "changes the world",
        effect,
        input: {},
        async run() {
          happened.times++;
          if (happened.times === 1) {
            die();
            await never();
          }
          return { type: "ok", output: "again" };
        },
        check: async () => ({ type: "ok", output: "it had happened" }),
      },
    ],
    async step(job) {
      const ended = job.journal.findLast((entry) => entry.type === "tool-ended");
      if (ended?.type === "tool-ended")
        return { type: "said", text: `tool: ${ended.result.type}`, calls: [], final: true };
      return { type: "said", text: "", calls: [{ call: "1", tool: "act", input: {} }], final: false };
    },
    close: async () => undefined,
  };
}

test("impossible 13: an effect that happened before a kill is on record as begun, and is not repeated behind anybody's back", async (t) => {
  const expected = { once: [1, "tool: unknown"], checkable: [1, "tool: ok"], keyed: [2, "tool: ok"] } as const;
  for (const effect of ["once", "checkable", "keyed"] as const) {
    const on = await stage(t);
    const happened = { times: 0 };
    const one: Living = await on.start({ agent: toolUser(effect, happened, () => one.life.kill()) });
    await on.say("go");
    await on.until(() => happened.times === 1);
    await on.start({ agent: toolUser(effect, happened, () => undefined) });
    await on.until(() => sent(on).length === 1);
    assert.deepEqual([happened.times, sent(on)[0]], expected[effect], effect);
  }
});

test("impossible 16: no network before durability: when the first notice leaves, the stop is stored; and no notice holds the marks", async (t) => {
  const on = await stage(t);
  const one = await on.start({ platforms: { chat: { sends: "never answers" } } });
  await busy(on);
  const from = on.now();
  one.gateway.stop({ class: "restart", by: "cli", reason: "asked" });
  await on.until(() => on.calls.includes("interrupt stuck: Gateway restarting"));
  assert.ok(on.now() - from < 100, "the interrupt did not wait for the notice");
  const [session] = await on.store.sessions({ limit: 1 });
  assert.equal(session?.resume?.reason, "restart_timeout");
  const [boot] = await on.store.lastBoots(1);
  assert.equal(boot?.stop?.class, "restart");
  await on.until(() => one.ending !== null);
});

test("impossible 17: thirty sessions and five platforms that never let go cost no more than one", async (t) => {
  const on = await stage(t);
  const names = ["chat", "p1", "p2", "p3", "p4"];
  const platforms = Object.fromEntries(names.map((name) => [name, { leaves: "never" } as const]));
  const agent: Agent = { tools: [], step: () => never(), close: () => never() };
  const one = await on.start({ platforms, agent, processes: listedProcesses(on.calls, { hangs: true }) });
  for (let n = 0; n < 30; n++) await on.say(`work ${n}`, { from: at(`chat ${n}`) });
  await on.until(() => one.gateway.status().running.length === 30);
  const from = on.now();
  await on.stop(one);
  assert.ok(on.now() - from <= 5_000, `took ${on.now() - from} ms`);
  assert.equal((await on.store.counts()).turns.parked, 30, "and all of it was put away");
});

test("impossible 19: when run() has resolved nothing of this life is written any more", async (t) => {
  const on = await stage(t);
  let ended = false;
  const late: (readonly Change[])[] = [];
  const store: FullStore = {
    ...on.store,
    commit(changes, by) {
      if (ended) late.push(changes);
      return on.store.commit(changes, by);
    },
  };
  const one = await on.start({ store, platforms: { chat: { sends: "never answers" } } });
  await on.say("hello", { from: at("b") });
  await busy(on);
  one.gateway.stop({ class: "planned", by: "cli", reason: "asked" });
  await on.until(() => one.ending !== null);
  ended = true;
  await on.pass(600_000);
  assert.deepEqual(late, []);
  const [boot] = await on.store.lastBoots(1);
  assert.deepEqual([boot?.stop?.clean, boot?.story.phases?.length !== undefined], [true, true]);
});

test("impossible 22: a stop in which every part throws still ends, with everything done and told", async (t) => {
  const on = await stage(t);
  const fail = (): never => {
    throw new Error("broken");
  };
  const agent: Agent = { tools: [], step: () => never(), close: fail };
  const one = await on.start({ agent, processes: { killAll: fail }, witness: fail });
  one.gateway.watch(fail);
  await on.say("work");
  await on.until(() => one.gateway.status().running.length === 1);
  const from = on.now();
  await on.stop(one, { class: "unexpected", by: "signal", reason: "SIGHUP" });
  assert.ok(on.now() - from < 200, `took ${on.now() - from} ms`);
  assert.equal(one.ending?.intent.class, "unexpected");
  const told = on.log.find(({ what }) => what.startsWith("not every part of the stop went well"));
  for (const name of ["tool kill", "agent close", "agents close", "final kill"])
    assert.match(JSON.stringify(told?.facts), new RegExp(name));
  assert.ok(on.calls.includes("disconnect chat"));
});

test("impossible 25: the answer to a restart is kept until it was really sent, and says only what is true", async (t) => {
  const on = await stage(t);
  const settings = { chat: { admins: ["*"] } };
  const one = await on.start({ settings });
  await on.say("/restart");
  await on.until(() => one.ending !== null);
  one.life.kill();
  for (let n = 0; n < 3; n++) {
    const silent = await on.start({ settings, platforms: { chat: { sends: "never answers" } } });
    await on.pass(5_000);
    silent.life.kill();
  }
  assert.deepEqual(sent(on), []);
  await on.start({ settings });
  await on.until(() => sent(on).length > 0);
  await on.pass(600_000);
  assert.deepEqual(sent(on), ["Restarted. I'm back."]);
});

test("impossible 32: one guard per session: what was broken off and answers late is not heard, and the next turn is alone", async (t) => {
  const on = await stage(t);
  const late = Promise.withResolvers<void>();
  let atWork = 0;
  const agent: Agent = {
    tools: [],
    async step(job) {
      const text = textOf(job.input.body);
      if (text === "deaf") await late.promise;
      else {
        assert.equal(++atWork, 1, "two turns of one session at once");
        await one.life.pass(10);
        atWork--;
      }
      return { type: "said", text: `answer to ${text}`, calls: [], final: true };
    },
    close: async () => undefined,
  };
  const one: Living = await on.start({ agent });
  await on.say("deaf");
  await on.until(() => one.gateway.status().running.length === 1);
  await on.say("/stop");
  for (let n = 0; n < 10; n++) await on.say(`m${n}`);
  late.resolve();
  await on.until(() => times(on, "answer to m9") === 1);
  await on.pass(60_000);
  assert.equal(times(on, "answer to deaf"), 0);
  assert.deepEqual(sent(on), ["Stopped.", ...Array.from({ length: 10 }, (_, n) => `answer to m${n}`)]);
});
