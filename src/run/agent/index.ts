// The agent that the configuration chose: a shell whose code is loaded once the gateway answers. One that only rehearses
// is given nothing, and then nothing is started or asked.

import type { Paths } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import { Fault } from "../../core/fault.ts";
import type { ProcessRegistry } from "../../host/processes.ts";
import type { Models } from "../../ports/agent.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { Archive, Store } from "../../ports/store.ts";
import type { World } from "../../ports/world.ts";
import { offlineTool } from "./effects.ts";
import { workspaceOf } from "./settings.ts";
import { type Shell, shell } from "./shell.ts";

/** What a living gateway has for its agent. */
export type AgentGiven = {
  readonly world: World;
  readonly archive: Archive;
  readonly turn: Store["turn"];
  /** Small values by name, stored when `write` resolves. */
  readonly facts: {
    readonly read: (name: string) => Promise<string | null>;
    readonly write: (name: string, value: string) => Promise<void>;
  };
  readonly blobs: Blobs;
  readonly processes: ProcessRegistry;
  /** Takes every known secret out of a text. */
  readonly hide: (text: string) => string;
  readonly restart: () => ReturnType<Gateway["restart"]>;
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Without anything given it can only rehearse. */
export type AgentOf = (given?: AgentGiven) => Shell;

export function agentOf(config: Config, paths: Paths): AgentOf {
  return config.agent.backend === "echo" ? offlineAgent(config, paths) : (given) => working(config, paths, given);
}

/** It needs nothing but a folder, so it can rehearse like any other. */
function offlineAgent({ agent }: Config, paths: Paths): AgentOf {
  const workspace = workspaceOf(agent, paths);
  return (given) => {
    const load = async () => {
      const { echo } = await import("../../agents/echo/index.ts");
      const pace = { stepMs: 500, toolMs: 1_500 };
      if (given === undefined) return echo({ workspace, ...pace });
      const { restartTool } = await import("../../tools/gateway/restart.ts");
      // It acts by rule: whoever wrote the words that it follows has asked for it.
      return echo({ workspace, ...pace, restart: restartTool({ approvals: "never", restart: given.restart }) });
    };
    return shell({ load, known: offlineTool });
  };
}

function working(config: Config, paths: Paths, given: AgentGiven | undefined): Shell {
  const load = async () => {
    if (given === undefined) throw new Fault("not-possible", "A rehearsal has no agent.");
    const { compose } = await import("./compose.ts");
    return compose(config, paths, given);
  };
  return shell({ load, models: config.agent.backend === "model" ? modelsOf(config) : undefined });
}

/** What can be said before the agent is there to say more. */
function modelsOf({ agent: { model = "", fallback } }: Config): Models {
  const known = [model, ...fallback];
  return {
    current: model,
    known,
    read: (typed) =>
      known.includes(typed.trim())
        ? { model: typed.trim() }
        : { wrong: "The gateway has only just started and does not know its models yet. Try again in a moment." },
  };
}
