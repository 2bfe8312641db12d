// From the configuration to what each part of an agent is given. Pure.

import { join, resolve } from "node:path";
import type { ModelOptions, ProviderName } from "../../agents/model/options.ts";
import { accessTo, accessToSpeech } from "../../config/agent/access.ts";
import { providerNames } from "../../config/agent/providers.ts";
import type { Paths } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import type { Secret } from "../../config/secret.ts";
import type { PathGrant } from "../../core/grant.ts";
import type { Budget } from "../../core/usage.ts";
import type { PeerProgram } from "../../peers/program.ts";
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

export function mcpServers({ mcp }: Settings, userHome: string | null): Readonly<Record<string, McpServer>> {
  return Object.fromEntries(Object.entries(mcp).map(([name, server]) => [name, serverOf(server, userHome)]));
}

function serverOf(server: Settings["mcp"][string], userHome: string | null): McpServer {
  const { command, cwd, url, headers, trusted, timeoutSeconds, shared } = server;
  const more = { trusted, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) };
  if (url !== undefined) return { url, ...(headers === undefined ? {} : { headers: revealed(headers) }), ...more };
  return {
    command: command ?? [],
    ...grantOf(server, userHome),
    ...(cwd === undefined ? {} : { cwd: fromHome(cwd, userHome) }),
    ...(shared === undefined ? {} : { shared }),
    ...more,
  };
}

export function acpProgram({ acp }: Settings, userHome: string | null): PeerProgram {
  return { command: acp?.command ?? [], ...(acp === undefined ? {} : grantOf(acp, userHome)) };
}

type GrantSettings = Pick<NonNullable<Settings["acp"]>, "env" | "hosts" | "paths" | "unsafe">;

function grantOf({ env, hosts, paths, unsafe }: GrantSettings, userHome: string | null): Omit<PeerProgram, "command"> {
  return {
    ...(env === undefined ? {} : { env: revealed(env) }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(paths === undefined ? {} : { paths: paths.map((written) => pathGrant(written, userHome)) }),
    ...(unsafe === undefined ? {} : { unsafe }),
  };
}

/** `/srv/data` is read, `/srv/data:rw` is also written. */
function pathGrant(written: string, userHome: string | null): PathGrant {
  const isWritten = written.endsWith(":rw");
  return { path: fromHome(written.replace(/:r[ow]$/, ""), userHome), access: isWritten ? "write" : "read" };
}

function fromHome(path: string, userHome: string | null): string {
  return userHome !== null && /^~(?=$|[/\\])/.test(path) ? join(userHome, path.slice(1)) : path;
}

function revealed(values: Readonly<Record<string, Secret>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.reveal()]));
}
