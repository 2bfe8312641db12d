// The model or ACP agent with all that it works with: tools of our own, terminal and jobs, servers of tools. This file is
// where everything heavy is loaded from, so nothing may import it before the gateway is ready.

import { mkdir } from "node:fs/promises";
import { arch, homedir, release, type as systemName } from "node:os";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import type { ModelOptions } from "../../agents/model/options.ts";
import { parseModel } from "../../agents/model/providers/names.ts";
import { openModel } from "../../agents/model/providers/open.ts";
import { type Paths, besideStore } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import { openJobs } from "../../host/jobs/jobs.ts";
import type { Agent } from "../../ports/agent.ts";
import type { Jobs } from "../../ports/jobs.ts";
import type { Tool } from "../../ports/tool.ts";
import { toolEnvironment } from "../../tools/environment.ts";
import { restartTool } from "../../tools/gateway/restart.ts";
import { builtinTools } from "../../tools/index.ts";
import type { Mcp } from "../../tools/mcp/options.ts";
import { background, terminalTools } from "../../tools/terminal/index.ts";
import { sandboxPort } from "../../tools/terminal/sandbox/port.ts";
import { callsIn } from "./calls.ts";
import type { AgentGiven } from "./index.ts";
import { acpCommand, mcpServers, modelSettings, workspaceOf } from "./settings.ts";

export async function compose(config: Config, paths: Paths, given: AgentGiven): Promise<Agent> {
  const workspace = workspaceOf(config.agent, paths);
  await mkdir(workspace, { recursive: true });
  return config.agent.backend === "acp"
    ? composeAcp(config, workspace, given)
    : composeModel(config, paths, workspace, given);
}

async function composeAcp(config: Config, workspace: string, given: AgentGiven): Promise<Agent> {
  const { acp } = await import("../../agents/acp/index.ts");
  const { blobs, version, world, env } = given;
  const environment = toolEnvironment(env);
  const log = world.log.bind(world);
  const agent = acpCommand(config.agent);
  return acp({ ...agent, environment, workspace, spawn: spawnIn(given), log, blobs, version });
}

async function composeModel(config: Config, paths: Paths, workspace: string, given: AgentGiven): Promise<Agent> {
  const { model } = await import("../../agents/model/index.ts");
  const jobs = jobsIn(paths, given);
  const own = ownTools(config, paths, workspace, jobs, given);
  const mcp = await openServers(config, paths, given);
  const options: ModelOptions = {
    ...modelSettings(config.agent),
    tools: () => (mcp === null ? own : [...own, ...mcp.tools()]),
    toolNamed: (name) => mcp?.toolNamed(name) ?? null,
    ...(mcp === null ? {} : { ready: () => mcp.ready() }),
    blobs: given.blobs,
    hide: given.hide,
    facts: { workspace, system: `${systemName()} ${release()}, ${arch()}` },
  };
  const agent = model(options);
  // The servers are started now, so that the first turn finds them; nobody waits for them here.
  void mcp?.ready();
  await preload(config);
  void rehearse(options);
  return {
    ...agent,
    ...background(jobs),
    get tools() {
      return agent.tools;
    },
    async close(session) {
      await Promise.all([agent.close(session), session === "all" ? mcp?.close() : undefined]);
    },
  };
}

/**
 * What a turn would otherwise have to load: the step itself and the packages of the providers. After an update in place the
 * files of this version are gone, so whatever may be wanted one day is loaded now.
 */
async function preload({ agent }: Config): Promise<void> {
  const settings = modelSettings(agent);
  const names = [settings.model, ...settings.fallback].map(parseModel);
  await Promise.all([
    import("../../agents/model/step/step.ts"),
    // The runtime loads its own client with the first request, which this is: one that goes nowhere.
    fetch("data:,"),
    import("../../host/jobs/stopping.ts"),
    ...names.map((name) => (name === null ? null : openModel(settings, name, null))),
  ]);
}

async function rehearse(options: ModelOptions): Promise<void> {
  try {
    const { rehearseStep } = await import("./rehearsal.ts");
    await rehearseStep(options);
  } catch (error) {
    // The first turn takes a little longer, and tells what is wrong where something is.
    if (!(error instanceof Error)) throw error;
  }
}

function jobsIn(paths: Paths, { archive, turn, world }: AgentGiven): Jobs {
  return openJobs({
    folder: paths.jobs,
    calls: callsIn({ turn, entries: (id) => archive.entries(id) }),
    warn: (why) => world.log("warn", "commands end with the service, because systemd allows them no scope", { why }),
  });
}

function ownTools(config: Config, paths: Paths, workspace: string, jobs: Jobs, given: AgentGiven): readonly Tool[] {
  const { approvals, terminal, web, allowRoot } = config.agent.tools;
  const { archive, blobs, env, restart } = given;
  const { home, notes, lock, store } = paths;
  const room = { workspace, home, userHome: userHome(), notes, approvals };
  const { sandbox: choice, unsafe } = terminal;
  const sandbox = sandboxPort({ choice, unsafe, workspace, home, userHome: room.userHome });
  const untouchable = [lock, store, ...besideStore(store)];
  return [
    ...terminalTools({ ...room, ...terminal, sandbox, allowRoot, jobs, environment: env }),
    ...builtinTools({ ...room, untouchable, web, blobs, archive }),
    restartTool({ approvals, restart }),
  ];
}

async function openServers(config: Config, paths: Paths, given: AgentGiven): Promise<Mcp | null> {
  if (Object.keys(config.agent.mcp).length === 0) return null;
  const { openMcp } = await import("../../tools/mcp/index.ts");
  const { world, blobs, version } = given;
  return openMcp({
    servers: mcpServers(config.agent, paths),
    spawn: spawnIn(given),
    environment: toolEnvironment(given.env),
    cwd: paths.home,
    log: world.log.bind(world),
    policy: config.agent.tools.approvals,
    blobs,
    version,
  });
}

/** In a group of its own that a stop ends. */
function spawnIn({ processes }: AgentGiven) {
  return (program: string, words: readonly string[], options: SpawnOptions): ChildProcess =>
    processes.spawn({ program, words, options });
}

function userHome(): string | null {
  try {
    return homedir();
  } catch (error) {
    // A user whom the system does not know has none.
    if (error instanceof Error) return null;
    throw error;
  }
}
