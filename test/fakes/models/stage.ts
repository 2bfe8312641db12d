// A model backend beside its fake, and a job for it, so that a test says only what it is about.

import type { TestContext } from "node:test";
import { model } from "../../../src/agents/model/index.ts";
import type { ModelOptions } from "../../../src/agents/model/options.ts";
import type { Entry } from "../../../src/core/journal.ts";
import type { Agent, AgentJob, Step } from "../../../src/ports/agent.ts";
import type { Tool } from "../../../src/ports/tool.ts";
import { anAddress, anInbound, at, sessionId, turnId } from "../../../src/testing/samples.ts";
import { type FakeModels, type FakeOptions, fakeModels } from "./server.ts";
import type { Protocol, Script } from "./plan.ts";

export const look: Tool = {
  name: "look",
  description: "Looks at something.",
  effect: "pure",
  input: { type: "object", properties: { at: { type: "string" } } },
  run: async () => ({ type: "ok", output: "seen" }),
};

export type Stage = {
  readonly fake: FakeModels;
  readonly agent: Agent;
  readonly drafts: string[];
  readonly step: (journal?: readonly Entry[], more?: Partial<AgentJob>, signal?: AbortSignal) => Promise<Step>;
};

/** `openai` with one key unless something else is said; `protocol` moves it to another provider. */
export async function stage(
  t: TestContext,
  script: Script,
  more: Partial<ModelOptions> = {},
  protocol: Protocol = "openai",
  fakeOptions: FakeOptions = {},
): Promise<Stage> {
  const fake = await fakeModels(script, fakeOptions);
  t.after(() => fake.close());
  const drafts: string[] = [];
  const agent = model({
    model: `${protocol}/fake-model`,
    fallback: [],
    providers: { [protocol]: { keys: ["planted-key-1"], baseUrl: fake.baseUrl(protocol) } },
    instructions: "",
    maxSteps: 20,
    prices: {},
    tools: () => [look],
    blobs: null,
    hide: (text) => text,
    facts: { workspace: null, system: "a test" },
    ...more,
  });
  const step: Stage["step"] = (journal = [], rest = {}, signal = new AbortController().signal) =>
    agent.step({ ...aJob(journal), draft: (text) => void drafts.push(text), ...rest }, signal);
  return { fake, agent, drafts, step };
}

export function aJob(journal: readonly Entry[] = [], text = "hello"): AgentJob {
  return {
    session: sessionId("s1"),
    address: anAddress("s1"),
    turn: turnId("t1"),
    attempt: 1,
    input: anInbound(text),
    journal,
    note: null,
    history: async () => [],
    journalOf: async () => [],
    summary: async () => null,
    memories: async () => [],
    model: null,
    now: () => at(0),
    pause: async () => undefined,
    draft: () => undefined,
  };
}
