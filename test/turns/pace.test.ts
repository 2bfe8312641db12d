// How fast an account sends: never faster than it may, whatever streams; what must arrive waits in order and arrives, and
// previews give way. A pause that the platform asks for is kept, in one chat or in all of them.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { SendResult } from "../../src/core/outbox.ts";
import type { AgentJob, Step } from "../../src/ports/agent.ts";
import type { Pace, Platform } from "../../src/ports/platform.ts";
import { type StageOptions, at, stage } from "../stop/stage.ts";
import { agentOf } from "./agents.ts";

const said = (text: string): Step => ({ type: "said", text, calls: [], final: true });

type Request = {
  readonly at: number;
  readonly chat: string;
  readonly kind: "place" | "fill" | "final";
  readonly text: string;
  readonly isEdit: boolean;
};

async function paced(t: TestContext, pace: Pace, refuse: (one: Request) => SendResult | null = () => null) {
  const on = await stage(t);
  const requests: Request[] = [];
  const finals: Request[] = [];
  const take = async (kind: Request["kind"], chat: string, text: string, isEdit = false): Promise<SendResult> => {
    const one: Request = { at: on.now(), chat, kind, text, isEdit };
    requests.push(one);
    const refused = refuse(one);
    if (refused !== null) return refused;
    await new Promise<void>((go) => void on.clock.at(on.clock.now() + 30, go));
    if (kind === "final") finals.push(one);
    return { type: "accepted", remoteId: `d-${chat}` };
  };
  const is: Partial<Platform> = {
    can: { keyedSend: false, draftEveryMs: 100, pace },
    parts: (text) => text.split("||"),
    drafts: {
      place: ({ chat }) => take("place", chat, ""),
      fill: ({ chat }, _id, text) => take("fill", chat, text),
      remove: ({ chat }) => take("fill", chat, "remove"),
    },
    send: (item) => take("final", item.to.chat, item.text, item.edits !== undefined),
  };
  const begin = (more: StageOptions) => on.start({ platforms: { chat: { is } }, ...more });
  const say = (chat: string, text = "go") => on.write(text, { from: at(chat) });
  return { on, requests, finals, begin, say };
}

function most(list: readonly Request[], windowMs: number): number {
  return Math.max(
    0,
    ...list.map((from) => list.filter((one) => one.at >= from.at && one.at < from.at + windowMs).length),
  );
}

const streams =
  (lastsMs: number) =>
  async (job: AgentJob): Promise<Step> => {
    const end = job.now() + lastsMs;
    for (let n = 1; job.now() < end; n++) {
      job.draft("word ".repeat(n));
      await job.pause(50);
    }
    return said(`answer in ${job.address.chat}`);
  };

test("200 chats that stream at once: inside the limits, previews among them, every answer arrives", async (t) => {
  const pace: Pace = {
    perSecond: 30,
    chatEveryMs: 1_000,
    perGroupMinute: 20,
    isGroup: ({ chat }) => chat.startsWith("-"),
  };
  const { on, requests, finals, begin, say } = await paced(t, pace);
  await begin({ agent: agentOf([], [streams(8_000)]), lanesMax: 200 });
  const chats = Array.from({ length: 200 }, (_, i) => (i % 4 === 0 ? `-${i}` : `${i}`));
  for (const chat of chats) void say(chat);
  await on.until(() => finals.length >= 200, "all answers");
  assert.deepEqual(finals.map(({ text }) => text).toSorted(), chats.map((chat) => `answer in ${chat}`).toSorted());
  assert.ok(most(requests, 1_000) <= 30, `${most(requests, 1_000)} in a second`);
  for (const chat of chats) {
    const mine = requests.filter((one) => one.chat === chat);
    assert.ok(most(mine, 1_000) <= 1, `${most(mine, 1_000)} in a second in ${chat}`);
    if (chat.startsWith("-")) assert.ok(most(mine, 60_000) <= 20);
  }
  assert.ok(requests.filter(({ kind }) => kind !== "final").length > 50, "previews are shown as well");
  const first = Math.min(...finals.map((one) => one.at));
  assert.ok(Math.max(...finals.map((one) => one.at)) - first <= 8_000, "the answers themselves need seven seconds");
});

test("where edits are few, most answers are sent whole, and no minute has more edits than it may", async (t) => {
  const { on, requests, finals, begin, say } = await paced(t, { perSecond: 20, chatEveryMs: 0, editsPerMinute: 20 });
  await begin({ agent: agentOf([], [streams(4_000)]), lanesMax: 100 });
  for (let n = 0; n < 100; n++) void say(`${n}`);
  await on.until(() => finals.length >= 100, "all answers");
  const edits = requests.filter(({ kind, isEdit }) => kind === "fill" || isEdit);
  assert.ok(most(edits, 60_000) <= 20, `${most(edits, 60_000)} edits in a minute`);
  assert.ok(edits.length >= 10, "some are shown");
  assert.ok(on.now() < 30_000, `nobody waits for edits: ${on.now()} ms`);
});

test("what waits is fair: a long answer in one chat does not hold up the others", async (t) => {
  const { on, finals, begin, say } = await paced(t, { perSecond: 2, chatEveryMs: 0 });
  const answer = ({ address }: AgentJob): Step => said(address.chat === "long" ? "1||2||3||4||5||6" : "short");
  await begin({ agent: agentOf([], [answer]) });
  void say("long");
  await on.pass(10);
  void say("b");
  void say("c");
  await on.until(() => finals.length >= 8, "all parts");
  const order = finals.map(({ chat, text }) => (chat === "long" ? text : chat));
  assert.ok(order.indexOf("b") <= 3 && order.indexOf("c") <= 4, order.join(" "));
  assert.deepEqual(
    order.filter((one) => /\d/.test(one)),
    ["1", "2", "3", "4", "5", "6"],
  );
});

test("previews leave room: an answer never waits for those before it", async (t) => {
  const pace: Pace = { perSecond: 30, chatEveryMs: 0, perGroupMinute: 6, isGroup: () => true };
  const { on, requests, finals, begin, say } = await paced(t, pace);
  await begin({ agent: agentOf([], [streams(3_000)]) });
  const from = on.now();
  void say("a");
  await on.until(() => finals.length >= 1, "the answer");
  assert.ok(on.now() - from < 3_500, `${on.now() - from} ms`);
  assert.equal(requests.length, 4);
});

for (const threadsApart of [undefined, true] as const) {
  const how = threadsApart === true ? "are chats of their own where the platform says so" : "share what their chat has";
  test(`threads ${how}`, async (t) => {
    const pace: Pace = { perSecond: 30, chatEveryMs: 1_000, ...(threadsApart === true ? { threadsApart } : {}) };
    const { on, finals, begin } = await paced(t, pace);
    await begin({ agent: agentOf([], [said("well")]) });
    for (const thread of ["1", "2", "3"]) void on.write("go", { from: at("a", { thread }) });
    const from = on.now();
    await on.until(() => finals.length >= 3, "all answers");
    const tookMs = on.now() - from;
    assert.ok(threadsApart === true ? tookMs < 500 : tookMs >= 2_000, `${tookMs} ms`);
  });
}

const whys = { type: "retry", why: "too many requests" } as const;

test("a pause for one chat is kept there, and the others go on", async (t) => {
  let refused: number | null = null;
  const { on, requests, finals, begin, say } = await paced(
    t,
    { perSecond: 30, chatEveryMs: 0 },
    ({ chat, at: now }) => {
      if (chat !== "a" || refused !== null) return null;
      refused = now;
      return { ...whys, afterMs: 40_000 };
    },
  );
  await begin({ agent: agentOf([], [({ address }) => said(`answer in ${address.chat}`)]) });
  await Promise.all([say("a"), on.pass(100)]);
  await on.say("b", { from: at("b") });
  await on.say("c", { from: at("a", { thread: "another" }) });
  await on.until(() => finals.length >= 3, "all answers");
  const inA = requests.filter(({ chat }) => chat === "a");
  assert.ok(inA.length === 3 && inA.slice(1).every((one) => one.at >= (refused ?? 0) + 40_000), JSON.stringify(inA));
  assert.equal(finals[0]?.chat, "b");
});

test("a pause for all is kept by all: by previews that are dropped, by answers that wait", async (t) => {
  let refused: number | null = null;
  const { on, requests, finals, begin, say } = await paced(t, { perSecond: 30, chatEveryMs: 0 }, ({ at: now }) => {
    if (refused !== null) return null;
    refused = now;
    return { ...whys, afterMs: 600_000, all: true };
  });
  await begin({ agent: agentOf([], [streams(2_000)]) });
  void say("a");
  await on.pass(500);
  for (const chat of ["b", "c"]) void say(chat);
  await on.until(() => finals.length >= 3, "all answers");
  assert.equal(requests[0]?.kind, "place");
  assert.ok(
    requests.slice(1).every((one) => one.at >= (refused ?? 0) + 600_000),
    JSON.stringify(requests),
  );
  assert.equal((await on.store.counts()).items.dead, 0);
});

test("an item that waits for its turn is not stored as being sent", async (t) => {
  const { on, finals, begin, say } = await paced(t, { perSecond: 1, chatEveryMs: 0 });
  await begin({ agent: agentOf([], [said("well")]) });
  for (const chat of ["a", "b", "c", "d"]) void say(chat);
  await on.pass(500);
  const { items } = await on.store.counts();
  assert.deepEqual([finals.length, items.sending, items.pending], [1, 0, 3]);
  await on.until(() => finals.length >= 4, "all answers");
});

test("no more at a time than the platform says, and who waits for that is not stored as being sent", async (t) => {
  const { on, requests, finals, begin, say } = await paced(t, { perSecond: 30, chatEveryMs: 0, atOnce: 1 });
  await begin({ agent: agentOf([], [said("well")]) });
  for (const chat of ["a", "b", "c", "d"]) void say(chat);
  await on.until(() => requests.length >= 2, "the second");
  const { items } = await on.store.counts();
  assert.deepEqual([finals.length, items.sending, items.pending], [1, 1, 2]);
  await on.until(() => finals.length >= 4, "all answers");
  const times = requests.filter(({ kind }) => kind === "final").map((one) => one.at);
  assert.ok(
    times.every((time, n) => n === 0 || time - (times[n - 1] ?? 0) >= 30),
    JSON.stringify(times),
  );
});

test("a stop does not wait for what waits for its turn", async (t) => {
  const { on, finals, begin, say } = await paced(t, { perSecond: 0.01, chatEveryMs: 0 });
  const living = await begin({ agent: agentOf([], [said("well")]), settings: { chat: { restartNotices: false } } });
  for (const chat of ["a", "b"]) void say(chat);
  await on.pass(500);
  const from = on.now();
  await on.stop(living);
  assert.ok(on.now() - from < 1_000, `${on.now() - from} ms`);
  assert.equal(finals.length, 1);
  assert.equal((await on.store.counts()).items.pending, 1);
});
