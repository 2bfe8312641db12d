// How a gateway lives with platforms that are somewhere else: late, gone, back, refusing. In virtual time, over a real store.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../src/core/fault.ts";
import { limits } from "../src/core/limits.ts";
import type { Inlet, Platform } from "../src/ports/platform.ts";
import { type Habits, type Stage, type StageOptions, at, stage, whenAborted } from "./stop/stage.ts";

const can = { keyedSend: true, draftEveryMs: null, isFar: true } as const;
const aborted = (signal: AbortSignal) => new Promise<void>((go) => whenAborted(signal, go));

/** One out there that does in `listen` what a test wants. */
function outThere(listen: (inlet: Inlet, signal: AbortSignal, from: string | null) => Promise<void>): Habits {
  return { is: { can, listen: (inlet, from, signal) => listen(inlet, signal, from) } };
}

const linkOf = (one: Awaited<ReturnType<Stage["start"]>>, name: string) =>
  one.gateway.status().platforms.find(({ platform }) => platform === name) ?? assert.fail(name);

/** Lets virtual time pass until it is there. */
async function come<T>(on: Stage, promise: Promise<T>): Promise<T> {
  let isThere = false;
  const there = () => void (isThere = true);
  promise.then(there, there);
  await on.until(() => isThere);
  return promise;
}

test("what is out there is opened when ready was said, and nobody waits for it", async (t) => {
  const on = await stage(t);
  const said = Promise.withResolvers<void>();
  const opened: number[] = [];
  const silent = outThere(async (_inlet, signal) => {
    opened.push(on.now());
    await aborted(signal);
  });
  const one = await on.start({ said: said.promise, platforms: { chat: {}, away: silent } });
  assert.equal(on.now(), 0, "ready at once");
  assert.deepEqual(opened, []);
  said.resolve();
  await on.until(() => opened.length > 0);
  assert.equal(on.now(), 0);
  assert.deepEqual([one.gateway.status().state, linkOf(one, "away").state], ["running", "connecting"]);
  await on.pass(limits.lossPatienceMs - 1);
  assert.equal(one.gateway.status().state, "running");
  await on.pass(1);
  assert.deepEqual(
    one.events.flatMap((event) => (event.type === "state" ? [`${event.state} ${event.reason}`] : [])).slice(-1),
    ["degraded away is not connected"],
    "told when the time is over, though nothing else happened",
  );
  await on.stop(one);
});

test("whoever never says that ready was heard does not keep it closed for ever", async (t) => {
  const on = await stage(t);
  let opened = 0;
  const silent = outThere(async (_inlet, signal) => {
    opened++;
    await aborted(signal);
  });
  const one = await on.start({ said: new Promise(() => undefined), platforms: { chat: {}, away: silent } });
  await on.pass(limits.readyMs);
  assert.equal(opened, 1);
  await on.stop(one);
});

test("what waits for a platform that is not there yet is sent and answered all the same", async (t) => {
  const on = await stage(t);
  const back = at("a", { platform: "away" });
  const silent = outThere((_inlet, signal) => aborted(signal));
  const one = await on.start({ platforms: { chat: {}, away: silent } });
  assert.equal(await come(on, one.gateway.post(back, "hello", "k1")), "posted");
  await on.until(() => on.servers.get("away")?.sent.length === 1);
  assert.equal(linkOf(one, "away").state, "connecting");
  await on.stop(one);
});

test("where sends need the connection they wait for it, which is no attempt, and go the moment it stands", async (t) => {
  const on = await stage(t);
  let begin = Promise.withResolvers<void>();
  let end = Promise.withResolvers<void>();
  const listen: Platform["listen"] = async (inlet, _from, signal) => {
    await Promise.race([begin.promise, aborted(signal)]);
    inlet.up();
    await Promise.race([end.promise, aborted(signal)]);
    if (!signal.aborted) throw new Error("it broke");
  };
  const one = await on.start({ platforms: { chat: {}, away: { is: { can: { ...can, sendsByLink: true }, listen } } } });
  const back = at("a", { platform: "away" });
  const arrived = () => on.servers.get("away")?.sent.map(({ text, now }) => [text, "attempts" in now && now.attempts]);
  for (const [n, word] of ["first", "second"].entries()) {
    await come(on, one.gateway.post(back, word, word));
    await on.pass(30 * 60_000);
    assert.equal(arrived()?.length, n, "nothing is tried without a connection");
    assert.equal((await on.store.counts()).items.sending, 0);
    begin.resolve();
    await on.until(() => linkOf(one, "away").state === "up");
    const stood = on.now();
    await on.until(() => arrived()?.length === n + 1);
    assert.ok(on.now() - stood <= 10, `${on.now() - stood} ms later`);
    begin = Promise.withResolvers();
    end.resolve();
    await on.until(() => linkOf(one, "away").state === "down");
    end = Promise.withResolvers();
  }
  assert.deepEqual(arrived(), [
    ["first", 1],
    ["second", 1],
  ]);
  await come(on, one.gateway.post(back, "third", "third"));
  const asked = on.now();
  await on.stop(one);
  assert.ok(on.now() - asked < 1_000, "a stop does not wait for it");
});

test("it is tried again for ever, later and later up to five minutes, from the stored cursor", async (t) => {
  const on = await stage(t);
  const tries: number[] = [];
  const cursors: (string | null)[] = [];
  const failing = outThere(async ({ moved }, _signal, from) => {
    tries.push(on.now());
    cursors.push(from);
    if (tries.length === 1) await moved("7");
    throw new Error("no route");
  });
  const one = await on.start({ platforms: { chat: {}, away: failing } });
  await on.until(() => tries.length === 16);
  const pauses = tries.slice(1).map((when, i) => when - (tries[i] ?? 0));
  for (const [i, pause] of pauses.entries()) {
    const most = Math.min(limits.reconnectMinMs * 2 ** i, limits.reconnectMaxMs);
    assert.ok(pause <= most && pause >= most * 0.74, `pause ${i} of ${pause} ms, at most ${most} ms`);
  }
  assert.ok(new Set(pauses.slice(-5)).size > 1, "the pauses differ, so that not everybody comes at the same moment");
  assert.deepEqual(new Set(cursors.slice(1)), new Set(["7"]));
  const { state, why, nextTryAt, since } = linkOf(one, "away");
  assert.deepEqual([state, why], ["down", "no route"]);
  assert.ok(nextTryAt !== null && nextTryAt > on.clock.now());
  assert.ok(on.clock.now() - since > 600_000, "down since it first failed");
  const told = one.events.filter((event) => event.type === "platform" && event.platform === "away");
  assert.equal(told.length, 1, "one word for all tries");
  await on.stop(one);
});

test("one that stood for a while is tried again at once, one that falls as it stands is not", async (t) => {
  const on = await stage(t);
  const tries: number[] = [];
  let stands = 0;
  const falling = outThere(async ({ up }, signal) => {
    tries.push(on.now());
    up();
    await Promise.race([new Promise<void>((go) => on.clock.at(on.clock.now() + stands, go)), aborted(signal)]);
  });
  const one = await on.start({ platforms: { chat: {}, away: falling } });
  await on.until(() => tries.length === 8);
  assert.ok((tries[7] ?? 0) - (tries[6] ?? 0) > 30_000);
  stands = 600_000;
  await on.until(() => tries.length === 9);
  await on.until(() => tries.length === 10);
  const pause = (tries[9] ?? 0) - (tries[8] ?? 0) - stands;
  assert.ok(pause <= limits.reconnectMinMs, `${pause} ms`);
  await on.stop(one);
});

/** Refuses whatever comes, until its owner changes something. */
function refusing(tries: string[], config: string): StageOptions {
  const away = outThere(async () => {
    tries.push(config);
    throw new Fault("denied", "The token tok-123 is wrong.");
  });
  return {
    config,
    platforms: { chat: {}, away },
    settings: {
      chat: { home: { account: "bot", chat: "home" }, restartNotices: false },
      away: { home: { account: "bot", chat: "there" }, restartNotices: false },
    },
    hide: (text) => text.replaceAll("tok-123", "[secret]"),
  };
}

test("a wrong token is tried once a life and told in another channel once a configuration", async (t) => {
  const on = await stage(t);
  const tries: string[] = [];
  const told = () => on.servers.get("chat")?.sent.filter(({ to }) => to.chat === "home") ?? [];
  for (const [config, times] of [
    ["c1", 1],
    ["c1", 1],
    ["c2", 2],
  ] as const) {
    const before = tries.length;
    const one = await on.start(refusing(tries, config));
    await on.until(() => linkOf(one, "away").state === "denied");
    await on.pass(3_000_000);
    assert.equal(tries.length, before + 1, "tried once");
    assert.equal(told().length, times);
    const status = one.gateway.status();
    assert.equal(status.state, "degraded");
    assert.equal(status.reason, "away does not let us in");
    assert.match(linkOf(one, "away").why ?? "", /^The token \[secret\] is wrong/);
    const events = one.events.filter((event) => event.type === "platform" && event.state === "denied");
    assert.equal(events.length, 1, "once in the log");
    await on.stop(one);
  }
  assert.match(told()[0]?.text ?? "", /away does not let us in: The token \[secret\] is wrong/);
  assert.equal(on.servers.get("away")?.sent.length ?? 0, 0, "nobody is told where nobody gets in");
  const chats = new Set(on.servers.get("chat")?.sent.map(({ to }) => to.chat));
  assert.deepEqual(chats, new Set(["home"]));
});

test("trouble shows while it lasts, is told once, and never ends the listening", async (t) => {
  const on = await stage(t);
  let inlet: Inlet | null = null;
  let listens = 0;
  const shared = outThere(async (given, signal) => {
    listens++;
    inlet = given;
    given.up();
    await aborted(signal);
  });
  const one = await on.start({ platforms: { chat: {}, away: shared } });
  await on.until(() => inlet !== null);
  const { trouble, up } = inlet as unknown as Inlet;
  const told = () => one.events.filter((event) => event.type === "platform" && event.platform === "away").length;
  const why = "another program receives the messages of this account";
  const before = told();
  for (let i = 0; i < 5; i++) {
    trouble(why);
    await on.pass(3_000);
  }
  assert.equal(told(), before + 1);
  assert.deepEqual([linkOf(one, "away").state, linkOf(one, "away").why], ["troubled", why]);
  assert.equal(one.gateway.status().state, "running");
  await on.pass(limits.lossPatienceMs);
  assert.equal(one.gateway.status().reason, "away is not connected");
  up();
  assert.deepEqual([one.gateway.status().state, linkOf(one, "away").why, listens], ["running", null, 1]);
  await on.stop(one);
});

test("what is heard is known by its time", async (t) => {
  const on = await stage(t);
  let inlet: Inlet | null = null;
  const one = await on.start({
    platforms: {
      chat: {},
      away: outThere(async (given, signal) => {
        inlet = given;
        given.up();
        await aborted(signal);
      }),
    },
  });
  await on.until(() => inlet !== null);
  assert.equal(linkOf(one, "away").heardAt, null);
  await on.pass(5_000);
  await come(on, (inlet as unknown as Inlet).moved("3"));
  assert.equal(linkOf(one, "away").heardAt, on.clock.now());
  assert.equal(linkOf(one, "away").since, on.clock.now() - 5_000);
  await on.stop(one);
});

test("all are asked how they are side by side, and one that does not answer is not waited for", async (t) => {
  const on = await stage(t);
  const listen: Platform["listen"] = (_inlet, _from, signal) => aborted(signal);
  const asked = (probe: Platform["probe"]): Habits => ({
    is: { can, listen, ...(probe === undefined ? {} : { probe }) },
  });
  const signals: AbortSignal[] = [];
  const one = await on.start({
    hide: (text) => text.replaceAll("tok-123", "[secret]"),
    platforms: {
      chat: {},
      well: asked(async () => "I am tok-123"),
      ill: asked(() => Promise.reject(new Fault("denied", "tok-123 is wrong"))),
      mute: asked((signal) => (signals.push(signal), new Promise(() => undefined))),
      deaf: asked(() => new Promise(() => undefined)),
    },
  });
  const from = on.now();
  const told = await come(on, one.gateway.probe());
  assert.deepEqual(
    told.map(({ platform, fine, said, tookMs }) => [platform, fine, said, tookMs]),
    [
      ["chat", null, "there is nothing further to ask", 0],
      ["well", true, "I am [secret]", 0],
      ["ill", false, "[secret] is wrong", 0],
      ["mute", false, "it did not answer within 5 s", 5_000],
      ["deaf", false, "it did not answer within 5 s", 5_000],
    ],
  );
  assert.equal(on.now() - from, limits.probeMs);
  assert.deepEqual(
    signals.map((one) => one.aborted),
    [true],
  );
  await on.stop(one);
});
