// The settings of the speech model: whose key goes where, and what is wrong with them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../../testing/table.ts";
import { sentenceOfFault } from "../faults.ts";
import { type FileRead, loadConfig } from "../load.ts";
import { secretsOf, toPrintable } from "../secret.ts";
import { accessToSpeech } from "./access.ts";

async function load(agent: string, env: Readonly<Record<string, string>> = {}) {
  const readFile = async (path: string): Promise<FileRead> =>
    path === "/h/config.yaml" ? { type: "read", bytes: Buffer.from(`agent: { ${agent} }`) } : { type: "missing" };
  return loadConfig({ home: "/h", env, userHome: null, cwd: "/", readFile });
}

async function agentOf(...given: Parameters<typeof load>) {
  const loaded = await load(...given);
  if (loaded.type === "wrong") assert.fail(loaded.faults.map(sentenceOfFault).join("\n"));
  return loaded.config.agent;
}

table(
  "which key is sent where",
  [
    { name: "no speech model", agent: "model: ollama/x", env: {}, keys: undefined, baseUrl: undefined },
    {
      name: "the usual variable",
      agent: "model: ollama/x, speech: { model: openai/whisper-1 }",
      env: { OPENAI_API_KEY: "from-environment" },
      keys: ["from-environment"],
      baseUrl: undefined,
    },
    {
      name: "that of the model, at the same address",
      agent: "model: openai/x, apiKey: main-key, baseUrl: http://one/v1, speech: { model: openai/whisper-1 }",
      env: {},
      keys: ["main-key"],
      baseUrl: "http://one/v1",
    },
    {
      name: "its own",
      agent: "model: openai/x, apiKey: main-key, speech: { model: openai/whisper-1, apiKey: [a-key, b-key] }",
      env: {},
      keys: ["a-key", "b-key"],
      baseUrl: undefined,
    },
    {
      name: "an address of its own gets no key that was meant for another",
      agent: "model: openai/x, apiKey: main-key, speech: { model: openai/whisper-1, baseUrl: http://two/v1 }",
      env: { OPENAI_API_KEY: "from-environment" },
      keys: [],
      baseUrl: "http://two/v1",
    },
    {
      name: "a server of one's own",
      agent: "model: ollama/x, speech: { model: openai-compatible/large, baseUrl: http://two/v1 }",
      env: {},
      keys: [],
      baseUrl: "http://two/v1",
    },
  ],
  async ({ agent, env, keys, baseUrl }) => {
    const access = accessToSpeech(await agentOf(agent, env));
    assert.deepEqual([access?.keys, access?.baseUrl], [keys, baseUrl]);
  },
);

const line = "/h/config.yaml, line 1: agent.speech";
table(
  "what is wrong with it, and what to do",
  [
    {
      name: "no key",
      agent: "model: ollama/x, speech: { model: openai/whisper-1 }",
      says: `${line}.model is a model of openai, which needs a key, and there is none; set OPENAI_API_KEY in the environment or in .env, or agent.speech.apiKey`,
    },
    {
      name: "no address",
      agent: "model: ollama/x, speech: { model: openai-compatible/large }",
      says: `${line}.model is a model of openai-compatible, which needs an address; add agent.speech.baseUrl, as http://127.0.0.1:8080/v1`,
    },
    {
      name: "a provider that transcribes nothing",
      agent: "model: ollama/x, speech: { model: anthropic/x }",
      says: `${line}.model must be openai/whisper-1 or another of openai, or openai-compatible/name, but is "anthropic/x"; correct or remove it`,
    },
    {
      name: "an unknown key",
      agent: "model: ollama/x, speech: { model: openai/x, apiKey: a-key, baseURL: http://x }",
      says: `${line}.baseURL is not known; did you mean baseUrl?`,
    },
  ],
  async ({ agent, says }) => {
    const loaded = await load(agent);
    assert.deepEqual(loaded.type === "wrong" ? loaded.faults.map(sentenceOfFault) : [], [says]);
  },
);

test("its key is a secret", async () => {
  const agent = await agentOf("model: ollama/x, speech: { model: openai/x, apiKey: planted-speech-key }");
  assert.deepEqual([...secretsOf(agent)], ["planted-speech-key"]);
  assert.doesNotMatch(JSON.stringify(toPrintable(agent)), /planted/);
});
