// What the doctor asks on behalf of an agent: whether its models are there, whether its sandbox works, whether its
// programs can be found. A provider is asked for its list of models and nothing else, which costs no tokens.

import { homedir } from "node:os";
import type { AgentLook, Reach } from "../../cli/context.ts";
import { missingPrograms } from "../../cli/doctor/programs.ts";
import { environment } from "../../config/load.ts";
import type { Paths } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { listed } from "../../agents/model/providers/list.ts";
import { type ModelName, accessOf, near, parseModel } from "../../agents/model/providers/names.ts";
import type { SandboxState } from "../../ports/sandbox.ts";
import { openSandbox } from "../../sandbox/index.ts";
import { shownState } from "../../sandbox/state.ts";
import { type ModelSettings, modelSettings } from "./settings.ts";

const askMs = 5_000;

export async function lookAtAgent(config: Config, paths: Paths): Promise<AgentLook> {
  const { backend } = config.agent;
  const settings = modelSettings(config.agent);
  const names = backend === "model" ? [settings.model, ...settings.fallback] : [];
  const [models, sandbox] = await Promise.all([
    Promise.all(names.map(async (model) => ({ model, reach: await reachOf(settings, model) }))),
    backend === "echo" ? null : sandboxIn(config, paths),
  ]);
  const missing = missingPrograms(config, paths, environment());
  return { backend, models, sandbox, missing };
}

async function sandboxIn({ agent }: Config, { home }: Paths): Promise<SandboxState> {
  const { sandbox: choice, unsafe: isUnsafeAccepted } = agent.tools.terminal;
  const options = { choice, isUnsafeAccepted, home, userHome: homedir(), environment: environment() };
  return shownState(await openSandbox(options).state(), process.getuid?.() === 0, agent.tools.allowRoot);
}

async function reachOf(settings: ModelSettings, model: string): Promise<Reach> {
  const name = parseModel(model);
  if (name === null) return { type: "silent", why: "its name cannot be read" };
  try {
    return judge(name, await ask(settings, name));
  } catch (error) {
    const isRefusal = error instanceof Fault && /^40[13]\b/.test(error.message);
    return { type: isRefusal ? "refused" : "silent", why: sentenceOf(error) };
  }
}

function ask(settings: ModelSettings, name: ModelName): Promise<readonly string[]> {
  const [key = null] = accessOf(settings, name.provider).keys;
  return listed(settings, name, key, AbortSignal.timeout(askMs));
}

/** Some servers list nothing, or name what they have otherwise; then nothing is known against it. */
function judge({ provider, name }: ModelName, names: readonly string[]): Reach {
  if (names.length === 0 || names.some((one) => one === name || one.startsWith(`${name}:`))) return { type: "fine" };
  return { type: "unlisted", near: near(name, names).map((one) => `${provider}/${one}`) };
}
