// A turn that is ended from outside while its tools run: at once, with its reason, and its journal says what became of
// every call.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionId, TurnId } from "../../src/core/ids.ts";
import type { ToolEffect, ToolResult } from "../../src/core/journal.ts";
import { Interruption } from "../../src/engine/turns/interruption.ts";
import type { AgentJob, Step } from "../../src/ports/agent.ts";
import type { Tool, ToolContext } from "../../src/ports/tool.ts";
import { type Living, type Stage, stage, whenAborted } from "../stop/stage.ts";
import { type Next, agentOf, calling, fine, resultsOf, texts, tool, turnsOf, untilSeen } from "./agents.ts";

const failed = (why: string): ToolResult => ({ type: "failed", why });
const unsure = (why: string): ToolResult => ({
  type: "unknown",
  why: `${why} while it ran, so nobody knows whether it happened`,
});
const byUser = "stopped by its user";

type StopCase = {
  readonly name: string;
  readonly effect: ToolEffect;
  /** What the tool does when it is told to stop; without it, it hears nothing. */
  readonly ends?: (reason: unknown) => ToolResult;
  readonly gives: ToolResult;
};
const cases: readonly StopCase[] = [
  { name: "a tool that hears nothing", effect: "once", gives: unsure(byUser) },
  { name: "a pure tool that hears nothing", effect: "pure", gives: failed(`${byUser} while it ran`) },
  {
    name: "a tool that tells how far it got",
    effect: "once",
    ends: () => ({ type: "ok", output: "half of it" }),
    gives: { type: "ok", output: "half of it" },
  },
  {
    name: "a checkable tool that fails with the reason",
    effect: "checkable",
    ends: (reason) => {
      throw reason;
    },
    gives: unsure(byUser),
  },
];
for (const { name, effect, ends, gives } of cases) {
  test(`/stop: ${name}`, async (t) => {
    const on = await stage(t);
    const reasons: unknown[] = [];
    const slow = tool("slow", effect, async ({ signal }) => {
      on.calls.push("begun");
      await new Promise<void>((go) =>
        whenAborted(signal, () => {
          reasons.push(signal.reason);
          if (ends !== undefined) go();
        }),
      );
      return ends?.(reasons[0]) ?? fine;
    });
    const next = tool("next", "once", () => assert.fail("it was stopped before"));
    const one = await on.start({ agent: agentOf([slow, next], [calling("slow", "next")]) });
    await on.say("go");
    await on.until(() => on.calls.includes("begun"));
    const from = on.now();
    await on.say("/stop");
    await on.until(() => one.gateway.status().running.length === 0);
    assert.ok(on.now() - from <= 1_100, `it took ${on.now() - from} ms`);
    assert.deepEqual(await resultsOf(on), [gives, failed(`${byUser} before it was begun`)]);
    const [reason] = reasons;
    assert.ok(reason instanceof Interruption && reason.why === "cancelled");
    await untilSeen(on, 1);
    assert.deepEqual(texts(on), ["Stopped."]);
    const [turn] = await turnsOf(on);
    assert.ok(turn?.now.state === "done" && turn.now.outcome === "cancelled");
    assert.equal(one.events.filter(({ type }) => type === "turn-ended").length, 1, "whoever watches is told once");
  });
}

test("what a stopped tool wished for still happens, because its result is on record", async (t) => {
  const on = await stage(t);
  const slow = tool("note", "keyed", async ({ signal }) => {
    on.calls.push("begun");
    await new Promise<void>((go) => whenAborted(signal, go));
    return { type: "ok", output: "noted", wishes: [{ type: "remember", text: "ann likes tea" }] };
  });
  await on.start({ agent: agentOf([slow], [calling("note")]) });
  await on.say("go");
  await on.until(() => on.calls.includes("begun"));
  await on.say("/stop");
  await on.pass(50);
  assert.equal((await on.store.recall('["chat","bot","a"]', "tea", 5)).length, 1);
});

test("interrupted by a newer message: the calls of the older one are told in its journal", async (t) => {
  const on = await stage(t);
  const slow = tool("slow", "once", () => new Promise<ToolResult>(() => void on.calls.push("begun")));
  const agent = agentOf(
    [slow],
    [({ input }) => ("text" in input.body && input.body.text === "go" ? calling("slow") : done)],
  );
  await on.start({ agent, settings: { chat: { busy: "interrupt" } } });
  await on.say("go");
  await on.until(() => on.calls.includes("begun"));
  await on.say("never mind");
  await untilSeen(on, 1);
  assert.deepEqual(await resultsOf(on), [unsure("a newer message took its place")]);
});

test("a stop of the gateway is no end: the call is taken up by its effect afterwards", async (t) => {
  const on = await stage(t);
  let runs = 0;
  const slow = tool("slow", "keyed", () => (runs++ === 0 ? new Promise<ToolResult>(() => undefined) : fine));
  const agent = agentOf([slow], [calling("slow")]);
  const one = await on.start({ agent });
  await on.say("go");
  await on.until(() => runs === 1);
  await on.stop(one);
  assert.deepEqual(await resultsOf(on), []);
  await on.start({ agent });
  await untilSeen(on, 1);
  assert.deepEqual(await resultsOf(on), [fine]);
});

test("while a call waits for leave nothing runs, so a newer message interrupts nothing and the question stays open", async (t) => {
  const on = await stage(t);
  const vet = async () => ({ type: "approve", why: "w", what: "x", bound: "b", subject: null }) as const;
  const rm = tool("rm", "once", () => fine, { vet });
  const agent = agentOf(
    [rm],
    [({ input }) => ("text" in input.body && input.body.text === "go" ? calling("rm") : done)],
  );
  await on.start({ agent, settings: { chat: { busy: "interrupt" } } });
  await on.say("go");
  await untilSeen(on, 1);
  await on.say("something else");
  await untilSeen(on, 2);
  assert.deepEqual(
    (await turnsOf(on)).map(({ now }) => now.state),
    ["waiting", "done"],
  );
  await on.say("yes");
  await untilSeen(on, 3);
  assert.deepEqual(await resultsOf(on), [fine]);
});

test("a message that steers joins at the next step, also when it came while a call ran", async (t) => {
  const on = await stage(t);
  let go: (result: ToolResult) => void = () => undefined;
  const slow = tool("slow", "once", () => new Promise<ToolResult>((end) => (go = end)));
  const read: string[] = [];
  const agent = agentOf(
    [slow],
    [
      calling("slow"),
      ({ journal }) => {
        for (const entry of journal) if (entry.type === "joined") read.push(entry.message.key);
        return done;
      },
    ],
  );
  await on.start({ agent, settings: { chat: { busy: "steer" } } });
  await on.say("go");
  await on.pass(20);
  await on.say("and mind the step", { key: "joins" });
  go(fine);
  await untilSeen(on, 1);
  assert.deepEqual(read, ["joins"]);
  assert.deepEqual(
    (await turnsOf(on)).map(({ now }) => (now.state === "done" ? now.outcome : now.state)),
    ["replied", "joined"],
  );
});

const done = { type: "said", text: "done", calls: [], final: true } as const;

/** A job outside the process: `drop` is heard, and `check` finds it still running. */
function following(dropped: string[], begun: () => void): Tool {
  const follow = ({ signal }: ToolContext): Promise<ToolResult> => {
    begun();
    return new Promise((_, fail) => whenAborted(signal, () => fail(signal.reason)));
  };
  return tool("job", "checkable", follow, {
    check: (_input, context) => follow(context),
    drop: async (_input, { key }) => void dropped.push(key),
  });
}
const afterwards = tool("next", "once", () => assert.fail("it was stopped before"));

/** A call of a job is open, its life is gone, and the next one has no room to go on with it. */
async function parkedInJob(on: Stage, dropped: string[]): Promise<Living> {
  let begun = 0;
  const agent = agentOf([following(dropped, () => void begun++), afterwards], [calling("job", "next")]);
  const one = await on.start({ agent });
  await on.say("build");
  await on.until(() => begun === 1);
  one.life.kill();
  return on.start({ agent, lanesMax: 0 });
}

const unsureOf = (why: string): readonly ToolResult[] => [unsure(why), failed(`${why} before it was begun`)];

test("/stop of an interrupted turn: its journal tells of every call, and its job is ended", async (t) => {
  const on = await stage(t);
  const dropped: string[] = [];
  await parkedInJob(on, dropped);
  await on.say("/stop");
  await untilSeen(on, 1);
  assert.deepEqual(texts(on), ["Stopped."]);
  assert.deepEqual(await resultsOf(on), unsureOf(byUser));
  const [turn] = await turnsOf(on);
  assert.deepEqual(dropped, [`${turn?.id}:0:1`]);
});

test("an interrupted turn that the operator cancels: the same", async (t) => {
  const on = await stage(t);
  const dropped: string[] = [];
  const two = await parkedInJob(on, dropped);
  const [turn] = await turnsOf(on);
  await two.gateway.cancel(turn?.id as TurnId);
  assert.deepEqual(await resultsOf(on), unsureOf("cancelled by the operator"));
  assert.equal(dropped.length, 1);
});

test("a turn that waits and is cancelled: what it asked for is told as not begun", async (t) => {
  const on = await stage(t);
  const vet: Tool["vet"] = async () => ({ type: "approve", why: "it does", what: "x", bound: "b", subject: null });
  const dropped: string[] = [];
  const job = { ...following(dropped, () => assert.fail("nobody allowed it")), vet };
  const one = await on.start({ agent: agentOf([job], [calling("job")]) });
  await on.say("build");
  await untilSeen(on, 1);
  const [turn] = await turnsOf(on);
  await one.gateway.cancel(turn?.id as TurnId);
  assert.deepEqual(await resultsOf(on), [failed("cancelled by the operator before it was begun")]);
  assert.deepEqual(dropped, [], "there is nothing to end");
});

test("/stop of a running turn: a job that told nothing is ended, one that did is not", async (t) => {
  const on = await stage(t);
  const dropped: string[] = [];
  let begun = 0;
  await on.start({ agent: agentOf([following(dropped, () => void begun++)], [calling("job")]) });
  await on.say("build");
  await on.until(() => begun === 1);
  await on.say("/stop");
  await on.until(() => dropped.length === 1);
  assert.deepEqual(await resultsOf(on), [unsure(byUser)]);
});

/** Shows some words, then is at work for long. */
const talks = async (job: AgentJob): Promise<Step> => {
  job.draft("one two ");
  await job.pause(60_000);
  return done;
};

for (const who of ["its user", "the operator"] as const) {
  test(`what was said before ${who} stopped it stays in the transcript, above the command`, async (t) => {
    const on = await stage(t);
    const drafts: (string | null)[] = [];
    const one = await on.start({ agent: agentOf([], [talks]), platforms: { chat: { drafts } } });
    await on.say("go");
    await on.until(() => drafts.includes("one two "), "words");
    if (who === "its user") await on.say("/stop");
    else await one.gateway.cancel((await turnsOf(on))[0]?.id as TurnId);
    await on.until(() => drafts.at(-1) === null, "the end of the preview");
    const lines = await on.store.messagesAfter({ platform: "chat", account: "bot", chat: "a" }, 0, 10);
    const answer = who === "its user" ? ["/stop", "Stopped."] : [];
    assert.deepEqual(
      lines.map(({ text }) => text),
      ["go", "one two\n\n(Stopped.)", ...answer],
    );
    const [, kept] = lines;
    const history = await on.store.history(kept?.session as SessionId, 10);
    assert.deepEqual(
      history.map(({ text, role }) => `${role}: ${text}`),
      ["user: go", "assistant: one two\n\n(Stopped.)"],
      "the agent knows what it had said",
    );
  });
}

type ShownCase = { readonly name: string; readonly steps: readonly Next[]; readonly keeps: string };
const onward: Step = { type: "said", text: "2", calls: [], final: false };
const shownCases: readonly ShownCase[] = [
  { name: "shown over several steps", steps: [(job) => (job.draft("1, 2"), onward)], keeps: "1, 2" },
  { name: "said beside a call", steps: [(job) => (job.draft("let me"), calling("slow"))], keeps: "let me see" },
];
for (const { name, steps, keeps } of shownCases) {
  test(`what stays is what was ${name}`, async (t) => {
    const on = await stage(t);
    const drafts: (string | null)[] = [];
    const slow = tool("slow", "once", () => new Promise<ToolResult>(() => void on.calls.push("begun")));
    const waits: Next = async (job) => {
      on.calls.push("begun");
      await job.pause(60_000);
      return done;
    };
    await on.start({ agent: agentOf([slow], [...steps, waits]), platforms: { chat: { drafts } } });
    await on.say("go");
    await on.until(() => on.calls.includes("begun"));
    await on.say("/stop");
    await untilSeen(on, 1);
    const lines = await on.store.messagesAfter({ platform: "chat", account: "bot", chat: "a" }, 0, 10);
    assert.equal(lines[1]?.text, `${keeps}\n\n(Stopped.)`);
  });
}

test("where nothing is shown, nothing stays of it", async (t) => {
  const on = await stage(t);
  await on.start({ agent: agentOf([], [talks]) });
  await on.say("go");
  await on.pass(100);
  await on.say("/stop");
  await untilSeen(on, 1);
  const lines = await on.store.messagesAfter({ platform: "chat", account: "bot", chat: "a" }, 0, 10);
  assert.deepEqual(
    lines.map(({ text }) => text),
    ["go", "/stop", "Stopped."],
  );
});
