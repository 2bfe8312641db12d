// /model, /undo, /retry and what becomes of memory with them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf } from "../../src/core/message.ts";
import type { Agent, Models } from "../../src/ports/agent.ts";
import { type Stage, stage } from "../stop/stage.ts";
import { agentOf, texts, untilSeen } from "./agents.ts";

/** Says which model it uses, how much it remembers, and what it was told. */
function listener(models?: Models): Agent {
  return agentOf(
    [],
    [
      async (job) => {
        const past = (await job.history(100)).filter(({ turn }) => turn !== job.turn).map(({ text }) => text);
        const text = `${job.model ?? "-"} [${past.join("|")}] ${textOf(job.input.body)}`;
        return { type: "said", text, calls: [], final: true };
      },
    ],
    models === undefined ? {} : { models },
  );
}

const models: Models = {
  current: "openai/gpt",
  known: ["openai/gpt", "anthropic/claude", "google/gemini"],
  read: (typed) =>
    typed === "claude" ? { model: "anthropic/claude" } : { wrong: `There is no model ${typed}. Did you mean claude?` },
};

/** Says something and waits for what is said back. */
async function talk(on: Stage, text: string): Promise<string> {
  const before = texts(on).length;
  await on.say(text);
  await untilSeen(on, before + 1);
  return texts(on)[before] ?? "";
}

test("/model tells, chooses, refuses, takes back, and outlives a restart and /new", async (t) => {
  const on = await stage(t);
  const one = await on.start({ agent: listener(models) });
  assert.equal(
    await talk(on, "/model"),
    "openai/gpt answers here, as configured. Others: anthropic/claude, google/gemini. Choose with /model and a name; /model default takes the choice back.",
  );
  assert.equal(await talk(on, "/model cloud"), "There is no model cloud. Did you mean claude?");
  assert.equal(
    await talk(on, "/model claude"),
    "From the next step on, anthropic/claude answers in this conversation.",
  );
  assert.equal(await talk(on, "a"), "anthropic/claude [] a");
  assert.match(
    await talk(on, "/model"),
    /^anthropic\/claude answers here, as you chose\. Others: openai\/gpt, google\/gemini\./,
  );
  await on.stop(one);
  await on.start({ agent: listener(models) });
  assert.match(await talk(on, "b"), /^anthropic\/claude /);
  await talk(on, "/new");
  assert.equal(await talk(on, "c"), "anthropic/claude [] c");
  assert.match(await talk(on, "/model default"), /openai\/gpt, as configured, answers/);
  assert.match(await talk(on, "d"), /^- /);
});

test("/model where there is nothing to choose", async (t) => {
  const on = await stage(t);
  await on.start({ agent: listener() });
  assert.equal(await talk(on, "/model x"), "The agent here has no models to choose from.");
});

test("/undo takes one exchange after another out of the memory; commands were never in it", async (t) => {
  const on = await stage(t);
  await on.start({ agent: listener() });
  assert.equal(await talk(on, "/undo"), "There is no exchange to go back to.");
  await talk(on, "a");
  await talk(on, "/status");
  assert.equal(await talk(on, "b"), "- [a|- [] a] b");
  assert.equal(
    await talk(on, "/undo"),
    'Undone: I no longer look at "b" and my answer to it. What was done by tools stays done.',
  );
  assert.equal(await talk(on, "c"), "- [a|- [] a] c");
  await talk(on, "/undo");
  await talk(on, "/undo");
  assert.equal(await talk(on, "d"), "- [] d");
  const all = await on.store.messagesAfter({ platform: "chat", account: "bot", chat: "a" }, 0, 100);
  assert.ok(
    all.some(({ text }) => text === "b"),
    "the transcript keeps it",
  );
});

test("/retry answers the last message again, without the answer it had", async (t) => {
  const on = await stage(t);
  await on.start({ agent: listener() });
  assert.equal(await talk(on, "/retry"), "There is no exchange to go back to.");
  await talk(on, "a");
  await talk(on, "b");
  assert.equal(await talk(on, "/retry"), "- [a|- [] a] b");
  assert.equal(await talk(on, "/retry"), "- [a|- [] a] b");
  assert.equal(await talk(on, "c"), "- [a|- [] a|b|- [a|- [] a] b] c");
});

test("/retry repeated by the platform is obeyed once", async (t) => {
  const on = await stage(t);
  await on.start({ agent: listener() });
  await talk(on, "a");
  assert.equal(await on.say("/retry", { key: "again" }), "accepted");
  assert.equal(await on.say("/retry", { key: "again" }), "duplicate");
  await on.pass(500);
  assert.equal(texts(on).length, 2);
});

test("what joined a turn is undone and answered again with it", async (t) => {
  const on = await stage(t);
  const agent = agentOf(
    [],
    [
      async (job) => {
        await job.pause(100);
        return { type: "said", text: "hm", calls: [], final: false };
      },
      async (job) => {
        const joined = job.journal.flatMap((entry) => (entry.type === "joined" ? [textOf(entry.message.body)] : []));
        return { type: "said", text: [textOf(job.input.body), ...joined].join("+"), calls: [], final: true };
      },
    ],
  );
  await on.start({ agent, settings: { chat: { busy: "steer" } } });
  await on.say("a");
  await on.pass(20);
  await on.say("b");
  await untilSeen(on, 1);
  assert.deepEqual(texts(on), ["a+b"]);
  assert.equal(await talk(on, "/retry"), "a\n\nb");
  assert.match(await talk(on, "/undo"), /^Undone: I no longer look at "a b"/);
  assert.equal(await talk(on, "/undo"), "There is no exchange to go back to.");
});

test("while something runs or waits, neither /undo nor /retry touches it", async (t) => {
  const on = await stage(t);
  const one = await on.start();
  await on.say("stuck");
  for (const order of ["/undo", "/retry"])
    assert.match(await talk(on, order), /^I am still at work here\. Send \/stop first/);
  await on.say("/stop");
  await on.until(() => one.gateway.status().running.length === 0);
  await on.say("ask");
  await on.until(() => texts(on).includes("which?"));
  for (const order of ["/undo", "/retry"]) assert.match(await talk(on, order), /^A question of mine is still open/);
});

test("what is part of a summary cannot be taken out of it", async (t) => {
  const on = await stage(t);
  const summary = { type: "compacted", summary: "s", entries: 0, upTo: 1_000 } as const;
  await on.start({ agent: agentOf([], [summary]) });
  await talk(on, "a");
  assert.match(await talk(on, "/undo"), /part of a summary by now/);
});
