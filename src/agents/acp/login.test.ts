import assert from "node:assert/strict";
import { test } from "node:test";
import { decideLogin, loginFault, loginMethods } from "./login.ts";

/** As the agents send them. */
const codex = [
  { id: "api-key", name: "API Key", _meta: { "api-key": { provider: "openai" } } },
  { id: "chat-gpt", name: "ChatGPT", description: "Use ChatGPT to authenticate" },
];
const olderCodex = [
  { id: "chatgpt", name: "Login with ChatGPT" },
  { id: "codex-api-key", name: "Use CODEX_API_KEY" },
  { id: "openai-api-key", name: "Use OPENAI_API_KEY" },
];
const gemini = [
  { id: "oauth-personal", name: "Log in with Google" },
  { id: "gemini-api-key", name: "Gemini API key", _meta: { "api-key": { provider: "google" } } },
  { id: "vertex-ai", name: "Vertex AI" },
  { id: "gateway", name: "AI API Gateway", _meta: { gateway: { protocol: "google" } } },
];
const claude = [{ id: "claude-login", name: "Log in with Claude", type: "terminal", args: ["--cli"] }];
const variables = [
  { id: "env", name: "Keys", type: "env_var", vars: [{ name: "A_KEY" }, { name: "B", optional: true }] },
];

test("the method of a key that is set is used, in the agent's order", () => {
  for (const [methods, environment, id, read] of [
    [codex, { OPENAI_API_KEY: "k" }, "api-key", ["OPENAI_API_KEY"]],
    [codex, { CODEX_API_KEY: "k" }, "api-key", ["CODEX_API_KEY"]],
    [olderCodex, { OPENAI_API_KEY: "k" }, "openai-api-key", ["OPENAI_API_KEY"]],
    [olderCodex, { CODEX_API_KEY: "k", OPENAI_API_KEY: "k" }, "codex-api-key", ["CODEX_API_KEY"]],
    [gemini, { GEMINI_API_KEY: "k", GOOGLE_API_KEY: "k" }, "gemini-api-key", ["GEMINI_API_KEY"]],
    [gemini, { GOOGLE_API_KEY: "k" }, "vertex-ai", ["GOOGLE_API_KEY"]],
    [
      gemini,
      { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "l" },
      "vertex-ai",
      ["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"],
    ],
    [variables, { A_KEY: "k" }, "env", ["A_KEY"]],
  ] as const) {
    const decision = decideLogin("x", loginMethods(methods), environment);
    assert.ok(decision.type === "use", JSON.stringify(environment));
    assert.deepEqual([decision.method.id, decision.variables], [id, read]);
  }
});

test("without a key, the fault says which variable to set", () => {
  for (const [agent, methods, environment, expected] of [
    [
      "codex-acp",
      codex,
      {},
      /needs a login\. Set OPENAI_API_KEY or CODEX_API_KEY in agent\.acp\.env, or log in by hand/,
    ],
    ["codex-acp", codex, { OPENAI_API_KEY: " " }, /Set OPENAI_API_KEY/],
    ["codex", olderCodex, { ANTHROPIC_API_KEY: "k" }, /Set CODEX_API_KEY or OPENAI_API_KEY/],
    ["gemini", gemini, { GOOGLE_CLOUD_PROJECT: "p" }, /Set GEMINI_API_KEY, GOOGLE_API_KEY or GOOGLE_CLOUD_PROJECT and/],
    ["claude-agent-acp", claude, {}, /Set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN/],
    ["claude-agent-acp", [], { ANTHROPIC_API_KEY: "k" }, /did not accept ANTHROPIC_API_KEY\. Check the value/],
    [
      "other",
      [{ id: "web", name: "In the browser" }],
      {},
      /needs a login \(it offers: In the browser\)\. To use it, log in/,
    ],
    ["other", [], {}, /needs a login\. To use it, log in by hand and give it the folder/],
    ["other", claude, {}, /needs a login\. To use it/],
  ] as const) {
    const decision = decideLogin(agent, loginMethods(methods), environment);
    assert.notEqual(decision.type, "use");
    assert.match(loginFault(agent, decision, environment, "Authentication required"), expected);
  }
});

test("a key that the agent refuses is named with the agent's own reason", () => {
  const environment = { OPENAI_API_KEY: "k" };
  const fault = (said: string) =>
    loginFault("codex-acp", decideLogin("codex-acp", loginMethods(codex), environment), environment, said);
  assert.equal(
    fault("Incorrect API key."),
    "the agent codex-acp did not accept OPENAI_API_KEY: Incorrect API key. Check the value in agent.acp.env",
  );
  assert.equal(fault(""), "the agent codex-acp did not accept OPENAI_API_KEY. Check the value in agent.acp.env");
});

test("methods that are no methods are passed over", () => {
  for (const odd of [undefined, null, 7, "x", {}, [null, 7, {}, { id: 3 }, { id: "" }]])
    assert.deepEqual(loginMethods(odd), []);
  assert.deepEqual(loginMethods([{ id: "x" }]), [{ id: "x", name: "x", needs: [] }]);
});
