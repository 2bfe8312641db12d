// The contract of agents, run over the model backend: the packages of the providers against fakes that speak as the
// services do. What the fake does next it reads from the request, so a fresh agent goes on from any journal.

import { model } from "../src/agents/model/index.ts";
import type { ProviderName } from "../src/agents/model/options.ts";
import type { Tool } from "../src/ports/tool.ts";
import { type OpenedAgent, agentSuite } from "../src/testing/index.ts";
import { fakeModels, follow } from "./fakes/models/index.ts";

const tools: readonly Tool[] = [
  {
    name: "look",
    description: "Looks at something.",
    effect: "pure",
    input: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
    run: async (input) => ({ type: "ok", output: `seen ${JSON.stringify(input)}` }),
  },
  {
    name: "change",
    description: "Changes something.",
    effect: "once",
    input: { type: "object", properties: { to: { type: "string" } } },
    run: async () => ({ type: "ok", output: { changed: true } }),
  },
];

const call = (tool: string, input: unknown) => ({ tool, input });
const work = [
  call("look", { at: "a" }),
  [call("look", { at: "b" }), call("look", { at: "c" }), call("change", { to: "d" })],
  call("change", { to: "e" }),
];

async function open(provider: ProviderName, protocol: "openai" | "anthropic" | "google"): Promise<OpenedAgent> {
  const fake = await fakeModels(({ seen }) => ({ ...follow(seen), grain: 200 }));
  const agent = model({
    model: `${provider}/fake-model`,
    fallback: [],
    providers: { [provider]: { keys: ["planted-key"], baseUrl: fake.baseUrl(protocol) } },
    instructions: "Be brief.",
    maxSteps: 20,
    prices: {},
    tools: () => tools,
    blobs: null,
    hide: (text) => text,
    facts: { workspace: null, system: "a test" },
  });
  return { agent, close: fake.close };
}

for (const [provider, protocol] of [
  ["openai", "openai"],
  ["anthropic", "anthropic"],
  ["google", "google"],
  ["openai-compatible", "openai"],
] as const) {
  agentSuite(`model over ${provider}`, {
    open: () => open(provider, protocol),
    messages: ["hello", `do: ${JSON.stringify(work)}`],
    repeatable: true,
  });
}
