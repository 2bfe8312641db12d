// The settings of the agent: what is taken over, whose key is used, what is wrong and what to do, and what never prints.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../../testing/table.ts";
import { sentenceOfFault } from "../faults.ts";
import { type FileRead, type LoadedConfig, loadConfig } from "../load.ts";
import { secretsOf, toPrintable } from "../secret.ts";
import { accessTo } from "./access.ts";
import { meantModel, providerNames, providerOf } from "./providers.ts";

type Given = {
  readonly yaml?: string;
  readonly dotenv?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
};

function load({ yaml, dotenv, env = {}, files = {} }: Given): Promise<LoadedConfig> {
  const all: Readonly<Record<string, string | undefined>> = { "/h/config.yaml": yaml, "/h/.env": dotenv, ...files };
  const readFile = async (path: string): Promise<FileRead> => {
    const text = all[path];
    return text === undefined ? { type: "missing" } : { type: "read", bytes: Buffer.from(text) };
  };
  return loadConfig({ home: "/h", env, userHome: null, cwd: "/", readFile });
}

async function agentOf(given: Given) {
  const loaded = await load(given);
  if (loaded.type === "wrong") assert.fail(loaded.faults.map(sentenceOfFault).join("\n"));
  return loaded.config.agent;
}

async function faultsOf(given: Given): Promise<readonly string[]> {
  const loaded = await load(given);
  return loaded.type === "wrong" ? loaded.faults.map(sentenceOfFault) : [];
}

const everything = `
agent:
  model: openai/gpt-x
  baseUrl: https://one.example/v1
  apiKey: [key-number-one, "\${KEY_TWO}"]
  fallback: [anthropic/claude-x, openrouter/a/b]
  providers:
    anthropic: { apiKey: key-of-anthropic, headers: { x-extra-key: header-secret, x-team: ordinary-team } }
    openrouter: { apiKey: key-of-openrouter, baseUrl: "https://two.example/v1?key=key-in-base-url" }
  instructions: Be kind.
  maxSteps: 7
  contextTokens: 100000
  maxOutputTokens: 2000
  vision: true
  prices: { openai/gpt-x: { input: 1.5, output: 2, cached: 0.1 } }
  budget: { turnTokens: 1000, turnDollars: 0.5, dayTokens: 2000, dayDollars: 1 }
  acp: { command: [opencode, acp], env: { A_KEY: acp-env-secret, NODE_ENV: production } }
  tools:
    allowRoot: true
    terminal: { sandbox: off, unsafe: true, network: true, hosts: [pypi.org], outside: true, timeoutSeconds: 9 }
    approvals: never
    web: { allowPrivate: true }
    workspace: elsewhere
  mcp:
    files: { command: [npx, x], env: { TOKEN: mcp-env-secret }, cwd: /tmp, trusted: true, timeoutSeconds: 5 }
    far: { url: "https://mcp.example/mcp?token=token-in-mcp-url", headers: { Authorization: Bearer mcp-header-secret } }
`;

test("everything that can be said of an agent is taken over, and no secret of it prints", async () => {
  const agent = await agentOf({ yaml: everything, env: { KEY_TWO: "key-number-two" } });
  assert.equal(agent.backend, "model");
  assert.deepEqual(accessTo(agent, "openai"), {
    keys: ["key-number-one", "key-number-two"],
    baseUrl: "https://one.example/v1",
    headers: undefined,
  });
  assert.deepEqual(accessTo(agent, "anthropic"), {
    keys: ["key-of-anthropic"],
    baseUrl: undefined,
    headers: { "x-extra-key": "header-secret", "x-team": "ordinary-team" },
  });
  assert.deepEqual(agent.budget, { turnTokens: 1000, turnDollars: 0.5, dayTokens: 2000, dayDollars: 1 });
  assert.equal(agent.tools.allowRoot, true);
  assert.deepEqual(agent.tools.terminal, {
    sandbox: "off",
    unsafe: true,
    network: true,
    hosts: ["pypi.org"],
    outside: true,
    timeoutSeconds: 9,
  });
  const secrets = [
    "key-number-one",
    "key-number-two",
    "key-of-anthropic",
    "header-secret",
    "key-of-openrouter",
    "acp-env-secret",
    "mcp-env-secret",
    "Bearer mcp-header-secret",
    "mcp-header-secret",
    "key-in-base-url",
    "token-in-mcp-url",
  ];
  assert.deepEqual([...secretsOf(agent)].toSorted(), secrets.toSorted());
  const printed = JSON.stringify(toPrintable(agent));
  for (const secret of [...secrets, "production", "ordinary-team"]) assert.ok(!printed.includes(secret), secret);
});

table(
  "which agent answers when nobody chose one",
  [
    { name: "nothing is set", yaml: "", backend: "echo" },
    { name: "a model is", yaml: "agent: { model: ollama/x }", backend: "model" },
    { name: "a program is", yaml: "agent: { acp: { command: [x] } }", backend: "acp" },
    { name: "both are", yaml: "agent: { model: ollama/x, acp: { command: [x] } }", backend: "model" },
    { name: "one was chosen", yaml: "agent: { backend: echo, model: ollama/x }", backend: "echo" },
  ],
  async ({ yaml, backend }) => assert.equal((await agentOf({ yaml })).backend, backend),
);

const found = { OPENAI_API_KEY: "from-environment", GEMINI_API_KEY: "from-gemini" };
table(
  "where a key is taken from",
  [
    {
      name: "the usual variable",
      given: { yaml: "agent: { model: openai/x }", env: found },
      keys: ["from-environment"],
    },
    {
      name: "the usual variable in .env",
      given: { yaml: "agent: { model: openai/x }", dotenv: "OPENAI_API_KEY=from-file" },
      keys: ["from-file"],
    },
    {
      name: "the configuration before the variable",
      given: { yaml: "agent: { model: openai/x, apiKey: own-key }", env: found },
      keys: ["own-key"],
    },
    {
      name: "the provider's own settings before the variable",
      given: { yaml: "agent: { model: openai/x, providers: { openai: { apiKey: own-key } } }", env: found },
      keys: ["own-key"],
    },
    {
      name: "everything from the environment",
      given: {
        env: {
          EVERTURN_AGENT__MODEL: "openai/x",
          EVERTURN_AGENT__API_KEY: "123456789",
          EVERTURN_AGENT__BASE_URL: "http://127.0.0.1:1/v1",
        },
      },
      keys: ["123456789"],
    },
    {
      name: "several from the environment",
      given: { env: { EVERTURN_AGENT__MODEL: "openai/x", EVERTURN_AGENT__API_KEY: '["one-key", "two-key"]' } },
      keys: ["one-key", "two-key"],
    },
    {
      name: "the settings of a provider from the environment",
      given: { env: { EVERTURN_AGENT__MODEL: "openai/x", EVERTURN_AGENT__PROVIDERS__OPENAI__API_KEY: "1234567" } },
      keys: ["1234567"],
    },
  ],
  async ({ given, keys }) => assert.deepEqual(accessTo(await agentOf(given), "openai").keys, keys),
);

test("the second usual name counts too, keys are named as sources, and without a model no key is taken", async () => {
  const loaded = await load({ yaml: "agent: { model: google/x }", env: found });
  assert.equal(loaded.type, "loaded");
  if (loaded.type !== "loaded") return;
  assert.deepEqual(accessTo(loaded.config.agent, "google").keys, ["from-gemini"]);
  assert.deepEqual(loaded.sources.variables, ["OPENAI_API_KEY", "GEMINI_API_KEY"]);
  assert.deepEqual((await agentOf({ env: found })).providers, {});
});

const line = "/h/config.yaml, line 1: ";
table(
  "what is wrong with an agent, and what to do",
  [
    {
      name: "no key anywhere",
      yaml: "agent: { model: anthropic/x }",
      says: `${line}agent.model is a model of anthropic, which needs a key, and there is none; set ANTHROPIC_API_KEY in the environment or in .env, or agent.apiKey`,
    },
    {
      name: "no key for a fallback",
      yaml: "agent: { model: ollama/x, fallback: [google/y, google/z] }",
      says: `${line}agent.fallback[0] is a model of google, which needs a key, and there is none; set GOOGLE_API_KEY or GEMINI_API_KEY in the environment or in .env, or agent.providers.google.apiKey`,
    },
    {
      name: "the key of another provider",
      yaml: "agent: { model: ollama/x, apiKey: some-key, fallback: [openai/y] }",
      says: `${line}agent.fallback[0] is a model of openai, which needs a key, and there is none; set OPENAI_API_KEY in the environment or in .env, or agent.providers.openai.apiKey`,
    },
    {
      name: "no address",
      yaml: "agent: { model: openai-compatible/x }",
      says: `${line}agent.model is a model of openai-compatible, which needs an address; add agent.baseUrl, as http://127.0.0.1:8080/v1`,
    },
    {
      name: "no model",
      yaml: "agent: { backend: model }",
      says: "/h/config.yaml, line 1: agent.model is missing; add it, as in model: openai/gpt-5, or write backend: echo",
    },
    {
      name: "no program",
      yaml: "agent: { backend: acp }",
      says: "/h/config.yaml, line 1: agent.acp is missing; add it, as in acp: { command: [opencode, acp] }",
    },
    {
      name: "a model without its provider",
      yaml: "agent: { model: claude-x }",
      says: `${line}agent.model must be provider/model; providers are ${providerNames.join(", ")}, but is "claude-x"; did you mean anthropic/claude-x?`,
    },
    {
      name: "a provider misspelt, in a list",
      yaml: "agent: { model: ollama/x, fallback: [opnai/gpt] }",
      says: `${line}agent.fallback[0] must be provider/model; providers are ${providerNames.join(", ")}, but is "opnai/gpt"; did you mean openai/gpt?`,
    },
    {
      name: "a key that is a number",
      yaml: "agent: { model: openai/x, apiKey: 123 }",
      says: `${line}agent.apiKey must be a key, in quotes where it is a number, or a list of keys; correct or remove it`,
    },
    {
      name: "instructions twice",
      yaml: "agent: { instructions: a, instructionsFile: b }",
      says: `${line}agent.instructionsFile is given beside agent.instructions; keep one of the two`,
    },
    {
      name: "instructions that are not there",
      yaml: "agent: { instructionsFile: words.md }",
      says: `${line}agent.instructionsFile names /h/words.md, which is not there; make the file or correct the name`,
    },
    {
      name: "a server without a way in",
      yaml: "agent: { mcp: { a: {} } }",
      says: `${line}agent.mcp.a needs a command or a url; add command: [program, …] or url: https://…`,
    },
    {
      name: "a server with two ways in",
      yaml: "agent: { mcp: { a: { command: [x], url: http://y } } }",
      says: `${line}agent.mcp.a has a command and a url; keep one of them`,
    },
    {
      name: "headers for a program",
      yaml: "agent: { mcp: { a: { command: [x], headers: { b: c } } } }",
      says: `${line}agent.mcp.a has headers, which only a server with a url uses; remove them, or use env`,
    },
    {
      name: "an unknown key of a server",
      yaml: "agent: { mcp: { a: { command: [x], trustd: true } } }",
      says: `${line}agent.mcp.a.trustd is not known; did you mean trusted?`,
    },
    {
      name: "an unknown provider",
      yaml: "agent: { providers: { opnai: {} } }",
      says: `${line}agent.providers.opnai is not known; did you mean openai?`,
    },
    {
      name: "a budget that is none",
      yaml: "agent: { budget: { turnTokens: 0 } }",
      says: `${line}agent.budget.turnTokens must be a whole number from 1 to 1000000000000, but is 0; correct or remove it`,
    },
  ],
  async ({ yaml, says }) => assert.deepEqual(await faultsOf({ yaml }), [says]),
);

test("another server in the place of a provider may do without a key", async () => {
  const agent = await agentOf({ yaml: "agent: { model: openai/x, baseUrl: http://127.0.0.1:1/v1 }" });
  assert.deepEqual(accessTo(agent, "openai").keys, []);
});

test("instructions are read from a file in the home, also from further away", async () => {
  const files = { "/h/words.md": "\nBe brief.\n", "/far/words.md": "Be long." };
  assert.equal((await agentOf({ yaml: "agent: { instructionsFile: words.md }", files })).instructions, "Be brief.");
  assert.equal((await agentOf({ yaml: "agent: { instructionsFile: /far/words.md }", files })).instructions, "Be long.");
});

test("a secret is not repeated in a fault, nor is a wrong model that came from a variable", async () => {
  const faults = await faultsOf({
    yaml: "agent: { model: ollama/x, apiKey: [{ a: sk-planted }], providers: { openai: { headers: [sk-planted] } } }",
    env: { EVERTURN_AGENT__FALLBACK: '["sk-planted"]' },
  });
  assert.equal(faults.length, 3, faults.join("\n"));
  assert.doesNotMatch(faults.join("\n"), /sk-planted/);
});

table(
  "what somebody meant by the name of a model",
  [
    { name: "gpt-5", meant: "openai/gpt-5" },
    { name: "gemini-pro", meant: "google/gemini-pro" },
    { name: "Claude/opus", meant: "anthropic/opus" },
    { name: "anthropics/x", meant: "anthropic/x" },
    { name: "meta-llama/big", meant: "openrouter/meta-llama/big" },
    { name: "llama3", meant: "ollama/llama3" },
    { name: "something", meant: null },
    { name: "/x", meant: null },
    { name: "x/", meant: null },
    { name: "two words", meant: null },
  ],
  ({ name, meant }) => assert.equal(meantModel(name), meant),
);

test("the provider of a model", () => {
  assert.equal(providerOf("openrouter/a/b"), "openrouter");
  assert.equal(providerOf("openai-compatible/x"), "openai-compatible");
});
