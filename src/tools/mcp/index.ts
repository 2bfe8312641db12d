// The tools of MCP servers. Nothing is started and nothing large is loaded before they are asked for; a server that fails
// is left out with a note and taken up again in the background, and never keeps a turn waiting for more than a moment.

import { Fault } from "../../core/fault.ts";
import type { Requester } from "../../core/requester.ts";
import { refusalFor } from "../../peers/program.ts";
import type { PeerStatus } from "../../ports/peers.ts";
import type { SandboxState } from "../../ports/sandbox.ts";
import type { Tool } from "../../ports/tool.ts";
import type { CatalogView } from "./catalog.ts";
import { prefixes, splitName, toolNames } from "./names.ts";
import { type Mcp, type McpOptions, mcpPace } from "./options.ts";
import { type ServerProcesses, serverProcesses } from "./processes.ts";
import { type ToolParts, foreignTool, lazyTool } from "./tool.ts";

export type { Mcp, McpOptions, McpPace, McpServer } from "./options.ts";

/** Shown of one server; the rest can be called by name, but every request would carry them. */
const shownMax = 100;

export function openMcp(options: McpOptions): Mcp {
  const pace = { ...mcpPace, ...options.pace };
  const { policy, host } = options;
  const parts = {
    pace,
    policy,
    sandbox: host.sandbox,
    ...(options.blobs === undefined ? {} : { blobs: options.blobs }),
  };
  const shelves = [...prefixes(Object.keys(options.servers))].flatMap(([name, prefix]) => {
    const settings = options.servers[name];
    return settings === undefined ? [] : [shelf(serverProcesses(name, settings, options, pace), prefix, parts)];
  });
  /** Known from the first `ready` on. */
  let sandbox: SandboxState | null = null;
  const status = (): readonly PeerStatus[] => shelves.map((one) => one.status(sandbox));
  return {
    tools: (requester) => shelves.flatMap((one) => one.shown(sandbox, requester)),
    toolNamed(name) {
      const prefix = splitName(name)?.prefix;
      return shelves.find((one) => one.prefix === prefix)?.named(name) ?? null;
    },
    async ready() {
      sandbox ??= await host.sandbox.state();
      await Promise.all(shelves.map((one) => one.server.main.settled()));
    },
    status: () => Object.fromEntries(status().map((one) => [one.name, one])),
    list: status,
    async approve(name) {
      const found = shelves.find((one) => one.server.name === name);
      if (found === undefined)
        throw new Fault("not-found", `There is no MCP server ${name}. \`everturn mcp list\` shows them.`);
      return found.approve();
    },
    async close() {
      await Promise.all(shelves.map((one) => one.server.close()));
    },
  };
}

/** The tools of one server, made again when its list or what is approved of it is another. */
function shelf(server: ServerProcesses, prefix: string, parts: ToolParts) {
  const { catalog, settings } = server;
  let from: CatalogView | null = null;
  let made: Record<"offered" | "waiting", ReadonlyMap<string, Tool>> = { offered: new Map(), waiting: new Map() };

  function current(): typeof made {
    const view = catalog.view();
    if (view === from) return made;
    from = view;
    const { offered } = view;
    const waiting = view.changes.flatMap(({ before, after }) => (before === null ? [after] : []));
    const names = toolNames(
      prefix,
      [...offered, ...waiting].map((one) => one.name),
    );
    const tools = (definitions: typeof offered): ReadonlyMap<string, Tool> =>
      new Map(
        definitions.map((one) => {
          const name = names.get(one.name) ?? "";
          return [name, foreignTool(server, name, one, parts)];
        }),
      );
    made = { offered: tools(offered), waiting: tools(waiting) };
    return made;
  }

  const find = (name: string): Tool | undefined => current().offered.get(name) ?? current().waiting.get(name);
  const missing = (name: string): string => {
    const has = [...current().offered.keys()].slice(0, 20).join(", ");
    return `the MCP server ${server.name} has no tool ${name}; it has ${has === "" ? "none" : has}`;
  };

  return {
    server,
    prefix,
    /** Without those that this requester may not use. */
    shown(sandbox: SandboxState | null, requester?: Requester): readonly Tool[] {
      const isRefused =
        sandbox !== null &&
        requester !== undefined &&
        !("url" in settings) &&
        refusalFor(sandbox, requester.party, settings, server.name) !== null;
      return isRefused ? [] : [...current().offered.values()].slice(0, shownMax);
    },
    named: (name: string): Tool => find(name) ?? lazyTool(server, name, () => find(name) ?? missing(name), parts),
    status(sandbox: SandboxState | null): PeerStatus {
      const status = server.status();
      return status.why === null ? { ...status, why: noteOn(status, sandbox, settings) } : status;
    },
    async approve(): Promise<readonly string[]> {
      const listed = catalog.latest();
      if (listed === null)
        throw new Fault(
          "not-possible",
          `The MCP server ${server.name} has not listed its tools yet${reasonOf(server.main.status().why)}`,
        );
      const names = catalog.view().changes.map(({ after }) => after.name);
      await catalog.approve(listed);
      return names;
    },
  };
}

function reasonOf(why: string | null): string {
  return why === null ? ". Try again in a moment." : `: ${why}`;
}

/** What its owner should know although it works. */
function noteOn(
  { name, tools, changed }: PeerStatus,
  sandbox: SandboxState | null,
  settings: ServerProcesses["settings"],
): string | null {
  const notes = [
    ...(changed.length === 0
      ? []
      : [
          `${changed.length} ${changed.length === 1 ? "tool" : "tools"} changed since the last approval; \`everturn mcp list\` shows what, \`everturn mcp approve ${name}\` accepts it`,
        ]),
    ...(tools <= shownMax ? [] : [`it has ${tools} tools, and only the first ${shownMax} are shown to models`]),
    ...("url" in settings || sandbox?.type !== "off"
      ? []
      : [`it runs without a sandbox, ${settings.unsafe === true ? "for everybody" : "for the owner and admins only"}`]),
  ];
  return notes.length === 0 ? null : notes.join("; ");
}
