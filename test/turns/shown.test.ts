// What people see of a turn at work: previews of tools and of waiting, no secrets anywhere, and a clear word when the
// money is spent.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolResult } from "../../src/core/journal.ts";
import { limits } from "../../src/core/limits.ts";
import type { Usage } from "../../src/core/usage.ts";
import type { AgentJob, Step } from "../../src/ports/agent.ts";
import { stage } from "../stop/stage.ts";
import { agentOf, calling, fine, journalOf, resultsOf, seen, texts, tool, untilAsked, untilSeen } from "./agents.ts";

test("while tools run the preview has the text so far, a line for each, and what they tell", async (t) => {
  const on = await stage(t);
  const drafts: (string | null)[] = [];
  const ends: ((result: ToolResult) => void)[] = [];
  const slow = tool("terminal", "pure", ({ tell }) => {
    tell("fetching\n45 %");
    return new Promise<ToolResult>((end) => void ends.push(end));
  });
  const agent = agentOf([slow], [calling(["terminal", { command: "npm ci" }], ["terminal", { command: "npm test" }])]);
  await on.start({ agent, platforms: { chat: { drafts } } });
  await on.say("go");
  await on.pass(200);
  assert.equal(drafts.at(-1), "let me see\n\n… terminal: npm ci\n  45 %\n… terminal: npm test\n  45 %");
  ends[0]?.(fine);
  await on.pass(200);
  assert.equal(drafts.at(-1), "let me see\n\n✓ terminal: npm ci\n… terminal: npm test\n  45 %");
  ends[1]?.(fine);
  await untilSeen(on, 1);
  await on.pass(200);
  assert.equal(drafts.at(-1), null);
});

test("finished calls stay in sight while the agent thinks and writes", async (t) => {
  const on = await stage(t);
  const drafts: (string | null)[] = [];
  const look = tool("look", "pure", () => fine);
  const gone = tool("gone", "pure", () => ({ type: "failed", why: "it is not there" }));
  const thinks = async (job: AgentJob): Promise<Step> => {
    await job.pause(200);
    job.draft("I see");
    await job.pause(200);
    return calling("look");
  };
  await on.start({ agent: agentOf([look, gone], [calling("look", "gone"), thinks]), platforms: { chat: { drafts } } });
  await on.say("go");
  await untilSeen(on, 1);
  const before = "✓ look\n✗ gone";
  assert.ok(drafts.includes(`let me see\n\n${before}`), JSON.stringify(drafts));
  assert.ok(drafts.includes(`I see\n\n${before}`), JSON.stringify(drafts));
  assert.equal(drafts.at(-1), null);
});

test("an outage of ten minutes is waited for: never sooner than wanted, and the preview says why", async (t) => {
  const on = await stage(t);
  const drafts: (string | null)[] = [];
  const asked: number[] = [];
  const from = on.now();
  const agent = agentOf(
    [],
    [
      (): Step => {
        asked.push(on.now());
        if (on.now() - from < 120_000)
          return { type: "failed", retry: "later", afterMs: 20_000, why: "The model is overloaded." };
        return { type: "said", text: "back", calls: [], final: true };
      },
    ],
  );
  const { gateway } = await on.start({ agent, platforms: { chat: { drafts } } });
  await on.say("go");
  await on.pass(500);
  assert.match(drafts.at(-1) ?? "", /^\(The model is overloaded\. I try again at \d\d:\d\d:\d\d UTC\.\)$/);
  const [trouble] = gateway.status().running.map((one) => one.trouble);
  assert.equal(trouble?.why, "The model is overloaded.");
  assert.ok(trouble.until >= on.clock.now() + 19_000, "it says when it is tried again");
  await on.say("/status");
  await untilSeen(on, 1);
  assert.match(
    texts(on)[0] ?? "",
    /finished 0 steps\. I cannot go on at the moment: The model is overloaded\. I try again at \S+ UTC\. Nothing waits\.$/,
  );
  await untilSeen(on, 2);
  assert.deepEqual(texts(on).slice(1), ["back"]);
  const pauses = asked.slice(1).map((at, i) => at - (asked[i] ?? 0));
  assert.ok(pauses.length >= 5 && pauses.every((ms) => ms >= 20_000), pauses.join());
});

test("an outage without end ends the turn, and the text says what happened", async (t) => {
  const on = await stage(t);
  await on.start({ agent: agentOf([], [{ type: "failed", retry: "later", why: "the model cannot be reached" }]) });
  await on.say("go");
  await untilSeen(on, 1);
  assert.match(
    texts(on)[0] ?? "",
    /^I could not finish this: the model cannot be reached \(tried \d\d times over 10 minutes\)$/,
  );
});

test("a step that is simply wrong gets a few quick tries", async (t) => {
  const on = await stage(t);
  const wrong = calling("a", "b") as Step & { type: "said" };
  const twice: Step = { ...wrong, calls: wrong.calls.map((call) => ({ ...call, call: "1" })) };
  await on.start({ agent: agentOf([], [twice]) });
  await on.say("go");
  await untilSeen(on, 1);
  assert.match(texts(on)[0] ?? "", /two of its calls have the same id \(tried 5 times\)$/);
  assert.ok(on.now() < 60_000);
});

test("known secrets leave in no result, preview, question, wish or answer; what the user wrote stays", async (t) => {
  const on = await stage(t);
  const drafts: (string | null)[] = [];
  const secret = "sk-planted-0001";
  const hide = (text: string) => text.replaceAll(secret, "[hidden]");
  const leak = tool("leak", "pure", async ({ tell }) => {
    tell(`found ${secret}`);
    await new Promise<void>((go) => on.clock.at(on.clock.now() + 200, go));
    return {
      type: "ok",
      output: { env: [`KEY=${secret}`] },
      wishes: [
        { type: "send", text: `here: ${secret}`, files: [] },
        { type: "remember", text: `the key is ${secret}` },
      ],
    };
  });
  const vet = async () =>
    ({ type: "approve", why: `of ${secret}`, what: `echo ${secret}`, bound: "b", subject: null }) as const;
  const asks = tool("asks", "once", () => Promise.reject(new Error(`bad key ${secret}`)), { vet });
  const agent = agentOf(
    [leak, asks],
    [
      calling(["leak", { with: secret }]),
      calling("asks"),
      async (job) => {
        job.draft(`so: ${secret}`);
        await job.pause(200);
        return { type: "said", text: `the key is ${secret}`, calls: [], final: true };
      },
    ],
  );
  await on.start({ agent, hide, platforms: { chat: { drafts } } });
  await on.say(`my key is ${secret}`);
  await untilAsked(on);
  await on.say("yes");
  await untilSeen(on, 3);
  const journal = (await journalOf(on)).filter(({ type }) => type !== "said");
  const told = JSON.stringify([seen(on), drafts, journal, await on.store.memories('["chat","bot","a"]', 10)]);
  assert.ok(!told.includes(secret), told);
  assert.match(told, /here: \[hidden\]/);
  const wasShown = (words: string) => drafts.some((text) => text?.includes(words));
  assert.ok(wasShown("found [hidden]") && wasShown("so: [hidden]\n\n✓ leak: [hidden]"), told);
  assert.deepEqual((await resultsOf(on))[1], { type: "failed", why: "bad key [hidden]" });
  const said = (await on.store.journalOf((await on.store.turns({ limit: 1 }))[0]!.id)).at(-1);
  assert.ok(said?.type === "said" && said.text === "the key is [hidden]");
  const [first] = await on.store.search("my key", 10);
  assert.match(first?.text ?? "", new RegExp(secret));
});

const usage: Usage = { model: "p/m", input: 900, cached: 0, output: 100, cost: 250_000 };
const free = { tokens: null, cost: null };
const paid: Step = { ...(calling("look") as Step & { type: "said" }), usage };

test("what a step cost is stored with it, and a turn over its budget ends with a clear word", async (t) => {
  const on = await stage(t);
  const agent = agentOf([tool("look", "pure", () => fine)], [paid, paid, paid, paid]);
  await on.start({ agent, budget: { turn: { tokens: 2_000, cost: null }, day: free } });
  await on.say("go");
  await untilSeen(on, 1);
  assert.equal(
    texts(on)[0],
    "I could not finish this: this turn used 2,000 tokens of at most 2,000 (agent.budget.turnTokens). Send a new message to go on, or raise the limit in the configuration.",
  );
  const [line] = await on.store.usage({});
  assert.deepEqual([line?.steps, line?.input, line?.output, line?.cost], [2, 1_800, 200, 500_000]);
});

test("a day over its budget: no step is made until the next one", async (t) => {
  const on = await stage(t);
  const agent = agentOf([tool("look", "pure", () => fine)], [paid]);
  await on.start({ agent, budget: { turn: free, day: { tokens: null, cost: 200_000 } } });
  await on.say("go");
  await untilSeen(on, 1);
  assert.match(
    texts(on)[0] ?? "",
    /today all conversations together used \$0\.25 of at most \$0\.20 \(agent\.budget\.dayDollars\)\. It is free again at /,
  );
  await on.say("more");
  await untilSeen(on, 2);
  assert.match(texts(on)[1] ?? "", /today all conversations/);
  const [line] = await on.store.usage({});
  assert.equal(line?.steps, 1);
});

test("summaries without end stop the turn", async (t) => {
  const on = await stage(t);
  const summary: Step = { type: "compacted", summary: "s", entries: 0, upTo: 0, usage };
  await on.start({
    agent: agentOf(
      [],
      Array.from({ length: 50 }, () => summary),
    ),
  });
  await on.say("go");
  await untilSeen(on, 1);
  assert.match(texts(on)[0] ?? "", /does not fit into the model's memory/);
  const [line] = await on.store.usage({});
  assert.equal(line?.steps, limits.compactionsMax + 1, "whatever was paid for is on record");
});
