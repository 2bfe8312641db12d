// Passes the configured MCP servers on to an agent: commands as they are found on this machine, files that must be visible
// inside the sandbox, and one line in the log for each server that cannot be passed on.

import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { InitializeResponse, McpServer } from "@agentclientprotocol/sdk";
import { type PeerWorkspace, isFile, ownerRequester } from "../../peers/launch.ts";
import { commandFor, pathRefusal } from "../../peers/program.ts";
import type { AcpOptions } from "./options.ts";
import { type ConfiguredServer, passServers } from "./servers.ts";

export type ResolvedServers = {
  readonly servers: Readonly<Record<string, ConfiguredServer>>;
  /** What their commands name. */
  readonly files: readonly string[];
  /** Servers that cannot be started, with the reason. */
  readonly unusable: readonly { readonly name: string; readonly why: string }[];
};

export async function resolveServers(
  { host, servers: configured = {} }: AcpOptions,
  { folder: workspace }: PeerWorkspace,
): Promise<ResolvedServers> {
  const { folder: ownerWorkspace } = await host.workspaceFor(ownerRequester);
  const places = { home: host.home, ownerWorkspace, workspace };
  const path = host.environment["PATH"] ?? "";
  const servers: Record<string, ConfiguredServer> = {};
  const files: string[] = [];
  const unusable: { name: string; why: string }[] = [];
  for (const [name, server] of Object.entries(configured)) {
    if ("url" in server) {
      servers[name] = server;
      continue;
    }
    const [program = "", ...words] = commandFor(server.command, places, existsSync);
    const command = [programIn(path, program), ...words];
    const named = command.filter(isFile);
    const why = named.map((file) => pathRefusal(file, places)).find((refusal) => refusal !== null);
    if (why === undefined) {
      servers[name] = { ...server, command };
      files.push(...named);
    } else unusable.push({ name, why });
  }
  return { servers, files, unusable };
}

/** The protocol wants an absolute path. */
function programIn(path: string, program: string): string {
  if (isAbsolute(program)) return program;
  const found = path.split(delimiter).map((folder) => join(folder, program));
  return found.find((file) => isFile(file)) ?? program;
}

/** Names of servers that were reported, so that a restart of the agent does not report them again. */
const reported = new WeakMap<AcpOptions, Set<string>>();

export function chooseServers(
  options: AcpOptions,
  { servers, unusable }: ResolvedServers,
  { agentCapabilities }: InitializeResponse,
  { person, isWalled }: { readonly person: string; readonly isWalled: boolean },
): McpServer[] {
  const { http, sse } = agentCapabilities?.mcpCapabilities ?? {};
  const can = { http: http === true, sse: sse === true };
  const passed = passServers(servers, { can, program: options.program, person, isWalled });
  const known = reported.get(options) ?? new Set();
  reported.set(options, known);
  for (const { name, why } of [...unusable, ...passed.left]) {
    const line = `${name}: ${why}`;
    if (known.has(line)) continue;
    known.add(line);
    options.log("warn", "an MCP server is not passed on to the ACP agent", { server: name, why });
  }
  return [...passed.servers];
}
