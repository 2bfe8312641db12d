// Whatever hangs or fails during a stop, it ends within the drain and five seconds, and the next start loses nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../src/core/fault.ts";
import type { Agent } from "../../src/ports/agent.ts";
import type { FullStore } from "../../src/sim/power.ts";
import { type Living, type Stage, type StageOptions, at, listedProcesses, stage } from "./stage.ts";

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

async function begin(on: Stage, text: string): Promise<void> {
  await on.say(text, { from: at("a") });
  await on.until(() => on.calls.includes(`step ${text}`));
}

/** Asks for a stop and tells how long it took. */
async function stopMs(on: Stage, one: Living, kind: "planned" | "restart" = "planned"): Promise<number> {
  const from = on.now();
  await on.stop(one, { class: kind });
  return on.now() - from;
}

/** The next life answers what was asked in the last one, once. */
async function goesOn(on: Stage, text: string): Promise<void> {
  await on.start();
  const answers = () => on.servers.get("chat")?.sent.filter((item) => item.text === `answer to ${text}`) ?? [];
  await on.until(() => answers().length > 0, `the answer to ${text}`);
  assert.equal(answers().length, 1);
}

type Trouble = {
  readonly name: string;
  readonly text: string;
  readonly options: (on: Stage) => StageOptions;
  /** At most this long, with no drain. */
  readonly ms: number;
};

const hangingClose: Agent["close"] = (session) => (session === "all" ? Promise.resolve() : never());
const troubles: readonly Trouble[] = [
  { name: "an agent that ignores the abort", text: "deaf", options: () => ({}), ms: 100 },
  { name: "a tool that is waited for", text: "tool", options: () => ({}), ms: 1_200 },
  {
    name: "a platform that never lets go",
    text: "stuck",
    options: () => ({ platforms: { chat: { leaves: "never" } } }),
    ms: 1_200,
  },
  {
    name: "a notice that is never answered",
    text: "stuck",
    options: () => ({ platforms: { chat: { sends: "never answers" } } }),
    ms: 1_200,
  },
  {
    name: "tool processes that cannot be killed",
    text: "stuck",
    options: (on) => ({ processes: listedProcesses(on.calls, { hangs: true }) }),
    ms: 2_200,
  },
];

for (const { name, text, options, ms } of troubles) {
  test(`${name} does not hold the stop, and nothing is lost`, async (t) => {
    const on = await stage(t);
    const one = await on.start(options(on));
    await begin(on, text);
    const took = await stopMs(on, one);
    assert.ok(took <= ms, `took ${took} ms`);
    assert.ok(on.calls.includes("disconnect chat"));
    assert.ok(on.calls.includes("close all"));
    await goesOn(on, text);
  });
}

test("an agent that does not close a session, or fails to, is still told to close all", async (t) => {
  for (const close of [hangingClose, () => Promise.reject(new Error("no"))]) {
    const on = await stage(t);
    const closed: string[] = [];
    const agent: Agent = {
      tools: [],
      step: () => never(),
      close(session) {
        closed.push(session === "all" ? "all" : "session");
        return close(session);
      },
    };
    const one = await on.start({ agent });
    await on.say("work", { from: at("a") });
    await on.until(() => one.gateway.status().running.length === 1);
    assert.ok((await stopMs(on, one)) <= 1_200);
    assert.deepEqual(closed, ["session", "all"]);
    const told = on.log.find(({ what }) => what.startsWith("not every part of the stop went well"));
    assert.match(JSON.stringify(told?.facts), /agent close/, "failures are told together");
    await goesOn(on, "work");
  }
});

/** The same store, but from a moment on its commits do something else. */
function troubled(store: FullStore): FullStore & { trouble: "none" | "hangs" | "fails" } {
  const self = {
    ...store,
    trouble: "none" as "none" | "hangs" | "fails",
    commit: ((changes, by) => {
      if (self.trouble === "hangs") return never();
      if (self.trouble === "fails")
        return Promise.reject(new Fault("store-full", "There is no room left on the disk."));
      return store.commit(changes, by);
    }) satisfies FullStore["commit"],
  };
  return self;
}

for (const trouble of ["hangs", "fails"] as const) {
  test(`a store that ${trouble} during a stop does not hold it, and nothing is lost`, async (t) => {
    for (const drainMs of [0, 2_000]) {
      const on = await stage(t);
      const store = troubled(on.store);
      const one = await on.start({ store, drainMs });
      await begin(on, "stuck");
      store.trouble = trouble;
      const took = await stopMs(on, one, "restart");
      assert.ok(took <= drainMs + 5_000, `took ${took} ms`);
      assert.ok(on.calls.includes("interrupt stuck: Gateway restarting"));
      assert.deepEqual(on.calls.slice(-2).toSorted(), ["close all", "disconnect chat"]);
      await goesOn(on, "stuck");
    }
  });
}

test("when everything hangs at once the deadline ends the stop, and the exit is the class's", async (t) => {
  for (const drainMs of [0, 500]) {
    const on = await stage(t);
    const store = troubled(on.store);
    const platforms = { chat: { sends: "never answers", leaves: "never" } } as const;
    const agent: Agent = { tools: [], step: () => never(), close: () => never() };
    const processes = listedProcesses(on.calls, { hangs: true });
    const one = await on.start({ store, drainMs, platforms, agent, processes });
    await on.say("work", { from: at("a") });
    await on.until(() => one.gateway.status().running.length === 1);
    store.trouble = "hangs";
    const took = await stopMs(on, one);
    assert.ok(took <= drainMs + 5_000, `took ${took} ms`);
    assert.equal(one.ending?.intent.class, "planned");
    await goesOn(on, "work");
  }
});

test("a stop asked at any moment of the start ends it, in time, and is noted", async (t) => {
  for (let wait = 0; wait <= 6; wait++) {
    const on = await stage(t);
    const before = await on.start();
    await begin(on, "stuck");
    await on.stop(before);
    const slow = slowed(on);
    const one = on.live({ store: slow });
    if (wait > 0) await on.pass(wait * 10);
    const took = await stopMs(on, one);
    assert.ok(took <= 1_200, `took ${took} ms when asked after ${wait * 10} ms`);
    const [boot] = await on.store.lastBoots(1);
    if (wait > 0) assert.equal(boot?.stop?.class, "planned", `asked after ${wait * 10} ms`);
    await goesOn(on, "stuck");
  }
});

/** Every read and write of the start takes 10 ms. */
function slowed(on: Stage): FullStore {
  const { store, clock } = on;
  const soon = () => new Promise<void>((go) => void clock.at(clock.now() + 10, go));
  return {
    ...store,
    async openBoot(boot) {
      const result = await store.openBoot(boot);
      await soon();
      return result;
    },
    async deadBoots() {
      await soon();
      return store.deadBoots();
    },
    async runnable() {
      await soon();
      return store.runnable();
    },
    async commit(changes, by) {
      await soon();
      return store.commit(changes, by);
    },
  };
}

test("a stop asked before the boot is even open is noted in it, so that nobody takes it for a death", async (t) => {
  const on = await stage(t);
  const store: FullStore = {
    ...on.store,
    async openBoot(boot) {
      await new Promise<void>((go) => void on.clock.at(on.clock.now() + 200, go));
      return on.store.openBoot(boot);
    },
  };
  const one = on.live({ store });
  await on.pass(10);
  const took = await stopMs(on, one);
  assert.ok(took >= 190 && took <= 1_200, `took ${took} ms`);
  const [boot] = await on.store.lastBoots(1);
  assert.deepEqual([boot?.id, boot?.stop?.class, boot?.stop?.clean], ["boot-1", "planned", true]);
});

test("a start that hangs does not hold a stop", async (t) => {
  const on = await stage(t);
  const one = on.live({ store: { ...on.store, deadBoots: () => never() } });
  await on.pass(100);
  const took = await stopMs(on, one);
  assert.ok(took <= 1_200, `took ${took} ms`);
  const [boot] = await on.store.lastBoots(1);
  assert.equal(boot?.stop?.class, "planned");
});

test("a further request ends the drain early, but only a second after it began, and the class stays", async (t) => {
  for (const { afterMs, ends } of [
    { afterMs: 300, ends: 5_000 },
    { afterMs: 1_100, ends: 1_100 },
  ]) {
    const on = await stage(t);
    const one = await on.start({ drainMs: 5_000 });
    await begin(on, "stuck");
    const from = on.now();
    one.gateway.stop({ class: "unexpected", by: "signal", reason: "SIGTERM" });
    await on.pass(afterMs);
    await on.stop(one, { class: "planned", by: "signal", reason: "SIGINT" });
    const took = on.now() - from;
    assert.ok(took >= ends && took < ends + 200, `took ${took} ms`);
    assert.equal(one.ending?.intent.class, "unexpected");
    await goesOn(on, "stuck");
  }
});

test("whoever looks on and fails does not keep the gateway from stopping", async (t) => {
  const on = await stage(t);
  const one = await on.start({
    witness() {
      throw new Error("no such file");
    },
  });
  await on.stop(one);
  assert.equal(one.ending?.clean, true);
});

test("messages that come during a stop are stored and answered by the next life", async (t) => {
  const on = await stage(t);
  const one = await on.start({ drainMs: 1_000 });
  await begin(on, "work 500");
  one.gateway.stop({ class: "restart", by: "cli", reason: "asked" });
  await on.pass(100);
  assert.equal(await on.say("late", { from: at("b") }), "accepted");
  assert.equal(await on.say("later", { from: at("a") }), "accepted");
  await on.until(() => one.ending !== null);
  one.life.kill();
  assert.ok(!on.calls.includes("step late"), "nothing new is begun");
  await goesOn(on, "late");
  await on.until(() => on.calls.includes("send answer to later"));
});
