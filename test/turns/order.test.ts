// One place, one order: what is said there arrives as it was said, also when its user starts over, when a conversation was
// suspended, and when the process dies between. Nothing passes what still waits, and no growing answer stands before it.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { BootId } from "../../src/core/ids.ts";
import { textOf } from "../../src/core/message.ts";
import type { OutboxItem, SendResult } from "../../src/core/outbox.ts";
import { sessionKey } from "../../src/core/session.ts";
import type { AgentJob, Step } from "../../src/ports/agent.ts";
import { type Stage, at, slowly, stage } from "../stop/stage.ts";
import { agentOf, texts } from "./agents.ts";

type Answer = (item: OutboxItem, times: number) => SendResult | "never" | null;

const echo = agentOf([], [(job: AgentJob): Step => said(`answer to ${textOf(job.input.body)}`)]);
const said = (text: string): Step => ({ type: "said", text, calls: [], final: true });
const over = "A new conversation begins here. I no longer look at what was said before.";
const later: SendResult = { type: "retry", afterMs: 5_000, why: "busy" };

/** A platform that answers as it is told to, and else takes what it gets. `takesMs`: how long that takes. */
async function chat(t: TestContext, keyedSend = true) {
  const on = await stage(t);
  const tries = new Map<string, number>();
  let underWay = 0;
  const way = (answer: Answer, takesMs = 0) => ({
    is: {
      can: { keyedSend, draftEveryMs: null },
      async send(item: OutboxItem): Promise<SendResult> {
        tries.set(item.id, (tries.get(item.id) ?? 0) + 1);
        assert.equal(++underWay, 1, "one at a time");
        if (takesMs > 0) await new Promise<void>((go) => on.clock.at(on.clock.now() + takesMs, go));
        underWay--;
        const result = answer(item, tries.get(item.id) ?? 0);
        if (result === "never") return new Promise(() => undefined);
        if (result === null) on.servers.get("chat")?.sent.push(item);
        return result ?? { type: "accepted", remoteId: `r-${item.id}` };
      },
    },
  });
  return { on, way };
}

const isFirst = ({ text }: OutboxItem) => text === "answer to one";
const inOrder = (on: Stage, ...expected: readonly string[]) =>
  on
    .until(() => texts(on).length >= expected.length, expected.join())
    .then(() => assert.deepEqual(texts(on), expected));

async function suspendHere(on: Stage): Promise<void> {
  const [last] = await on.store.lastBoots(1);
  const there = await on.store.sessionOf(sessionKey(at("a")));
  assert.ok(there !== null);
  const changes = [{ put: "standing", session: there.id, standing: "suspended" }] as const;
  assert.equal(await on.store.commit(changes, last?.id as BootId), "committed");
}

test("started over twice while the first answer is tried again: nothing passes it", async (t) => {
  const { on, way } = await chat(t);
  await on.start({
    agent: echo,
    platforms: { chat: way((item, times) => (isFirst(item) && times < 4 ? later : null)) },
  });
  for (const text of ["one", "/new", "two", "/new", "three"]) await on.say(text);
  await on.say("elsewhere", { from: at("b") });
  await inOrder(on, "answer to elsewhere", "answer to one", over, "answer to two", over, "answer to three");
  assert.equal((await on.store.sessions({ limit: 9 })).length, 4);
});

test("what still works in the earlier conversation answers in its turn", async (t) => {
  const { on, way } = await chat(t);
  const slow = async (job: AgentJob): Promise<Step> => {
    const text = textOf(job.input.body);
    if (text === "slow") await job.pause(1_000);
    return said(`answer to ${text}`);
  };
  const busy = { ...later, afterMs: 100 };
  await on.start({ agent: agentOf([], [slow]), platforms: { chat: way(() => (on.now() < 5_000 ? busy : null)) } });
  for (const text of ["slow", "/new", "two"]) await on.say(text);
  await on.pass(2_000);
  await on.say("three");
  await inOrder(on, over, "answer to two", "answer to slow", "answer to three");
});

test("an answer under way comes back, and keeps its turn", async (t) => {
  const { on, way } = await chat(t);
  const platforms = { chat: way((item, times) => (isFirst(item) && times === 1 ? later : null), 500) };
  await on.start({ agent: echo, platforms });
  await on.say("one");
  await on.pass(100);
  // Nothing is said about this start over, so only what is under way stands for the old conversation.
  await suspendHere(on);
  await on.say("two");
  await inOrder(on, "answer to one", "answer to two");
  assert.equal((await on.store.sessions({ limit: 9 })).length, 2);
});

for (const [name, first] of [
  ["while it waits to be tried again", { ...later, afterMs: 600_000 }],
  ["while it is being sent", "never"],
] as const) {
  test(`killed ${name}: what was said after starting over does not pass it`, async (t) => {
    const { on, way } = await chat(t);
    const one = await on.start({ agent: echo, platforms: { chat: way(() => first) } });
    for (const text of ["one", "/new", "two"]) await on.say(text);
    await on.pass(100);
    await suspendHere(on);
    one.life.kill();
    const two = await on.start({ agent: echo, platforms: { chat: way((item) => (isFirst(item) ? first : null)) } });
    await on.say("three");
    await on.pass(100);
    assert.deepEqual(texts(on), []);
    two.life.kill();
    await on.start({ agent: echo, platforms: { chat: way(() => null) } });
    await on.say("four");
    await inOrder(on, "answer to one", over, "answer to two", "answer to three", "answer to four");
    assert.equal((await on.store.sessions({ limit: 9 })).length, 3);
  });
}

test("what is held for its user holds up nobody", async (t) => {
  const { on, way } = await chat(t, false);
  const unknown: SendResult = { type: "unknown", why: "cut off" };
  const platforms = { chat: way((item) => (isFirst(item) ? unknown : null)) };
  await on.start({ agent: echo, platforms, settings: { chat: { inDoubt: "hold" } } });
  for (const text of ["one", "/new", "two"]) await on.say(text);
  const notice = "An earlier answer may not have arrived. Send /resend to get it again.";
  await inOrder(on, notice, over, "answer to two");
});

test("whoever is still being stored is not passed by who comes later", async (t) => {
  const { on, way } = await chat(t);
  await on.start({ agent: echo, store: slowly(on, 100), platforms: { chat: way(() => null, 10) } });
  const wrote = [on.write("/status")];
  // The first has arrived while the second is still being stored; then comes the third.
  await on.pass(150);
  wrote.push(on.write("/new"));
  await on.pass(70);
  wrote.push(on.write("/unknown"));
  await on.until(() => texts(on).length === 3, "three answers");
  await Promise.all(wrote);
  assert.equal(texts(on)[1], over);
});

test("what is sent again by hand waits for who is being stored", async (t) => {
  const { on, way } = await chat(t);
  const refused: SendResult = { type: "refused", why: "no" };
  const platforms = { chat: way((item, times) => (isFirst(item) && times === 1 ? refused : null), 200) };
  const { gateway } = await on.start({ agent: echo, store: slowly(on, 100), platforms });
  await on.say("one");
  await on.pass(1_000);
  const [dead] = await on.store.items({ state: "dead", limit: 1 });
  assert.ok(dead !== undefined);
  const again = gateway.resend(dead.id);
  await on.pass(10);
  const wrote = on.write("/new");
  await inOrder(on, over, "answer to one");
  await Promise.all([again, wrote]);
});

test("no growing answer is placed before what still waits", async (t) => {
  const on = await stage(t);
  const seen: string[] = [];
  const note = async (what: string): Promise<SendResult> => {
    seen.push(what);
    return { type: "accepted", remoteId: "d1" };
  };
  const is = {
    can: { keyedSend: false, draftEveryMs: 100 },
    drafts: { place: () => note("place"), fill: async () => note("fill"), remove: () => note("remove") },
    send: async (item: OutboxItem) => {
      if (item.text !== "first" || on.now() >= 3_000) return note(`${item.edits ?? "anew"} ${item.text}`);
      return { type: "retry", afterMs: 200, why: "busy" } as const;
    },
  };
  const grows = async (job: AgentJob): Promise<Step> => {
    if (textOf(job.input.body) === "one") return said("first");
    for (let n = 1; n < 100; n++) {
      job.draft("x".repeat(n));
      await job.pause(100);
    }
    return said("second");
  };
  await on.start({ agent: agentOf([], [grows]), platforms: { chat: { is } } });
  await on.say("one");
  await on.say("two");
  await on.until(() => seen.includes("d1 second"), "the second answer");
  assert.deepEqual([seen[0], seen[1], seen[2]], ["anew first", "place", "fill"]);
  assert.equal(seen.filter((what) => what === "place").length, 1);
});
