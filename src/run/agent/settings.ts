// From the configuration to what each part of an agent is given. Pure.

import { isAbsolute, join, resolve } from "node:path";
import type { AcpOptions } from "../../agents/acp/options.ts";
import type { ModelOptions, ProviderName } from "../../agents/model/options.ts";
import { accessTo, accessToSpeech } from "../../config/agent/access.ts";
import { providerNames } from "../../config/agent/providers.ts";
import type { Paths } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import type { Secret } from "../../config/secret.ts";
import type { Budget } from "../../core/usage.ts";
import type { McpServer } from "../../tools/mcp/options.ts";

type Settings = Config["agent"];

/** Where tools work: named from the home on, and the home's own folder unless another was chosen. */
export function workspaceOf({ tools }: Settings, paths: Paths): string {
  return tools.workspace === undefined ? paths.workspace : resolve(paths.home, tools.workspace);
}

/** Millionths of a dollar are what is counted in. */
const micros = 1_000_000;

export function budgetOf({ budget }: Settings): Budget {
  const cost = (dollars: number | undefined) => (dollars === undefined ? null : Math.round(dollars * micros));
  return {
    turn: { tokens: budget.turnTokens ?? null, cost: cost(budget.turnDollars) },
    day: { tokens: budget.dayTokens ?? null, cost: cost(budget.dayDollars) },
  };
}

/** Those of the model backend that are plain settings. */
export type ModelSettings = Pick<
  ModelOptions,
  | "model"
  | "fallback"
  | "providers"
  | "instructions"
  | "maxSteps"
  | "contextTokens"
  | "maxOutputTokens"
  | "vision"
  | "speech"
  | "prices"
>;

export function modelSettings(agent: Settings): ModelSettings {
  const names: readonly ProviderName[] = providerNames;
  const used = names.flatMap((name) => {
    const { keys, baseUrl, headers } = accessTo(agent, name);
    return keys.length === 0 && baseUrl === undefined && headers === undefined
      ? []
      : [[name, { keys, baseUrl, headers }] as const];
  });
  const { model = "", fallback, instructions = "", maxSteps, contextTokens, maxOutputTokens, vision, prices } = agent;
  const providers = Object.fromEntries(used);
  const limits = { maxSteps, contextTokens, maxOutputTokens };
  return { model, fallback, providers, instructions, ...limits, vision, speech: accessToSpeech(agent), prices };
}

export function mcpServers({ mcp }: Settings, paths: Paths): Readonly<Record<string, McpServer>> {
  return Object.fromEntries(Object.entries(mcp).map(([name, server]) => [name, serverOf(server, paths)]));
}

function serverOf(server: Settings["mcp"][string], paths: Paths): McpServer {
  const { command, env, cwd, url, headers, trusted, timeoutSeconds } = server;
  const more = { trusted, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) };
  if (url !== undefined) return { url, ...(headers === undefined ? {} : { headers: revealed(headers) }), ...more };
  return {
    command: command ?? [],
    ...(env === undefined ? {} : { env: revealed(env) }),
    // A server that names no folder begins in the home, as the paths in its command are written from there.
    cwd: cwd === undefined ? paths.home : isAbsolute(cwd) ? cwd : join(paths.home, cwd),
    ...more,
  };
}

export function acpCommand({ acp }: Settings): Pick<AcpOptions, "command" | "env"> {
  return { command: acp?.command ?? [], ...(acp?.env === undefined ? {} : { env: revealed(acp.env) }) };
}

function revealed(values: Readonly<Record<string, Secret>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.reveal()]));
}
