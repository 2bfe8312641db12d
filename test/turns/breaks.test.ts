// Breaks of the connection in virtual time: a send without an answer is repeated when probes succeed again, in order, with
// few copies; what stays uncertain is held, its user reads so once, and /resend sends it again.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Fault } from "../../src/core/fault.ts";
import { heldNotice } from "../../src/core/held.ts";
import { textOf } from "../../src/core/message.ts";
import type { OutboxItem, SendResult } from "../../src/core/outbox.ts";
import type { AgentJob, Step } from "../../src/ports/agent.ts";
import type { Confirm } from "../../src/ports/platform.ts";
import { type Stage, at, stage } from "../stop/stage.ts";
import { agentOf, seen, texts } from "./agents.ts";

const echo = agentOf([], [(job: AgentJob): Step => said(`answer to ${textOf(job.input.body)}`)]);
const said = (text: string): Step => ({ type: "said", text, calls: [], final: true });
const notice = heldNotice;
const unknown: SendResult = { type: "unknown", why: "ECONNRESET" };
const minute = 60_000;
const day = 24 * 60 * minute;

type Network = {
  /** Whether connections work now. */
  isUp: boolean;
  /** In a break: whether the request arrives although its answer does not. */
  isDelivered: boolean;
  /** How a request in a break fails. */
  fails: SendResult | "never";
  /** For what is sent while connections work; null accepts it. */
  answer: (item: OutboxItem) => SendResult | null;
  /** Everything that was tried, as "send" or "ping" with its time. */
  readonly tried: { readonly what: "send" | "ping"; readonly at: number }[];
};

async function scene(t: TestContext, more: { keyedSend?: boolean; hold?: true } = {}) {
  const on = await stage(t);
  const net: Network = { isUp: true, isDelivered: false, fails: unknown, answer: () => null, tried: [] };
  const platform = {
    is: {
      can: { keyedSend: more.keyedSend === true, draftEveryMs: null },
      parts: (text: string) => text.split("||"),
      async send(item: OutboxItem): Promise<SendResult> {
        net.tried.push({ what: "send", at: on.now() });
        if (!net.isUp) {
          if (net.isDelivered) on.servers.get("chat")?.sent.push(item);
          return net.fails === "never" ? new Promise(() => undefined) : net.fails;
        }
        const refusal = net.answer(item);
        if (refusal !== null) return refusal;
        on.servers.get("chat")?.sent.push(item);
        return { type: "accepted", remoteId: `r-${item.id}` };
      },
      async ping(): Promise<void> {
        net.tried.push({ what: "ping", at: on.now() });
        if (!net.isUp) throw new Fault("not-possible", "no route to the server");
      },
    },
  };
  const settings = more.hold === true ? { chat: { inDoubt: "hold" } as const } : {};
  const start = () => on.start({ agent: echo, platforms: { chat: platform }, settings });
  return { on, net, start, living: await start() };
}

const chats = ["a", "b", "c", "d", "e", "f", "g", "h"];
const seenIn = (on: Stage, chat: string) =>
  seen(on)
    .filter(({ to }) => to.chat === chat)
    .map(({ text }) => text);
/** In steps that the clock of the stage allows. */
async function wait(on: Stage, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 30 * minute) await on.pass(Math.min(left, 30 * minute));
}
const heldItems = (on: Stage) => on.store.items({ state: "in-doubt", limit: 100 });

for (const [name, ms] of [
  ["8 s", 8_000],
  ["10 min", 10 * minute],
  ["6 h", day / 4],
] as const)
  for (const fails of [unknown, { type: "retry", afterMs: 1_000, why: "EAI_AGAIN", unreachable: true } as const])
    test(`a break of ${name} (${fails.type}) costs one attempt a chat, and every answer arrives in order`, async (t) => {
      const { on, net } = await scene(t);
      Object.assign(net, { isUp: false, fails });
      for (const chat of chats) await on.say("one", { from: at(chat) });
      await wait(on, ms / 2);
      for (const chat of chats) await on.say("two", { from: at(chat) });
      await wait(on, ms / 2);
      const inBreak = net.tried.filter(({ what }) => what === "send").length;
      assert.ok(inBreak <= chats.length, `${inBreak} sends were tried in the break`);
      assert.deepEqual(texts(on), []);
      net.isUp = true;
      await on.until(() => seen(on).length === 2 * chats.length, "all answers");
      for (const chat of chats) assert.deepEqual(seenIn(on, chat), ["answer to one", "answer to two"], chat);
      await on.pass(minute);
      assert.equal(seen(on).length, 2 * chats.length, "nothing is doubled");
      assert.deepEqual(await heldItems(on), []);
    });

test("what arrived without an answer is seen twice at most, under a key once", async (t) => {
  for (const keyedSend of [false, true]) {
    const { on, net } = await scene(t, { keyedSend });
    Object.assign(net, { isUp: false, isDelivered: true });
    await on.say("one");
    await on.pass(30_000);
    net.isUp = true;
    await on.say("two");
    await on.until(() => texts(on).includes("answer to two"), "the second answer");
    assert.deepEqual(texts(on), ["answer to one", "answer to one", "answer to two"]);
  }
});

test("a request that hangs is cut off, and goes on when the far side answers again", async (t) => {
  const { on, net } = await scene(t);
  Object.assign(net, { isUp: false, fails: "never" });
  await on.say("one");
  await on.pass(3 * minute);
  assert.equal(net.tried.filter(({ what }) => what === "send").length, 1);
  net.isUp = true;
  await on.until(() => texts(on).length === 1, "the answer");
});

test("killed in a break: the next process goes on with the same rules", async (t) => {
  const { on, net, living, start } = await scene(t);
  net.isUp = false;
  for (const chat of chats) await on.say("one", { from: at(chat) });
  await on.pass(5_000);
  living.life.kill();
  const second = await start();
  await on.pass(5_000);
  second.life.kill();
  await start();
  await on.pass(5_000);
  net.isUp = true;
  await on.until(() => seen(on).length === chats.length, "all answers");
  for (const chat of chats) assert.deepEqual(seenIn(on, chat), ["answer to one"]);
});

test("three uncertain sends with healthy probes: held with the rest of its reply, said once, and sent again on /resend", async (t) => {
  const { on, net } = await scene(t);
  net.answer = ({ text }) => (text === "answer to one" ? unknown : null);
  await on.say("one||more");
  await on.say("two");
  await on.until(() => texts(on).length === 2, "the later answer");
  assert.deepEqual(texts(on), ["answer to two", notice], "what was written before the notice passes first");
  assert.equal(net.tried.filter(({ what }) => what === "send").length, 3 + 2);
  assert.deepEqual(
    (await heldItems(on)).map(({ text }) => text).toSorted(),
    ["answer to one", "more"],
    "the remaining part is held with it",
  );
  net.answer = () => null;
  await wait(on, day);
  assert.equal(texts(on).length, 2, "it is not sent by itself, and nothing is said again");
  await on.say("/resend");
  await on.until(() => texts(on).length === 5, "what was held");
  assert.deepEqual(texts(on).slice(2), ["I am sending it again.", "answer to one", "more"]);
  await on.say("/resend");
  await on.until(() => texts(on).length === 6, "the second answer to /resend");
  assert.equal(texts(on)[5], "There is nothing to send again.");
});

for (const [name, keyedSend, poison] of [
  ["under a key that never gets an answer", true, unknown],
  ["that never leaves this machine", false, { type: "retry", afterMs: 1, why: "EPROTO", unreachable: true } as const],
] as const)
  test(`an answer ${name} although probes succeed is held within hours, and later ones pass`, async (t) => {
    const { on, net } = await scene(t, { keyedSend });
    net.answer = ({ text }) => (text === "answer to one" ? poison : null);
    await on.say("one");
    await on.say("two");
    await wait(on, 10 * minute);
    assert.deepEqual(texts(on), [], "it is repeated for a while, in order");
    await wait(on, 3 * 60 * minute);
    assert.deepEqual(texts(on), ["answer to two", notice]);
    assert.equal(net.tried.filter(({ what }) => what === "send").length, 30 + 2);
    assert.deepEqual(
      (await heldItems(on)).map(({ text }) => text),
      ["answer to one"],
    );
    net.answer = () => null;
    await wait(on, day);
    assert.equal(texts(on).length, 2, "it is not sent by itself");
    await on.say("/resend");
    await on.until(() => texts(on).includes("answer to one"), "the held answer");
  });

test("a notice that stays uncertain is held without a notice about itself", async (t) => {
  const { on, net } = await scene(t);
  net.answer = () => unknown;
  await on.say("one");
  await on.pass(10 * minute);
  const held = (await heldItems(on)).map(({ text }) => text).toSorted();
  assert.deepEqual(held, [notice, "answer to one"]);
});

test("a notice that is held goes out as soon as anything arrives in its chat, also in the next process", async (t) => {
  for (const isKilled of [false, true]) {
    const { on, net, living, start } = await scene(t);
    net.answer = () => unknown;
    await on.say("one");
    await on.pass(10 * minute);
    assert.deepEqual(texts(on), []);
    if (isKilled) {
      living.life.kill();
      await start();
    }
    net.answer = () => null;
    await on.pass(minute);
    assert.deepEqual(texts(on), [], "held items are not sent by themselves");
    await on.say("two");
    await on.until(() => texts(on).length === 2, "the answer and the notice");
    assert.deepEqual(texts(on), ["answer to two", notice]);
    await on.say("three");
    await on.until(() => texts(on).length === 3, "the next answer");
    await on.pass(minute);
    assert.equal(texts(on).length, 3, "it is read once");
    await on.say("/resend");
    await on.until(() => texts(on).includes("answer to one"), "the held answer");
    await on.pass(minute);
    assert.deepEqual(await heldItems(on), []);
  }
});

test("a notice that was read holds for a day, however much is held meanwhile", async (t) => {
  const { on, net } = await scene(t);
  net.answer = ({ text }) => (text.startsWith("answer") ? unknown : null);
  for (const text of ["one", "two", "three"]) {
    await on.say(text);
    await on.pass(10 * minute);
  }
  assert.deepEqual(texts(on), [notice]);
  await wait(on, day);
  await on.say("four");
  await on.pass(10 * minute);
  assert.deepEqual(texts(on), [notice, notice]);
});

test("in one conversation there is one notice at a time, whatever is held there", async (t) => {
  const { on, net } = await scene(t);
  net.answer = ({ text }) => (text.startsWith("answer") ? unknown : { type: "retry", afterMs: 1_000, why: "busy" });
  for (const text of ["one", "two", "three"]) await on.say(text);
  await on.pass(5 * minute);
  net.answer = ({ text }) => (text.startsWith("answer") ? unknown : null);
  await on.pass(30 * minute);
  assert.deepEqual(texts(on), [notice]);
});

test("the policy hold holds the first uncertain send, with the same notice", async (t) => {
  const { on, net } = await scene(t, { hold: true });
  net.answer = ({ text }) => (text === "answer to one" ? unknown : null);
  await on.say("one");
  await on.until(() => texts(on).length === 1, "the notice");
  assert.deepEqual(texts(on), [notice]);
  assert.equal(net.tried.filter(({ what }) => what === "send").length, 2);
});

test("after three days what may have arrived is held, and what surely did not is sent", async (t) => {
  for (const [fails, expected] of [
    [unknown, [notice]],
    [{ type: "retry", afterMs: 1, why: "EAI_AGAIN", unreachable: true } as const, ["answer to one"]],
  ] as const) {
    const { on, net } = await scene(t);
    Object.assign(net, { isUp: false, fails });
    await on.say("one");
    await wait(on, 4 * day);
    net.isUp = true;
    await on.until(() => texts(on).length === 1, "something");
    assert.deepEqual(texts(on), expected);
  }
});

test("what an earlier version left held is announced once, and not sent by itself", async (t) => {
  const { on, net, living, start } = await scene(t, { hold: true });
  net.answer = ({ text }) => (text === "answer to one" ? unknown : null);
  await on.say("one");
  await on.until(() => texts(on).length === 1, "the notice");
  // As the earlier version left it: held, without any notice.
  await on.pass(1_000);
  living.life.kill();
  const boot = (await on.store.lastBoots(1))[0];
  assert.ok(boot !== undefined);
  const name = (await on.store.items({ state: "in-doubt", limit: 1 })).map(
    ({ to }) => `held/${to.platform}/${to.account}/${to.chat}`,
  )[0];
  assert.ok(name !== undefined);
  await on.store.commit([{ drop: "fact", name }], boot.id);
  const second = await start();
  await on.pass(minute);
  second.life.kill();
  await start();
  await on.pass(minute);
  assert.deepEqual(texts(on), [notice, notice], "the one from before, and one for both starts");
});

test("a message of several that was confirmed is never sent again", async (t) => {
  const on = await stage(t);
  const shown: string[] = [];
  let isUp = false;
  const is = {
    can: { keyedSend: false, draftEveryMs: null },
    async send(item: OutboxItem, _signal: AbortSignal, confirm?: Confirm): Promise<SendResult> {
      const done = item.now.state === "sending" ? (item.now.sent ?? []) : [];
      for (const n of [0, 1, 2].slice(done.length)) {
        if (n === 2 && !isUp) return new Promise(() => undefined);
        shown.push(`${item.text} ${n}`);
        await confirm?.(`m${n}`);
      }
      return { type: "accepted", remoteId: "m0" };
    },
  };
  const first = await on.start({ agent: echo, platforms: { chat: { is } } });
  await on.say("one");
  await on.until(() => shown.length === 2, "two of three");
  await on.pass(100);
  first.life.kill();
  isUp = true;
  await on.start({ agent: echo, platforms: { chat: { is } } });
  await on.until(() => shown.length === 3, "the third");
  await on.pass(minute);
  assert.deepEqual(shown, ["answer to one 0", "answer to one 1", "answer to one 2"]);
});
