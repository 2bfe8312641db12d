// An agent whose code is loaded when it is wanted: right after the gateway is ready, or by the first turn if that comes
// sooner. Until then it knows its tools by name, so that a turn cut short inside of a call finds its tool again.

import { Fault, sentenceOf } from "../../core/fault.ts";
import type { ToolResult } from "../../core/journal.ts";
import type { Agent, Models } from "../../ports/agent.ts";
import type { ToolServers } from "../../ports/peers.ts";
import type { Tool } from "../../ports/tool.ts";
import { type Known, knownTool } from "./effects.ts";

export type ShellOptions = {
  readonly load: () => Promise<Agent>;
  /** Until the agent is there to say it itself. */
  readonly models?: Models | undefined;
  /** What is known of a tool before it is loaded; null when there is none of that name. */
  readonly known?: (name: string) => Known | null;
};

export type Shell = Agent & {
  readonly servers: ToolServers;
  /** Loads it, if nobody has yet. */
  warm(): Promise<void>;
};

export function shell({ load, models, known = knownTool }: ShellOptions): Shell {
  let loaded: Agent | null = null;
  let loading: Promise<Agent> | null = null;
  let closed = false;

  /** One that could not be loaded is tried again by whoever wants it next. */
  function get(): Promise<Agent> {
    loading ??= load().then(
      async (agent) => {
        if (closed) await agent.close("all");
        else loaded = agent;
        return agent;
      },
      (error: unknown) => {
        loading = null;
        throw error;
      },
    );
    return loading;
  }

  const named = (name: string): Tool | null => find(loaded, name);

  function later(name: string, { effect, timeoutMs }: Known): Tool {
    const real = async (): Promise<Tool | null> => find(await get(), name);
    const none: ToolResult = { type: "failed", why: `there is no tool named ${name}` };
    return {
      name,
      effect,
      description: "",
      input: { type: "object" },
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      vet: async (input, context) => (await (await real())?.vet?.(input, context)) ?? { type: "run" },
      run: async (input, context) => (await real())?.run(input, context) ?? none,
      ...(effect === "checkable"
        ? {
            check: async (input, context) => {
              const tool = await real();
              if (tool?.check !== undefined) return tool.check(input, context);
              return { type: "unknown", why: "the gateway died while this ran and it cannot be checked" };
            },
            drop: async (input, context) => (await real())?.drop?.(input, context),
          }
        : {}),
    };
  }

  return {
    get tools() {
      return loaded?.tools ?? [];
    },
    toolNamed(name) {
      if (loaded !== null) return named(name);
      const facts = known(name);
      return facts === null ? null : later(name, facts);
    },
    servers: {
      list: () => loaded?.servers?.list() ?? [],
      async approve(name) {
        const { servers } = await get();
        if (servers === undefined) throw new Fault("not-found", "This agent has no MCP servers.");
        return servers.approve(name);
      },
    },
    ...(models === undefined ? {} : { models: modelsOf(() => loaded?.models ?? models) }),
    async step(job, signal) {
      let agent: Agent;
      try {
        agent = loaded ?? (await get());
      } catch (error) {
        return { type: "failed", retry: "later", why: `the agent could not be loaded (${sentenceOf(error)})` };
      }
      return agent.step(job, signal);
    },
    async activity(address) {
      return (await get()).activity?.(address) ?? [];
    },
    async stopActivity(address) {
      return (await get()).stopActivity?.(address) ?? [];
    },
    get sandbox() {
      return loaded?.sandbox ?? null;
    },
    async lookAtSandbox() {
      return (await (await get()).lookAtSandbox?.()) ?? null;
    },
    async close(session) {
      if (session === "all") closed = true;
      await loaded?.close(session);
    },
    async warm() {
      await get();
    },
  };
}

/** The engine keeps what it is given; what that says changes once. */
function modelsOf(now: () => Models): Models {
  return {
    get current() {
      return now().current;
    },
    get known() {
      return now().known;
    },
    read: (typed) => now().read(typed),
  };
}

function find(agent: Agent | null, name: string): Tool | null {
  if (agent === null) return null;
  return agent.tools.find((tool) => tool.name === name) ?? agent.toolNamed?.(name) ?? null;
}
