// The ACP backend against an agent of our own, as a real process that dies, hangs, asks, forgets and floods.

import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { toolsIn } from "../../src/agents/acp/told/record.ts";
import type { Entry } from "../../src/core/journal.ts";
import { anInbound } from "../../src/testing/samples.ts";
import { aLine, acpStage, jobOf, never, playTurn, resumed, stepOf } from "./acp-stage.ts";
import { until } from "./mcp-stage.ts";

const limit = { timeout: 120_000 };
const count = (lines: readonly string[], line: string): number => lines.filter((one) => one === line).length;

test("text streams as drafts, tools are on record as they end, and the whole text is the answer", limit, async (t) => {
  const stage = acpStage(t);
  const { agent } = stage.open();
  const shown: string[] = [];
  const { text, journal } = await playTurn(agent, { text: "tools 3", draft: (words) => void shown.push(words) });
  assert.equal(text, "Did tool 1, tool 2, tool 3.");
  assert.ok(journal.length > 2, "what is finished is not kept for the end");
  assert.deepEqual(
    toolsIn(journal).map(({ title, status }) => `${title} ${status}`),
    ["tool 1 completed", "tool 2 completed", "tool 3 completed"],
  );
  // On a busy machine a tool may have ended before it is shown.
  assert.ok(
    shown.some((words) => /▸ tool 1(?:…| ✓)/.test(words)),
    shown.join("|"),
  );
  assert.deepEqual(stage.left("effects"), ["tool 1", "tool 2", "tool 3"]);
  assert.equal(stage.prompts().length, 1);
});

test("conversations share one program, and each goes on in its own session", limit, async (t) => {
  const stage = acpStage(t);
  const { agent, alive } = stage.open();
  await Promise.all(["s1", "s2"].map((session) => playTurn(agent, { text: `hello ${session}`, session })));
  await playTurn(agent, { text: "and again", session: "s1", turn: "t2" });
  const prompts = stage.prompts();
  assert.equal(
    prompts.find((one) => one.text === "and again")?.session,
    prompts.find((one) => one.text === "hello s1")?.session,
  );
  assert.equal(new Set(prompts.map((one) => one.session)).size, 2);
  assert.equal(stage.left("starts").length, 1);
  assert.equal(alive(), 1);
});

test(
  "a permission is an approval; the answer goes to the agent, which goes on in the same prompt",
  limit,
  async (t) => {
    for (const [answer, outcome, words] of [
      ["approve", { outcome: "selected", optionId: "o1" }, /It is removed/],
      ["always", { outcome: "selected", optionId: "o2" }, /It is removed/],
      ["deny", { outcome: "selected", optionId: "r1" }, /Then I leave it/],
      [null, { outcome: "selected", optionId: "r1" }, /Then I leave it/],
    ] as const) {
      const stage = acpStage(t);
      const { text, journal } = await playTurn(stage.open().agent, { text: "permit it" }, () => answer);
      assert.match(text, words);
      assert.match(text, /^I have to ask\./);
      const asked = journal.find((entry) => entry.type === "asked");
      assert.ok(asked?.type === "asked");
      assert.equal(asked.kind, "approval");
      assert.match(asked.text, /^May I do this with [^]*\n```\nRemove the build\nrm -rf build\n```\n/);
      assert.deepEqual(asked.choices, ["approve", "always", "deny"]);
      assert.deepEqual(
        stage.left("answers").map((line) => JSON.parse(line) as unknown),
        [outcome],
      );
      assert.equal(stage.prompts().length, 1);
      assert.equal(count(stage.left("effects"), "Remove the build"), outcome.optionId === "r1" ? 0 : 1);
    }
  },
);

test("a denial in the user's own words is told to the agent", limit, async (t) => {
  for (const answer of ["deny: use the other folder", "use the other folder"]) {
    const stage = acpStage(t);
    const { text } = await playTurn(stage.open().agent, { text: "permit it" }, () => answer);
    assert.match(text, /Then I leave it\.\s+You said: use the other folder/);
    assert.deepEqual(stage.left("effects"), []);
  }
});

test("leave that was given after a crash is for the very same thing, however long it is", limit, async (t) => {
  const journalOf = async (word: string) => {
    const stage = acpStage(t);
    const { journal } = await playTurn(stage.open().agent, { text: `permit long ${word}` }, null);
    const asked = journal.findLast((entry) => entry.type === "asked");
    assert.ok(asked?.type === "asked" && asked.bound !== undefined);
    return { asked, journal };
  };
  const [one, other] = [await journalOf("one"), await journalOf("two")];
  assert.match(one.asked.text, /NOT ALL OF IT IS SHOWN/);
  assert.ok(one.asked.what?.includes("one"), "all of it is on record");
  const hidden = (text: string) => text.replace(/permit long \w+/g, "");
  assert.equal(hidden(one.asked.text), hidden(other.asked.text), "what is shown is the same");
  for (const [{ asked, journal: before }, asks] of [
    [one, 1],
    [other, 2],
  ] as const) {
    const stage = acpStage(t);
    const answered: Entry = { type: "answered", question: asked.question, choice: "approve" };
    const past: Entry[] = [...before, answered];
    const { journal } = await playTurn(stage.open().agent, { text: "permit long one", past }, null);
    const all = journal.flatMap((entry) => (entry.type === "asked" ? [entry] : []));
    assert.equal(all.length, asks);
    assert.equal(stage.left("effects").length, asks === 1 ? 1 : 0);
    if (asks === 2) assert.match(all[1]?.text ?? "", /^What would be done has changed since you were asked/);
  }
});

test("conversations beyond those at hand are entered again, and none at work is left", limit, async (t) => {
  for (const flag of ["load", "forgetful"]) {
    const stage = acpStage(t, [flag]);
    const { agent } = stage.open({ remembered: 2 });
    const held = { text: "permit it", session: "s0" };
    const { journal: waiting } = await playTurn(agent, held, null);
    const sessions = ["s1", "s2", "s3", "s4"];
    const played = await Promise.all(sessions.map((session) => playTurn(agent, { text: `hi ${session}`, session })));
    for (const [i, session] of sessions.entries()) {
      const history = [aLine(1, "t1", "user", `hi ${session}`, session)];
      const journals = { t1: played[i]?.journal ?? [] };
      await playTurn(agent, { text: `more ${session}`, turn: "t2", session, history, journals });
    }
    const loads = stage.left("loads").length;
    assert.ok(flag === "load" ? loads >= 2 : loads === 0, `${loads} loads`);
    const told = stage.prompts().filter((one) => one.text.startsWith("[System note: this conversation began earlier"));
    assert.equal(told.length > 0, flag === "forgetful");
    const past: Entry[] = [...waiting];
    const asked = past.at(-1);
    assert.ok(asked?.type === "asked");
    past.push({ type: "answered", question: asked.question, choice: "approve" });
    assert.match((await playTurn(agent, { ...held, past })).text, /It is removed/);
    assert.equal(stage.prompts().filter((one) => one.text === "permit it").length, 1);
    assert.equal(stage.left("starts").length, 1);
  }
});

test("messages that join are told when the prompt is over, once", limit, async (t) => {
  const stage = acpStage(t);
  const { agent } = stage.open();
  const turn = { text: "tools 2" };
  const journal: Entry[] = [];
  await stepOf(agent, turn, journal);
  await stepOf(agent, turn, journal);
  journal.push({ type: "joined", message: anInbound("and hurry", { party: "owner" }) });
  const { text } = await playTurn(agent, { ...turn, past: journal });
  assert.match(text, /Did tool 1, tool 2\.\s+You said: and hurry/);
  assert.deepEqual(
    stage.prompts().map((one) => one.text),
    ["tools 2", "and hurry"],
  );
});

test("the agent's death is told with its last words, and the work goes on where it was", limit, async (t) => {
  for (const flag of ["load", "forgetful"]) {
    const stage = acpStage(t, [flag]);
    const { text, failures, journal } = await playTurn(stage.open().agent, { text: "crash once" });
    assert.equal(failures.length, 1);
    assert.match(JSON.stringify(failures), /is gone: it ended with exit code 9; its last words: out of memory, sorry/);
    assert.match(text, /Beginning\.[^]*Both are done\./);
    assert.deepEqual(stage.left("effects"), ["first", "second"], flag);
    assert.ok(journal.length > 2);
    const [first, second] = stage.prompts();
    assert.equal(first?.text, "crash once");
    assert.match(second?.text ?? "", /^\[System note: your work on the message below was cut short/);
    assert.equal(first?.session === second?.session, flag === "load");
  }
});

test("cut after any entry, and killed there: nothing is done twice and the answer is whole", limit, async (t) => {
  for (const flag of ["load", "forgetful"]) {
    for (let cut = 1; cut <= 4; cut++) {
      const stage = acpStage(t, [flag]);
      const turn = { text: "tools 4" };
      const journal: Entry[] = [];
      const before = stage.open();
      for (let i = 0; i < cut; i++) await stepOf(before.agent, turn, journal);
      await before.kill();
      const done = stage.left("effects").length;
      const { text } = await playTurn(stage.open().agent, { ...turn, past: [...journal, resumed] });
      assert.match(text, /tool 4\.$/);
      const effects = stage.left("effects");
      // What was done and not on record yet, only the agent itself can know.
      if (flag === "load") assert.deepEqual(effects, ["tool 1", "tool 2", "tool 3", "tool 4"], `cut ${cut}`);
      else assert.ok(effects.length <= 5 && effects.length >= Math.max(4, done), `${cut}: ${effects.join()}`);
      assert.equal(
        stage.prompts().filter((one) => /(?:^|\n\n)tools 4$/.test(one.text)).length,
        1,
        "told once as a message",
      );
    }
  }
});

test(
  "killed before the agent was told anything, it is told the message; told and killed, it is not again",
  limit,
  async (t) => {
    const stage = acpStage(t);
    const turn = { text: "hello there" };
    const journal: Entry[] = [];
    const first = stage.open();
    await stepOf(first.agent, turn, journal);
    assert.deepEqual(stage.prompts(), []);
    await first.kill();
    const second = stage.open();
    const cutShort = new AbortController();
    const job = jobOf({ ...turn, draft: () => undefined }, [...journal, resumed]);
    const lost = second.agent.step(job, cutShort.signal);
    await until(() => stage.prompts().length === 1);
    await second.kill();
    cutShort.abort(new Error("killed"));
    await lost.catch((error: unknown) => assert.match(String(error), /killed/));
    const { text } = await playTurn(stage.open().agent, { ...turn, past: [...journal, resumed, resumed] });
    assert.match(text, /hello there/);
    const [one, two] = stage.prompts();
    assert.match(one?.text ?? "", /^\[System note: your work on this turn[^]*now the user says:\]\n\nhello there$/);
    assert.match(two?.text ?? "", /^\[System note: your work on this turn[^]*> hello there/);
    assert.equal(one?.session, two?.session);
  },
);

test("an approval given after a restart is used for the same question once, and for no other", limit, async (t) => {
  const stage = acpStage(t);
  const first = stage.open();
  const { journal } = await playTurn(first.agent, { text: "permit it" }, null);
  const asked = journal.at(-1);
  assert.ok(asked?.type === "asked");
  await first.kill();
  const answered: Entry = { type: "answered", question: asked.question, choice: "approve" };
  const { text, journal: whole } = await playTurn(
    stage.open().agent,
    { text: "permit it", past: [...journal, answered] },
    null,
  );
  assert.match(text, /It is removed/);
  assert.equal(count(stage.left("effects"), "Remove the build"), 1);
  assert.equal(whole.filter((entry) => entry.type === "asked").length, 1, "it is not asked again");
  // After one more death nobody knows whether it was used; then the user is asked.
  const other = acpStage(t);
  const past: Entry[] = [{ ...asked, question: "q1" }];
  const again = await playTurn(
    other.open().agent,
    { text: "permit it", past: [...past, { ...answered, question: "q1" }, resumed] },
    null,
  );
  assert.equal(again.journal.filter((entry) => entry.type === "asked").length, 2);
  assert.deepEqual(other.left("effects"), []);
});

test(
  "a later turn finds its session in the journals of those before, or tells the agent what was said",
  limit,
  async (t) => {
    for (const flag of ["load", "forgetful"]) {
      const stage = acpStage(t, [flag]);
      const first = stage.open();
      const { journal, text } = await playTurn(first.agent, { text: "my name is Ann", turn: "t1" });
      await first.kill();
      const history = [aLine(1, "t1", "user", "my name is Ann"), aLine(2, "t1", "assistant", text)];
      const journals = { t1: journal };
      await playTurn(stage.open().agent, { text: "who am I?", turn: "t2", history, journals });
      const last = stage.prompts().at(-1);
      if (flag === "load") assert.equal(last?.text, "who am I?");
      else assert.match(last?.text ?? "", /User: my name is Ann[^]*now the user says:\]\s+who am I\?$/);
      assert.equal(stage.left("loads").length, flag === "load" ? 1 : 0);
    }
  },
);

test("an abort cancels the prompt at once; the next turn goes on in the session", limit, async (t) => {
  const stage = acpStage(t);
  const { agent } = stage.open();
  const stop = new AbortController();
  const reason = new Error("the user said stop");
  const cut = playTurn(agent, {
    text: "hang on",
    signal: stop.signal,
    draft: (words) => words.includes("Hanging") && stop.abort(reason),
  });
  await assert.rejects(cut, reason);
  await until(() => stage.left("cancels").length === 1);
  const { text } = await playTurn(agent, { text: "and now", turn: "t2" });
  assert.equal(text, "You said: and now");
  assert.equal(stage.left("starts").length, 1);
});

test("an agent that does not stop when told is ended, and the next turn has a new one", limit, async (t) => {
  const stage = acpStage(t);
  const { agent } = stage.open({ pace: { cancelMs: 100 } });
  const stop = new AbortController();
  const cut = playTurn(agent, {
    text: "deaf",
    signal: stop.signal,
    draft: (words) => words.includes("Hanging") && stop.abort(new Error("stop")),
  });
  await assert.rejects(cut, /stop/);
  const { text } = await playTurn(agent, { text: "and now", turn: "t2" });
  assert.equal(text, "You said: and now");
  assert.equal(stage.left("starts").length, 2);
});

test("a turn that is dropped while it asks does not disturb the next one", limit, async (t) => {
  const stage = acpStage(t);
  const { agent } = stage.open();
  await playTurn(agent, { text: "permit it" }, null);
  const { text } = await playTurn(agent, { text: "never mind", turn: "t2" });
  assert.equal(text, "You said: never mind");
  assert.deepEqual(stage.left("answers"), ['{"outcome":"cancelled"}']);
});

test("what is asked when the prompt is over has nobody to ask, and is told so", limit, async (t) => {
  const stage = acpStage(t);
  await playTurn(stage.open().agent, { text: "late" });
  await until(() => stage.left("answers").length === 1);
  assert.deepEqual(stage.left("answers"), ['{"outcome":"cancelled"}']);
});

test("an agent that dies before its first word is not given the message a second time", limit, async (t) => {
  for (const flag of ["load", "forgetful"]) {
    const stage = acpStage(t, [flag]);
    const { text } = await playTurn(stage.open().agent, { text: "die" });
    assert.equal(text, "I live again.");
    assert.equal(stage.prompts().filter((one) => one.text === "die").length, 1, flag);
    assert.match(stage.prompts().at(-1)?.text ?? "", /^\[System note:[^]*> die/);
  }
});

test("an agent that cannot be used says why, and whether waiting helps", limit, async (t) => {
  for (const [flag, why, retry] of [
    ["exit", /exit code 2; its last words: no configuration found/, "later"],
    ["auth", /needs a login\. Set FAKE_API_KEY in agent\.acp\.env/, "never"],
    ["version", /speaks version 7/, "never"],
    ["garbage", /no messages/, "later"],
    ["hang-init", /did not answer to initialize in time/, "later"],
  ] as const) {
    const stage = acpStage(t, [flag]);
    const { agent, alive } = stage.open({ pace: { connectMs: flag === "hang-init" ? 300 : 30_000 } });
    const step = await agent.step(jobOf({ text: "hello" }, []), never);
    assert.ok(step.type === "failed", flag);
    assert.match(step.why, why);
    assert.equal(step.retry, retry, flag);
    if (flag !== "auth") await until(() => alive() === 0);
  }
  const gone = acpStage(t).open({ program: { command: ["/no/such/agent"] } });
  const step = await gone.agent.step(jobOf({ text: "hello" }, []), never);
  assert.match(JSON.stringify(step), /cannot be started.*was not found/);
});

test("an agent that dies again and again is started less and less often", limit, async (t) => {
  const stage = acpStage(t, ["exit"]);
  const { agent } = stage.open({ pace: { retryMinMs: 60_000, retryMaxMs: 100_000 } });
  const steps = [];
  for (let i = 0; i < 5; i++) steps.push(await agent.step(jobOf({ text: "hello" }, []), never));
  assert.equal(stage.left("starts").length, 2);
  const last = steps.at(-1);
  assert.ok(last?.type === "failed" && (last.afterMs ?? 0) > 1_000 && /no configuration/.test(last.why));
});

test("noise is passed over, floods end it, errors and refusals are told, silence is not nothing", limit, async (t) => {
  const stage = acpStage(t);
  const { agent } = stage.open();
  const say = async (text: string) => playTurn(agent, { text, turn: text });
  assert.equal((await say("noise")).text, "through the noise");
  assert.match((await say("refuse")).text, /refused/);
  assert.match((await say("silent")).text, /without a word/);
  const failed = await say("fail");
  assert.match(JSON.stringify(failed.failures[0]), /the model has no credit/);
  assert.equal(stage.prompts().filter((one) => one.text === "fail").length, 1, "a retry does not tell it again");
  assert.match(JSON.stringify((await say("flood")).failures[0]), /no messages/);
});

test("files go along as links, images as images where the agent sees them", limit, async (t) => {
  const file = { name: "a.png", mime: "image/png", blob: "b1", bytes: 3 };
  const input = anInbound("look", {
    party: "owner",
    body: { kind: "text", text: "look", files: [file, { ...file, mime: "text/csv" }] },
  });
  const blobs = { read: async () => new Uint8Array([1, 2, 3]), path: () => "/tmp/b1" };
  for (const [flag, wanted] of [
    ["image", ["text", "image", "resource_link"]],
    ["blind", ["text", "resource_link", "resource_link"]],
  ] as const) {
    const stage = acpStage(t, [flag]);
    await playTurn(stage.open({ blobs }).agent, { text: "look", input });
    assert.deepEqual(stage.prompts()[0]?.blocks, wanted);
  }
});

test("an agent that dies before it stores a message gets it again with its files", limit, async (t) => {
  const file = { name: "a.png", mime: "image/png", blob: "b1", bytes: 3 };
  const blobs = { read: async () => new Uint8Array([1, 2, 3]), path: () => "/tmp/b1" };
  const stage = acpStage(t, ["load", "image"]);
  const { agent } = stage.open({ blobs });
  await playTurn(agent, { text: "hello" });
  const input = anInbound("vanish", { party: "owner", body: { kind: "text", text: "vanish", files: [file] } });
  const { text } = await playTurn(agent, { text: "vanish", turn: "t2", input });
  assert.equal(text, "You said: vanish");
  assert.deepEqual([stage.left("starts").length, stage.left("loads").length], [2, 1]);
  const [, again, ...more] = stage.prompts();
  assert.deepEqual([again?.text, again?.blocks, more.length], ["vanish", ["text", "image"], 0]);
});

test("closing does not wait for a program that does not answer", limit, async (t) => {
  const stage = acpStage(t, ["hang-init"]);
  const { agent, alive } = stage.open();
  const step = agent.step(jobOf({ text: "hello" }, []), never);
  await until(() => stage.left("starts").length === 1);
  await agent.close("all");
  assert.equal((await step).type, "failed");
  assert.equal(alive(), 0);
});

test("closing ends the program, and the next step starts it again", limit, async (t) => {
  const stage = acpStage(t);
  const { agent, alive } = stage.open();
  await playTurn(agent, { text: "hello" });
  await agent.close("all");
  assert.equal(alive(), 0);
  assert.equal((await playTurn(agent, { text: "again", turn: "t2" })).text, "You said: again");
});

test("a session that the agent dies of is left alone, and the work goes on in a new one", limit, async (t) => {
  const stage = acpStage(t);
  const turn = { text: "tools 2" };
  const journal: Entry[] = [];
  const before = stage.open();
  await stepOf(before.agent, turn, journal);
  await stepOf(before.agent, turn, journal);
  await before.kill();
  for (const name of readdirSync(stage.folder)) {
    if (name.startsWith("session-")) writeFileSync(join(stage.folder, name), "damaged");
  }
  const { text, failures } = await playTurn(stage.open().agent, { ...turn, past: [...journal, resumed] });
  assert.match(text, /tool 2\.$/);
  const deaths = failures.filter((one) => one.type === "failed" && one.afterMs === undefined);
  assert.equal(deaths.length, 2);
});

test("what is taken back, the agent does not remember either, in this life and in another", limit, async (t) => {
  for (const another of [false, true]) {
    const stage = acpStage(t);
    const first = stage.open();
    const one = await playTurn(first.agent, { text: "my name is Ann", turn: "t1" });
    await playTurn(first.agent, { text: "my name is Bob", turn: "t2" });
    if (another) await first.kill();
    const { agent } = another ? stage.open() : first;
    const history = [aLine(1, "t1", "user", "my name is Ann"), aLine(2, "t1", "assistant", "Hello Ann.")];
    await playTurn(agent, { text: "who am I?", turn: "t3", history, journals: { t1: one.journal } });
    const prompts = stage.prompts();
    assert.notEqual(prompts[2]?.session, prompts[1]?.session);
    assert.match(prompts[2]?.text ?? "", /User: my name is Ann[^]*You: Hello Ann\.[^]*who am I\?$/);
    assert.ok(!prompts[2]?.text.includes("Bob"));
  }
});
