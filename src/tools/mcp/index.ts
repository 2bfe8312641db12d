// The tools of MCP servers. Nothing is started and nothing large is loaded before they are asked for; a server that fails
// is left out with a note and taken up again in the background, and never keeps a turn waiting for more than a moment.

import type { Tool } from "../../ports/tool.ts";
import type { Listed } from "./connection.ts";
import { prefixes, splitName, toolNames } from "./names.ts";
import { type Mcp, type McpOptions, type McpStatus, mcpPace } from "./options.ts";
import { type ServerLife, serverLife } from "./server.ts";
import { foreignTool, lazyTool } from "./tool.ts";

export type { Mcp, McpOptions, McpPace, McpServer, McpStatus } from "./options.ts";

/** Shown of one server; the rest can be called by name, but every request would carry them. */
const shownMax = 100;

export function openMcp(options: McpOptions): Mcp {
  const pace = { ...mcpPace, ...options.pace };
  const made = { pace, policy: options.policy, ...(options.blobs === undefined ? {} : { blobs: options.blobs }) };
  const shelves = [...prefixes(Object.keys(options.servers))].flatMap(([name, prefix]) => {
    const settings = options.servers[name];
    return settings === undefined ? [] : [shelf(serverLife(name, settings, options, pace), prefix, made)];
  });
  return {
    tools: () => shelves.flatMap((one) => one.shown()),
    toolNamed(name) {
      const prefix = splitName(name)?.prefix;
      return shelves.find((one) => one.prefix === prefix)?.named(name) ?? null;
    },
    async ready() {
      await Promise.all(shelves.map((one) => one.life.settled()));
    },
    status: () => Object.fromEntries(shelves.map((one) => [one.life.name, one.status()])),
    async close() {
      await Promise.all(shelves.map((one) => one.life.close()));
    },
  };
}

/** The tools of one server, made again when its list is another. */
function shelf(life: ServerLife, prefix: string, made: Parameters<typeof foreignTool>[3]) {
  let from: readonly Listed[] | null = null;
  let tools: ReadonlyMap<string, Tool> = new Map();

  function current(): ReadonlyMap<string, Tool> {
    const listed = life.tools();
    if (listed === from || listed === null) return tools;
    from = listed;
    const names = toolNames(
      prefix,
      listed.map((one) => one.name),
    );
    tools = new Map(
      listed.map((one) => {
        const name = names.get(one.name) ?? "";
        return [name, foreignTool(life, name, one, made)];
      }),
    );
    return tools;
  }

  const missing = (name: string): string => {
    const has = [...current().keys()].slice(0, 20).join(", ");
    return `the MCP server ${life.name} has no tool ${name}; it has ${has === "" ? "none" : has}`;
  };

  return {
    life,
    prefix,
    shown: (): readonly Tool[] => [...current().values()].slice(0, shownMax),
    named: (name: string): Tool =>
      current().get(name) ?? lazyTool(life, name, () => current().get(name) ?? missing(name), made),
    status(): McpStatus {
      const status = life.status();
      if (status.why !== null || status.tools <= shownMax) return status;
      return { ...status, why: `it has ${status.tools} tools, and only the first ${shownMax} are shown to models` };
    },
  };
}
