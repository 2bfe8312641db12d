// What several settings of the agent must fulfil together: a model that can be reached, servers with one way in, and
// the keys that people keep in their environment. Pure.

import type { Variables } from "../env.ts";
import type { KeyPath } from "../faults.ts";
import type { Config } from "../schema.ts";
import { type ProviderName, providerNames, providerOf, providers } from "./providers.ts";

type Agent = Config["agent"];
type Report = (path: KeyPath, what: string, todo: string) => void;

/** The way to one provider, as it is configured; `agent.apiKey` and `agent.baseUrl` are for that of `agent.model`. */
export function accessTo(agent: Agent, name: ProviderName) {
  const own = agent.providers[name] ?? {};
  const isMain = agent.model !== undefined && providerOf(agent.model) === name;
  return {
    keys: ((isMain ? agent.apiKey : undefined) ?? own.apiKey ?? []).map((key) => key.reveal()),
    baseUrl: (isMain ? agent.baseUrl : undefined) ?? own.baseUrl,
    headers:
      own.headers === undefined
        ? undefined
        : Object.fromEntries(Object.entries(own.headers).map(([key, value]) => [key, value.reveal()])),
  };
}

/**
 * The way to the model that writes voice messages down. Where it has an address of its own, nothing is sent there that
 * was meant for the provider's: its key is its own too.
 */
export function accessToSpeech(agent: Agent) {
  const { speech } = agent;
  if (speech === undefined) return undefined;
  const { model, baseUrl, apiKey } = speech;
  const keys = apiKey?.map((key) => key.reveal());
  if (baseUrl !== undefined) return { model, keys: keys ?? [], baseUrl, headers: undefined };
  const usual = accessTo(agent, providerOf(model));
  return { model, ...usual, keys: keys ?? usual.keys };
}

export function checkAgent(agent: Agent, report: Report): void {
  if (agent.backend === "model") {
    checkModels(agent, report);
    checkSpeech(agent, report);
  }
  if (agent.backend === "acp" && agent.acp === undefined)
    report(["agent", "acp"], "is missing", "add it, as in acp: { command: [opencode, acp] }");
  if (agent.instructions !== undefined && agent.instructionsFile !== undefined)
    report(["agent", "instructionsFile"], "is given beside agent.instructions", "keep one of the two");
  for (const [name, server] of Object.entries(agent.mcp)) checkServer(name, server, report);
}

function checkModels(agent: Agent, report: Report): void {
  if (agent.model === undefined)
    return report(["agent", "model"], "is missing", "add it, as in model: openai/gpt-5, or write backend: echo");
  const wanted: readonly (readonly [KeyPath, string])[] = [
    [["agent", "model"], agent.model],
    ...agent.fallback.map((model, i) => [["agent", "fallback", i], model] as const),
  ];
  const told = new Set<ProviderName>();
  for (const [path, model] of wanted) {
    const name = providerOf(model);
    if (told.has(name)) continue;
    const { keys, baseUrl } = accessTo(agent, name);
    const { needsKey, needsAddress, variables } = providers[name];
    const isMain = path.length === 2;
    const at = (key: string) => (isMain ? `agent.${key}` : `agent.providers.${name}.${key}`);
    if (needsAddress && baseUrl === undefined)
      report(
        path,
        `is a model of ${name}, which needs an address`,
        `add ${at("baseUrl")}, as http://127.0.0.1:8080/v1`,
      );
    else if (needsKey && keys.length === 0 && baseUrl === undefined)
      report(
        path,
        `is a model of ${name}, which needs a key, and there is none`,
        `set ${variables.join(" or ")} in the environment or in .env, or ${at("apiKey")}`,
      );
    else continue;
    told.add(name);
  }
}

function checkSpeech(agent: Agent, report: Report): void {
  const speech = accessToSpeech(agent);
  if (speech === undefined || speech.baseUrl !== undefined) return;
  const path = ["agent", "speech", "model"];
  const name = providerOf(speech.model);
  const { needsKey, needsAddress, variables } = providers[name];
  if (needsAddress)
    report(
      path,
      `is a model of ${name}, which needs an address`,
      "add agent.speech.baseUrl, as http://127.0.0.1:8080/v1",
    );
  else if (needsKey && speech.keys.length === 0)
    report(
      path,
      `is a model of ${name}, which needs a key, and there is none`,
      `set ${variables.join(" or ")} in the environment or in .env, or agent.speech.apiKey`,
    );
}

/** Settings of a program that the gateway starts. */
const ownProgram = ["env", "cwd", "hosts", "paths", "shared", "unsafe"] as const;

function checkServer(name: string, server: Agent["mcp"][string], report: Report): void {
  const path = ["agent", "mcp", name];
  const { command, url } = server;
  if (command === undefined && url === undefined)
    report(path, "needs a command or a url", "add command: [program, …] or url: https://…");
  else if (command !== undefined && url !== undefined) report(path, "has a command and a url", "keep one of them");
  else if (command === undefined && ownProgram.some((key) => server[key] !== undefined))
    report(
      path,
      `has ${ownProgram.filter((key) => server[key] !== undefined).join(", ")}, which only a server with a command uses`,
      "remove it",
    );
  else if (url === undefined && server.headers !== undefined)
    report(path, "has headers, which only a server with a url uses", "remove them, or use env");
}

/** A key that stands in the environment under its usual name, for a provider that is configured with none. */
export type KeyFromOutside = { readonly provider: ProviderName; readonly variable: string };

export function keysFromOutside(variables: Variables): readonly KeyFromOutside[] {
  return providerNames.flatMap((provider) => {
    const variable = providers[provider].variables.find((one) => (variables.get(one)?.text.trim() ?? "") !== "");
    return variable === undefined ? [] : [{ provider, variable }];
  });
}
