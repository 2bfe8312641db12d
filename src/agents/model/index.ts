// The agent that asks a language model, one call a step. Everything heavy is loaded at the first step; until then it knows
// its tools and the names of its models. It keeps nothing that matters: which keys rest, what was written to a file, and
// open connections. Closing drops all of it; the next step begins anew.

import { orAborted } from "../../core/running/aborted.ts";
import type { Agent } from "../../ports/agent.ts";
import type { Tool } from "../../ports/tool.ts";
import type { ModelOptions } from "./options.ts";
import { openConnections } from "./providers/connections.ts";
import { readModel } from "./providers/names.ts";
import { spared } from "./step/invalid.ts";
import type { Stepper } from "./step/step.ts";

export type { Access, Facts, ModelOptions, Price, ProviderName } from "./options.ts";

export function model(given: ModelOptions): Agent {
  const connections = openConnections();
  const options = { ...given, connected: given.connected ?? connections.fetch };
  const wrapped = new WeakMap<Tool, Tool>();
  const sparing = (tool: Tool): Tool => {
    const known = wrapped.get(tool) ?? spared(tool);
    wrapped.set(tool, known);
    return known;
  };
  let loading: Promise<Stepper> | null = null;
  let current: Stepper | null = null;
  /** A load that failed is tried again by the next step. */
  const loaded = (): Promise<Stepper> => {
    loading ??= load(options).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  return {
    get tools() {
      return options.tools().map(sparing);
    },
    toolNamed(name) {
      const found = options.toolNamed?.(name) ?? null;
      return found === null ? null : sparing(found);
    },
    models: {
      current: options.model,
      known: [...new Set([options.model, ...options.fallback])],
      read: (typed) => readModel(options, typed),
    },
    async step(job, signal) {
      signal.throwIfAborted();
      // Servers of tools may take long to answer; whoever is told to stop does not wait for them.
      current = await orAborted(loaded(), signal);
      return current.step(job, signal);
    },
    async close(session) {
      if (session !== "all") return current?.forget(session);
      loading = null;
      current = null;
      await connections.close();
    },
  };
}

async function load(options: ModelOptions): Promise<Stepper> {
  const [{ stepper }] = await Promise.all([import("./step/step.ts"), options.ready?.()]);
  return stepper(options);
}
