// The agent that the configuration chose. The offline one is small and there at once; the others are a shell whose code
// is loaded once the gateway answers. One that only rehearses is given nothing, and then nothing is started or asked.

import { readModel } from "../../agents/model/providers/names.ts";
import type { Paths } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import { Fault } from "../../core/fault.ts";
import type { ProcessRegistry } from "../../host/processes.ts";
import type { Models } from "../../ports/agent.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { Archive } from "../../ports/store.ts";
import type { World } from "../../ports/world.ts";
import { modelSettings, workspaceOf } from "./settings.ts";
import { type Shell, shell } from "./shell.ts";

/** What a living gateway has for its agent. */
export type AgentGiven = {
  readonly world: World;
  readonly archive: Archive;
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

export async function loadAgent(config: Config, paths: Paths): Promise<AgentOf> {
  const { backend } = config.agent;
  if (backend !== "echo") return (given) => later(config, paths, given);
  const { echo } = await import("../../agents/echo/index.ts");
  const workspace = workspaceOf(config.agent, paths);
  return (given) => ({
    ...echo({ workspace, stepMs: 500, toolMs: 1_500, ...(given === undefined ? {} : { restart: given.restart }) }),
    warm: async () => undefined,
  });
}

function later(config: Config, paths: Paths, given: AgentGiven | undefined): Shell {
  const load = async () => {
    if (given === undefined) throw new Fault("not-possible", "A rehearsal has no agent.");
    const { compose } = await import("./compose.ts");
    return compose(config, paths, given);
  };
  return shell({ load, models: config.agent.backend === "model" ? modelsOf(config) : undefined });
}

function modelsOf({ agent }: Config): Models {
  const options = modelSettings(agent);
  const known = [options.model, ...options.fallback];
  return { current: options.model, known, read: (typed) => readModel(options, typed) };
}
