// Calls that need leave, from the question to what becomes of them: allowed, denied, changed meanwhile, never answered,
// and what nobody could judge.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Verdict } from "../../src/core/approval.ts";
import { Fault } from "../../src/core/fault.ts";
import type { Instant } from "../../src/core/ids.ts";
import { limits } from "../../src/core/limits.ts";
import type { Tool } from "../../src/ports/tool.ts";
import { type Stage, stage } from "../stop/stage.ts";
import {
  agentOf,
  calling,
  fine,
  journalOf,
  press,
  resultsOf,
  texts,
  tool,
  turnsOf,
  untilAsked,
  untilSeen,
} from "./agents.ts";

type Ran = { times: number };

const leaveFor = (bound: string, subject: string | null = "rm build"): Verdict => ({
  type: "approve",
  why: "it deletes a folder",
  what: "rm -rf build",
  bound,
  subject,
});

function remover(verdict: Tool["vet"] = async () => leaveFor("b1")): { readonly ran: Ran; readonly rm: Tool } {
  const ran = { times: 0 };
  const rm = tool("rm", "once", () => (ran.times++, fine), verdict === undefined ? {} : { vet: verdict });
  return { ran, rm };
}

test("a call that needs leave is asked about, waits without a lane, and is made once when it is allowed", async (t) => {
  const on = await stage(t);
  const { ran, rm } = remover();
  const one = await on.start({ agent: agentOf([rm], [calling("rm")]) });
  await on.say("clean up");
  const { question, text } = await untilAsked(on);
  assert.deepEqual(question, { id: question.id, choices: ["approve", "always", "deny"], kind: "approval" });
  assert.match(text, /^May I do this with rm\? I ask because it deletes a folder\.\n\n```\nrm -rf build\n```/);
  assert.equal(ran.times, 0);
  assert.deepEqual(one.gateway.status().running, []);
  const waiting = one.events.find(({ type }) => type === "turn-waiting");
  assert.ok(waiting?.type === "turn-waiting" && waiting.kind === "approval" && waiting.question === question.id);
  assert.deepEqual(
    (await journalOf(on)).map(({ type }) => type),
    ["said", "call-asked"],
    "nothing was begun",
  );
  await press(on, question.id, "approve");
  await untilSeen(on, 2);
  assert.equal(ran.times, 1);
  assert.equal(texts(on)[1], "done");
  assert.deepEqual(
    (await journalOf(on)).map(({ type }) => type),
    ["said", "call-asked", "answered", "tool-begun", "tool-ended", "said"],
  );
  assert.deepEqual(await on.store.rules(), []);
});

test("always is a rule from then on, and can be taken back", async (t) => {
  const on = await stage(t);
  const { ran, rm } = remover();
  const { gateway } = await on.start({ agent: agentOf([rm], [calling("rm")]) });
  await on.say("clean up");
  await press(on, (await untilAsked(on)).question.id, "always");
  await untilSeen(on, 2);
  const [rule] = await on.store.rules();
  assert.deepEqual([rule?.tool, rule?.subject, rule?.by], ["rm", "rm build", "ann at chat/bot/a"]);
  await on.say("again");
  await untilSeen(on, 3);
  assert.equal(ran.times, 2);
  assert.deepEqual(texts(on).slice(1), ["done", "done"], "it was not asked again");
  await gateway.revoke(rule?.id ?? "");
  await on.say("and again");
  await untilAsked(on, 2);
  assert.equal(ran.times, 2);
  await assert.rejects(gateway.revoke(rule?.id ?? ""), Fault);
});

test("denied, it is not made, and the agent reads why", async (t) => {
  const on = await stage(t);
  const { ran, rm } = remover();
  await on.start({ agent: agentOf([rm], [calling("rm")]) });
  await on.say("clean up");
  await untilAsked(on);
  await on.say("/deny move it away instead");
  await untilSeen(on, 2);
  assert.equal(ran.times, 0);
  const [result] = await resultsOf(on);
  assert.ok(result?.type === "failed");
  assert.match(result.why, /^denied by the user: move it away instead\. It was not done/);
});

test("what would be done by now is another thing: asked again, and always counts only for what was shown", async (t) => {
  const on = await stage(t);
  let bound = "b1";
  const { ran, rm } = remover(async () => leaveFor(bound));
  await on.start({ agent: agentOf([rm], [calling("rm")]) });
  await on.say("clean up");
  const first = await untilAsked(on);
  bound = "b2";
  await press(on, first.question.id, "always");
  const second = await untilAsked(on, 2);
  assert.match(second.text, /^What would be done has changed since you were asked, so I ask again\./);
  assert.equal(ran.times, 0);
  assert.deepEqual(await on.store.rules(), []);
  await press(on, first.question.id, "approve");
  await untilSeen(on, 3);
  assert.match(texts(on)[2] ?? "", /answered already, with "always"/);
  assert.equal(ran.times, 0, "the first question is answered and allows nothing more");
  await press(on, second.question.id, "approve");
  await untilSeen(on, 4);
  assert.equal(ran.times, 1);
});

test("nobody answers: after thirty days it is not made, and the turn goes on", async (t) => {
  const on = await stage(t);
  const { ran, rm } = remover();
  const agent = agentOf([rm], [calling("rm")]);
  const one = await on.start({ agent });
  await on.say("clean up");
  const { question } = await untilAsked(on);
  const [turn] = await turnsOf(on);
  assert.ok(turn?.now.state === "waiting");
  assert.ok(turn.now.until - on.clock.now() > limits.approvalMs - 60_000);
  // Nothing is up meanwhile, so that nothing has to happen every few seconds.
  one.life.kill();
  await skip(on, limits.approvalMs - 3_600_000);
  const two = await on.start({ agent });
  await on.pass(1_000_000);
  assert.equal(texts(on).length, 1, "it waits as long as it was told to");
  two.life.kill();
  await skip(on, 3_600_000);
  await on.start({ agent });
  await untilSeen(on, 2);
  assert.equal(ran.times, 0);
  assert.deepEqual(await resultsOf(on), [{ type: "failed", why: "nobody allowed it in time, so it was not done" }]);
  await press(on, question.id, "approve");
  await untilSeen(on, 3);
  assert.match(texts(on)[2] ?? "", /nobody answered in time, so it ended on/);
});

test("words that decide nothing are a message of their own, and the question stays open", async (t) => {
  const on = await stage(t);
  const { ran, rm } = remover();
  const agent = agentOf([rm], [(job) => (textIs(job.input.body, "clean up") ? calling("rm") : said("hello"))]);
  await on.start({ agent });
  await on.say("clean up");
  const { question } = await untilAsked(on);
  await on.say("what is in that folder?");
  await untilSeen(on, 2);
  assert.equal(texts(on)[1], "hello");
  await press(on, question.id, "maybe");
  await untilSeen(on, 3);
  assert.equal(texts(on)[2], "Nothing was decided. Answer with one of: approve, always, deny.");
  await on.say("yes");
  await untilSeen(on, 4);
  assert.equal(ran.times, 1);
});

test("a call that is a question: the answer is its result, and silence is told as such", async (t) => {
  const on = await stage(t);
  const vet = async (_input: unknown, { now }: { now: () => Instant }): Promise<Verdict> => ({
    type: "question",
    text: "tea or coffee?",
    choices: ["tea", "coffee"],
    until: (now() + 60_000) as Instant,
  });
  const ask = tool("ask", "pure", () => assert.fail("a question is not run"), { vet });
  await on.start({ agent: agentOf([ask], [calling("ask")]) });
  await on.say("a drink");
  const { question, text } = await untilAsked(on);
  assert.deepEqual([question, text], [{ id: question.id, choices: ["tea", "coffee"] }, "tea or coffee?"]);
  await on.say("2");
  await untilSeen(on, 2);
  assert.deepEqual(await resultsOf(on), [{ type: "ok", output: "coffee" }]);
  await on.say("another");
  await untilAsked(on, 2);
  await on.pass(61_000);
  await untilSeen(on, 4);
  assert.deepEqual(await resultsOf(on, 1), [{ type: "ok", output: "There was no answer in time." }]);
});

const unjudged: readonly { name: string; vet: Tool["vet"]; why: RegExp }[] = [
  { name: "refused", vet: async () => ({ type: "refuse", why: "never that" }), why: /^never that$/ },
  {
    name: "the judgement fails",
    vet: () => Promise.reject(new Error("no shell")),
    why: /so it was not done: no shell/,
  },
  { name: "the judgement never comes", vet: () => new Promise(() => undefined), why: /not done within 60 s/ },
  { name: "the judgement is none", vet: async () => ({ type: "maybe" }) as unknown as Verdict, why: /not complete/ },
];
for (const { name, vet, why } of unjudged) {
  test(`${name}: the call is not made, and the turn goes on`, async (t) => {
    const on = await stage(t);
    const { ran, rm } = remover(vet);
    await on.start({ agent: agentOf([rm], [calling("rm")]) });
    await on.say("clean up");
    await untilSeen(on, 1);
    assert.equal(ran.times, 0);
    const [result] = await resultsOf(on);
    assert.ok(result?.type === "failed");
    assert.match(result.why, why);
  });
}

test("pure calls around one that asks: those before it run first, those behind it wait", async (t) => {
  const on = await stage(t);
  const order: string[] = [];
  const look = (name: string) => tool(name, "pure", () => (order.push(name), fine));
  const rm = tool("rm", "once", () => (order.push("rm"), fine), { vet: async () => leaveFor("b1", null) });
  const agent = agentOf([look("a"), look("b"), rm, look("c")], [calling("a", "b", "rm", "c")]);
  await on.start({ agent });
  await on.say("go");
  const { question } = await untilAsked(on);
  assert.deepEqual(order, ["a", "b"]);
  assert.deepEqual(question, { id: question.id, choices: ["approve", "deny"], kind: "approval" });
  await press(on, question.id, "approve");
  await untilSeen(on, 2);
  assert.deepEqual(order, ["a", "b", "rm", "c"]);
});

test("words of strangers in the turn are told to whoever judges, also when a summary has taken their place", async (t) => {
  const on = await stage(t);
  const judged: boolean[] = [];
  const vet: Tool["vet"] = async (_input, { outside }) => (judged.push(outside), { type: "run" });
  const fetch = tool("fetch", "pure", () => ({ type: "ok", output: "obey me", outside: true }));
  const rm = tool("rm", "once", () => fine, { vet });
  const summary = { type: "compacted", summary: "s", entries: 3, upTo: 0 } as const;
  await on.start({
    agent: agentOf([fetch, rm], [calling("rm"), calling("fetch"), calling("rm"), summary, calling("rm")]),
  });
  await on.say("go");
  await untilSeen(on, 1);
  assert.deepEqual(judged, [false, true, true]);
});

test("killed while it waits, allowed after the start: made once", async (t) => {
  const on = await stage(t);
  const { ran, rm } = remover();
  const agent = agentOf([rm], [calling("rm")]);
  const one = await on.start({ agent });
  await on.say("clean up");
  const { question } = await untilAsked(on);
  one.life.kill();
  const two = await on.start({ agent });
  assert.equal(await answered(on, two.gateway.answer(question.id, "approve")), "answered");
  await untilSeen(on, 2);
  assert.equal(ran.times, 1);
  assert.equal(await answered(on, two.gateway.answer(question.id, "approve")), "already");
  await assert.rejects(
    answered(on, two.gateway.answer(question.id, "deny")),
    /answered already, with "approve".*by operator/,
  );
  await assert.rejects(answered(on, two.gateway.answer("t9.q1", "deny")), /There is no question t9\.q1/);
  assert.equal(ran.times, 1);
});

test("the operator's answer must decide something; what was withdrawn says so", async (t) => {
  const on = await stage(t);
  const { rm } = remover();
  const { gateway } = await on.start({ agent: agentOf([rm], [calling("rm")]) });
  await on.say("clean up");
  const { question } = await untilAsked(on);
  await assert.rejects(
    answered(on, gateway.answer(question.id, "hm")),
    /"hm" decides nothing. Answer with approve, always, deny/,
  );
  await on.say("/stop");
  await assert.rejects(answered(on, gateway.answer(question.id, "approve")), /withdrawn on .* \(stopped by its user\)/);
  await press(on, question.id, "approve");
  await untilSeen(on, 3);
  assert.match(texts(on)[2] ?? "", /withdrawn on .* \(stopped by its user\)/);
});

test("several wait: /approve takes the newest and says which", async (t) => {
  const on = await stage(t);
  const asked = tool("rm", "once", () => fine, {
    vet: async (input) =>
      ({ ...leaveFor("b"), what: `rm ${String((input as { name: string }).name)}`, subject: null }) as Verdict,
  });
  const agent = agentOf(
    [asked],
    [(job) => calling(["rm", { name: job.turn.slice(-1) === "" ? "" : textOfBody(job.input.body) }])],
  );
  await on.start({ agent });
  await on.say("/approve");
  await untilSeen(on, 1);
  assert.equal(texts(on)[0], "Nothing waits to be allowed here.");
  await on.say("one");
  await untilAsked(on);
  await on.say("two");
  await untilAsked(on, 2);
  await on.say("/approve");
  await untilSeen(on, 5);
  assert.ok(texts(on).includes("That was for: rm two\nOne more waits to be allowed."), texts(on).join("\n--\n"));
  assert.deepEqual(
    (await turnsOf(on)).map(({ now }) => now.state),
    ["done", "waiting", "done"],
  );
});

function said(text: string) {
  return { type: "said", text, calls: [], final: true } as const;
}

function textOfBody(body: { readonly kind: string }): string {
  return "text" in body ? String(body.text) : "";
}

function textIs(body: { readonly kind: string }, text: string): boolean {
  return textOfBody(body) === text;
}

/** Days in which nothing is up. */
async function skip({ clock }: Stage, ms: number): Promise<void> {
  let over = false;
  clock.at(clock.now() + ms, () => void (over = true));
  await clock.run(Number.POSITIVE_INFINITY, () => over);
}

/** Lets time pass until it is answered. */
async function answered<T>(on: Stage, work: Promise<T>): Promise<T> {
  let over = false;
  const end = () => void (over = true);
  work.then(end, end);
  await on.until(() => over);
  return work;
}
