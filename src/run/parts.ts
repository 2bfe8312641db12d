// The parts that a gateway is composed of, each from the configuration: logs, agent, platforms and their settings, the
// boot. And all the code that a running gateway needs, loaded at once, so that a successor can have it before its turn.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { type Environment, privateNames } from "../config/load.ts";
import type { Paths } from "../config/paths.ts";
import type { Config } from "../config/schema.ts";
import type { BootId } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import { type Boot, newBoot } from "../core/recovery.ts";
import type { Settings } from "../engine/parts.ts";
import { machineBootId } from "../host/identity.ts";
import { openLogFile } from "../log/file.ts";
import { type Log, both, openLog } from "../log/log.ts";
import { wantsColour } from "../log/pretty.ts";
import { redactor } from "../log/redact.ts";
import type { World } from "../ports/world.ts";
import { type AgentOf, agentOf } from "./agent/index.ts";
import { budgetOf } from "./agent/settings.ts";
import {
  type Far,
  type Near,
  type Opened,
  accountsOf,
  loadFar,
  loadNear,
  platformSettings,
} from "./platforms/index.ts";

export type Logs = {
  readonly log: Log;
  readonly flush: () => Promise<void>;
  /** The same without secrets, for what is kept elsewhere. */
  readonly hide: (value: unknown) => unknown;
};

/** To the terminal in the form that suits it, and to the home's log file. */
export function openLogs(config: Config, paths: Paths, secrets: readonly string[], env: Environment): Logs {
  const { level, format } = config.log;
  const isTerminal = process.stderr.isTTY === true;
  const file = openLogFile({ file: join(paths.logs, "gateway.log") });
  const shown = format === "auto" ? (isTerminal ? "pretty" : "json") : format;
  const colour = wantsColour(isTerminal, env);
  const spoken = spokenLevel(level, env);
  const log = both(
    openLog({ level: spoken, format: shown, colour, secrets, write: (line) => void process.stderr.write(line) }),
    openLog({ level, format: "json", secrets, write: (line) => file.write(line) }),
  );
  return { log, flush: () => file.flush(), hide: redactor(secrets).facts };
}

/**
 * What launchd, the task scheduler and a gateway on its own say goes into a file that nobody shortens while it grows;
 * the log itself has it all.
 */
export function spokenLevel(level: Config["log"]["level"], env: Environment): Config["log"]["level"] {
  const supervisor = env["EVERTURN_SUPERVISOR"];
  const isKept = supervisor === "launchd" || supervisor === "task" || env["EVERTURN_DETACHED"] === "1";
  return isKept ? "error" : level;
}

export type Code = {
  readonly control: typeof import("../control/server.ts");
  readonly engine: typeof import("../engine/gateway.ts");
  readonly near: readonly Near[];
  readonly far: readonly Far[];
  readonly agent: AgentOf;
};

export async function loadCode(config: Config, paths: Paths): Promise<Code> {
  const [control, engine, near, far] = await Promise.all([
    import("../control/server.ts"),
    import("../engine/gateway.ts"),
    loadNear(config),
    loadFar(config),
  ]);
  return { control, engine, near, far, agent: agentOf(config, paths) };
}

export function settingsOf(config: Config, opened: readonly Opened[]): Settings {
  const { recovery } = config;
  return {
    drainMs: drainMsOf(config),
    lanesMax: limits.lanesMax,
    recovery,
    budget: budgetOf(config.agent),
    platforms: platformSettings(config, accountsOf(opened)),
  };
}

export function drainMsOf(config: Config): number {
  return config.gateway.drainSeconds * 1000;
}

export function beginBoot(world: World, version: string, config: string): Boot {
  const place = { pid: process.pid, host: hostname(), machine: machineBootId(), version, config };
  return newBoot({ id: world.id() as BootId, ...place, startedAt: world.now() });
}

/** Changes when anything that configures the gateway does. Secrets go into it, but cannot be read from it. */
export function configHash(paths: Paths, env: Readonly<Record<string, string | undefined>>): string {
  const hash = createHash("sha256");
  for (const file of [paths.config, paths.env]) hash.update(`${textOf(file).length}:${textOf(file)}\n`);
  const own = Object.entries(env).filter(([name]) => name.startsWith("EVERTURN_") && !privateNames.has(name));
  for (const [name, text] of own.toSorted(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${name}=${text}\n`);
  return hash.digest("hex").slice(0, 32);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // What cannot be read was told when the configuration was loaded.
    if (error instanceof Error) return "";
    throw error;
  }
}
