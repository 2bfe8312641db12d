// The model or ACP agent with all that it works with: tools of our own, terminal and jobs, servers of tools. This file is
// where everything heavy is loaded from, so nothing may import it before the gateway is ready.

import { arch, homedir, release, type as systemName } from "node:os";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import type { ModelOptions } from "../../agents/model/options.ts";
import { parseModel } from "../../agents/model/providers/names.ts";
import { openModel } from "../../agents/model/providers/open.ts";
import { type Paths, besideStore } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import { ownerPerson } from "../../core/requester.ts";
import { openJobs } from "../../host/jobs/jobs.ts";
import type { PeerHost } from "../../peers/launch.ts";
import type { Agent } from "../../ports/agent.ts";
import type { Jobs } from "../../ports/jobs.ts";
import type { Sandbox, SandboxState } from "../../ports/sandbox.ts";
import type { Tool } from "../../ports/tool.ts";
import type { Workspace, Workspaces } from "../../ports/workspaces.ts";
import { openSandbox } from "../../sandbox/index.ts";
import { shownState } from "../../sandbox/state.ts";
import { toolEnvironment } from "../../tools/environment.ts";
import { type FileWorkers, openFileWorkers } from "../../tools/files/workers.ts";
import { restartTool } from "../../tools/gateway/restart.ts";
import { builtinTools } from "../../tools/index.ts";
import type { Mcp } from "../../tools/mcp/options.ts";
import { background, terminalTools } from "../../tools/terminal/index.ts";
import { callsIn } from "./calls.ts";
import type { AgentGiven } from "./index.ts";
import { followedWrites, perPerson } from "./per-person.ts";
import { acpProgram, mcpServers, modelSettings } from "./settings.ts";
import { openWorkspaces } from "./workspaces.ts";

export async function compose(config: Config, paths: Paths, given: AgentGiven): Promise<Agent> {
  const workspaces = openWorkspaces(config, paths, given.blobs);
  const owners = await workspaces.workspaceFor({ party: "owner", person: ownerPerson });
  const host = peerHost(config, paths, workspaces, given);
  const agent = await (config.agent.backend === "acp"
    ? composeAcp(config, host, given)
    : composeModel(config, paths, workspaces, owners, host, given));
  return walled(agent, host.sandbox, config.agent.tools.allowRoot);
}

/** No turn waits for the trial of the sandbox but one that uses a tool. */
function walled(agent: Agent, sandbox: Sandbox, allowRoot: boolean): Agent {
  let known: SandboxState | null = null;
  return Object.defineProperties(agent, {
    sandbox: { get: () => known },
    lookAtSandbox: {
      value: async () => (known = shownState(await sandbox.state(), process.getuid?.() === 0, allowRoot)),
    },
  });
}

async function composeAcp(config: Config, host: PeerHost, given: AgentGiven): Promise<Agent> {
  const { acp } = await import("../../agents/acp/index.ts");
  const { blobs, version, world } = given;
  const log = world.log.bind(world);
  const servers = mcpServers(config.agent, userHome());
  return acp({ program: acpProgram(config.agent, userHome()), servers, host, log, blobs, version });
}

/** Where programs of others are started: MCP servers and ACP agents. */
function peerHost(config: Config, paths: Paths, workspaces: Workspaces, given: AgentGiven): PeerHost {
  return {
    sandbox: sandboxOf(config, paths, given),
    spawn: spawnIn(given),
    environment: toolEnvironment(given.env),
    home: paths.home,
    folder: paths.peers,
    workspaceFor: (requester) => workspaces.workspaceFor(requester),
  };
}

async function composeModel(
  config: Config,
  paths: Paths,
  workspaces: Workspaces,
  owners: Workspace,
  host: PeerHost,
  given: AgentGiven,
): Promise<Agent> {
  const { model } = await import("../../agents/model/index.ts");
  const jobs = jobsIn(paths, given);
  const { sandbox } = host;
  const files = fileWorkers(config, paths, workspaces, sandbox, given);
  const make = (workspace: Workspace) => ownTools(config, paths, workspace, jobs, files, sandbox, given);
  const own = perPerson(make, workspaces, owners, config.agent.tools.terminal.network);
  const mcp = await openServers(config, host, given);
  const wrapped = new WeakMap<Tool, Tool>();
  const followed = (tool: Tool): Tool => {
    const known = wrapped.get(tool) ?? followedWrites(tool, workspaces);
    wrapped.set(tool, known);
    return known;
  };
  const options: ModelOptions = {
    ...modelSettings(config.agent),
    tools: (requester) => (mcp === null ? own : [...own, ...mcp.tools(requester).map(followed)]),
    toolNamed(name) {
      const found = mcp?.toolNamed(name) ?? null;
      return found === null ? null : followed(found);
    },
    ...(mcp === null ? {} : { ready: () => mcp.ready() }),
    blobs: given.blobs,
    hide: given.hide,
    workspaceFor: (requester) => workspaces.workspaceFor(requester),
    facts: { workspace: owners.folder, system: `${systemName()} ${release()}, ${arch()}` },
  };
  const agent = model(options);
  // The servers are started now, so that the first turn finds them; nobody waits for them here.
  void mcp?.ready();
  await preload(config);
  void rehearse(options);
  return {
    ...agent,
    ...background(jobs),
    ...(mcp === null ? {} : { servers: mcp }),
    get tools() {
      return agent.tools;
    },
    async close(session) {
      if (session === "all") files.close();
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

/** Everything of the gateway itself, also where the database is elsewhere. */
function closedTo({ home, lock, store }: Paths): readonly string[] {
  return [home, lock, store, ...besideStore(store)];
}

/** One for everything that runs. */
function sandboxOf({ agent }: Config, { home }: Paths, { env }: AgentGiven): Sandbox {
  const { sandbox: choice, unsafe: isUnsafeAccepted } = agent.tools.terminal;
  return openSandbox({ choice, isUnsafeAccepted, home, userHome: userHome(), environment: env });
}

function fileWorkers(
  config: Config,
  paths: Paths,
  workspaces: Workspaces,
  sandbox: Sandbox,
  given: AgentGiven,
): FileWorkers {
  return openFileWorkers({
    sandbox,
    workspaceFor: (requester) => workspaces.workspaceFor(requester),
    closed: closedTo(paths),
    allowRoot: config.agent.tools.allowRoot,
    spawn: spawnIn(given),
    environment: toolEnvironment(given.env),
  });
}

function ownTools(
  config: Config,
  paths: Paths,
  workspace: Workspace,
  jobs: Jobs,
  workers: FileWorkers,
  sandbox: Sandbox,
  given: AgentGiven,
): readonly Tool[] {
  const { approvals, terminal, web, allowRoot } = config.agent.tools;
  const { archive, blobs, env, restart } = given;
  const { home, notes } = paths;
  const { folder, files } = workspace;
  const room = { userHome: userHome(), notes, approvals };
  return [
    ...terminalTools({
      ...room,
      ...terminal,
      sandbox,
      allowRoot,
      workspace: folder,
      files,
      home,
      jobs,
      environment: env,
    }),
    ...builtinTools({ ...room, workers, closed: closedTo(paths), web, blobs, archive }),
    restartTool({ approvals, restart }),
  ];
}

async function openServers(config: Config, host: PeerHost, given: AgentGiven): Promise<Mcp | null> {
  if (Object.keys(config.agent.mcp).length === 0) return null;
  const { openMcp } = await import("../../tools/mcp/index.ts");
  const { world, blobs, version, facts } = given;
  return openMcp({
    servers: mcpServers(config.agent, userHome()),
    host,
    facts,
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
