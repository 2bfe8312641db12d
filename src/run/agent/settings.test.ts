// From the configuration to what the parts of an agent are given.

import assert from "node:assert/strict";
import { test } from "node:test";
import { providerNames as ofBackend } from "../../agents/model/options.ts";
import { providerNames } from "../../config/agent/providers.ts";
import { type FileRead, loadConfig } from "../../config/load.ts";
import { acpProgram, budgetOf, mcpServers, modelSettings, workspaceOf } from "./settings.ts";

async function load(yaml: string) {
  const readFile = async (path: string): Promise<FileRead> =>
    path === "/h/config.yaml" ? { type: "read", bytes: Buffer.from(yaml) } : { type: "missing" };
  const loaded = await loadConfig({ home: "/h", env: {}, userHome: null, cwd: "/", readFile });
  assert.ok(loaded.type === "loaded", JSON.stringify(loaded));
  return { agent: loaded.config.agent, paths: loaded.paths };
}

test("the configuration and the backend know the same providers", () => {
  assert.deepEqual([...providerNames], [...ofBackend]);
});

test("models, keys and addresses go to the backend, without providers that nothing is said of", async () => {
  const { agent } = await load(`
agent:
  model: openai/x
  apiKey: [one-key, two-key]
  fallback: [openai-compatible/y]
  providers: { openai-compatible: { baseUrl: http://127.0.0.1:1/v1, headers: { a: some-value } } }
  instructions: Be kind.
`);
  const { model, fallback, providers, instructions, maxSteps } = modelSettings(agent);
  assert.deepEqual([model, fallback, instructions, maxSteps], ["openai/x", ["openai-compatible/y"], "Be kind.", 90]);
  assert.deepEqual(providers, {
    openai: { keys: ["one-key", "two-key"], baseUrl: undefined, headers: undefined },
    "openai-compatible": { keys: [], baseUrl: "http://127.0.0.1:1/v1", headers: { a: "some-value" } },
  });
});

test("who writes voice messages down goes to the backend; nobody, where nobody was chosen", async () => {
  const { agent } = await load("agent: { model: openai/x, apiKey: one-key, speech: { model: openai/whisper-1 } }");
  const { speech } = modelSettings(agent);
  assert.deepEqual(speech, { model: "openai/whisper-1", keys: ["one-key"], baseUrl: undefined, headers: undefined });
  assert.equal(modelSettings((await load("agent: { model: ollama/x }")).agent).speech, undefined);
});

test("a budget is counted in millionths of a dollar, and what is not said is no limit", async () => {
  const { agent } = await load("agent: { budget: { turnDollars: 0.5, dayTokens: 7 } }");
  assert.deepEqual(budgetOf(agent), { turn: { tokens: null, cost: 500_000 }, day: { tokens: 7, cost: null } });
});

test("servers get the grant of their settings; secrets are revealed to them alone", async () => {
  const { agent } = await load(`
agent:
  mcp:
    plain: { command: [a, ./workspace] }
    placed: { command: [b], cwd: sub, env: { TOKEN: some-token }, trusted: true, timeoutSeconds: 5, shared: true }
    granted: { command: [c], hosts: ["*.example.org", api.example.org:8443], paths: [/srv/data, "~/notes:rw"], unsafe: true }
    offline: { command: [d], hosts: [], paths: ["/srv/data:ro"] }
    far: { url: http://127.0.0.1:1/mcp, headers: { Authorization: Bearer x } }
`);
  assert.deepEqual(mcpServers(agent, "/u/me"), {
    plain: { command: ["a", "./workspace"], trusted: false },
    placed: {
      command: ["b"],
      env: { TOKEN: "some-token" },
      cwd: "sub",
      shared: true,
      trusted: true,
      timeoutSeconds: 5,
    },
    granted: {
      command: ["c"],
      hosts: ["*.example.org", "api.example.org:8443"],
      paths: [
        { path: "/srv/data", access: "read" },
        { path: "/u/me/notes", access: "write" },
      ],
      unsafe: true,
      trusted: false,
    },
    offline: { command: ["d"], hosts: [], paths: [{ path: "/srv/data", access: "read" }], trusted: false },
    far: { url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer x" }, trusted: false },
  });
});

test("the workspace is the home's own unless another is named, from the home on", async () => {
  const own = await load("");
  assert.equal(workspaceOf(own.agent, own.paths), "/h/workspace");
  const near = await load("agent: { tools: { workspace: work } }");
  assert.equal(workspaceOf(near.agent, near.paths), "/h/work");
  const far = await load("agent: { tools: { workspace: /srv/work } }");
  assert.equal(workspaceOf(far.agent, far.paths), "/srv/work");
});

test("an ACP agent has its own environment and grant", async () => {
  const { agent } = await load(
    'agent: { acp: { command: [opencode, acp], env: { A: some-key }, paths: ["~/.codex:rw"] } }',
  );
  assert.deepEqual(acpProgram(agent, "/u/me"), {
    command: ["opencode", "acp"],
    env: { A: "some-key" },
    paths: [{ path: "/u/me/.codex", access: "write" }],
  });
});
