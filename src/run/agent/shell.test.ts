// The shell around an agent that is not loaded yet: a turn cut short inside of a call finds its tool, the first step
// waits for the code, and what could not be loaded is tried again.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionId } from "../../core/ids.ts";
import type { Agent, AgentJob } from "../../ports/agent.ts";
import type { Tool, ToolContext, VetContext } from "../../ports/tool.ts";
import { shell } from "./shell.ts";

const context = {} as ToolContext;
const looking = {} as VetContext;
const job = {} as AgentJob;
const never = new AbortController().signal;

type Made = { readonly agent: Agent; readonly closed: (SessionId | "all")[] };

function made(tools: readonly Tool[]): Made {
  const closed: (SessionId | "all")[] = [];
  const agent: Agent = {
    tools,
    models: { current: "real", known: ["real"], read: (model) => ({ model }) },
    step: async () => ({ type: "said", text: "here", calls: [], final: true }),
    close: async (session) => void closed.push(session),
  };
  return { agent, closed };
}

const writing: Tool = {
  name: "write_file",
  description: "",
  effect: "checkable",
  input: {},
  vet: async () => ({ type: "refuse", why: "no" }),
  run: async () => ({ type: "ok", output: "ran" }),
  check: async () => ({ type: "ok", output: "had happened" }),
};

test("before it is loaded a tool is known by name and effect, and loads the agent when it is used", async () => {
  let loads = 0;
  const one = shell({
    load: async () => {
      loads++;
      return made([writing]).agent;
    },
  });
  assert.deepEqual(one.tools, []);
  assert.equal(one.toolNamed?.("nothing"), null);
  assert.equal(one.toolNamed?.("files__read")?.effect, "once");
  const tool = one.toolNamed?.("write_file");
  assert.equal(tool?.effect, "checkable");
  assert.equal(loads, 0);
  assert.deepEqual(await tool?.check?.({}, context), { type: "ok", output: "had happened" });
  assert.deepEqual(await tool?.vet?.({}, looking), { type: "refuse", why: "no" });
  assert.deepEqual(await tool?.run({}, context), { type: "ok", output: "ran" });
  assert.equal(loads, 1);
  assert.deepEqual(one.tools, [writing]);
  assert.equal(one.toolNamed?.("write_file"), writing);
});

test("a tool that turns out not to be there has failed, and one without a check cannot tell", async () => {
  const { check: _left, vet: _too, ...plain } = writing;
  const one = shell({ load: async () => made([plain]).agent });
  const [gone, left] = [one.toolNamed?.("files__read"), one.toolNamed?.("write_file")];
  assert.deepEqual(await gone?.run({}, context), { type: "failed", why: "there is no tool named files__read" });
  assert.deepEqual(await left?.vet?.({}, looking), { type: "run" });
  assert.equal((await left?.check?.({}, context))?.type, "unknown");
});

test("the first step waits for the agent, which is loaded once", async () => {
  let loads = 0;
  const one = shell({
    load: async () => {
      loads++;
      return made([]).agent;
    },
  });
  const steps = await Promise.all([one.step(job, never), one.step(job, never), one.warm()]);
  assert.equal(loads, 1);
  assert.deepEqual(steps[0], { type: "said", text: "here", calls: [], final: true });
});

test("what could not be loaded is told as a failed step, and tried again", async () => {
  let loads = 0;
  const one = shell({
    load: async () => {
      loads++;
      if (loads === 1) throw new Error("no such file");
      return made([]).agent;
    },
  });
  const first = await one.step(job, never);
  assert.deepEqual(first, {
    type: "failed",
    retry: "later",
    why: "the agent could not be loaded (no such file)",
  });
  assert.equal((await one.step(job, never)).type, "said");
});

test("one that was closed while it was loaded is closed when it is there", async () => {
  const { agent, closed } = made([]);
  const ready = Promise.withResolvers<Agent>();
  const one = shell({ load: () => ready.promise });
  const warming = one.warm();
  await one.close("all");
  ready.resolve(agent);
  await warming;
  assert.deepEqual(closed, ["all"]);
});

test("models are those of the settings until the agent says it itself", async () => {
  const models = { current: "set", known: ["set"], read: () => ({ wrong: "not yet" }) };
  const one = shell({ load: async () => made([]).agent, models });
  assert.equal(one.models?.current, "set");
  assert.deepEqual(one.models?.read("x"), { wrong: "not yet" });
  await one.warm();
  assert.equal(one.models?.current, "real");
  assert.deepEqual(one.models?.known, ["real"]);
  assert.deepEqual(one.models?.read("x"), { model: "x" });
});

test("what goes on beside turns is asked of the agent, which is loaded for it", async () => {
  const place = { platform: "chat", account: "bot", chat: "a" };
  const { agent } = made([]);
  const beside = { activity: async () => ["make"], stopActivity: async () => ["make", "test"] };
  const one = shell({ load: async () => ({ ...agent, ...beside }) });
  assert.deepEqual([await one.activity?.(place), await one.stopActivity?.(place)], [["make"], ["make", "test"]]);
  const none = shell({ load: async () => agent });
  assert.deepEqual([await none.activity?.(place), await none.stopActivity?.(place)], [[], []]);
});
