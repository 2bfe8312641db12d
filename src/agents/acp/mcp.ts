// Passes the configured MCP servers on to an agent: commands as they are found on this machine, files that must be visible
// inside the sandbox, and one line in the log for each server that cannot be passed on.

import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { InitializeResponse, McpServer } from "@agentclientprotocol/sdk";
import { ownerPerson } from "../../core/requester.ts";
import { type PeerWorkspace, isFile, ownerRequester } from "../../peers/launch.ts";
import { commandFor, pathRefusal } from "../../peers/program.ts";
import type { AcpOptions } from "./options.ts";
import { type ConfiguredServer, type PassedServers, type Receiver, passServers } from "./servers.ts";

export type ResolvedServers = {
  /** As this person's agent gets them. */
  readonly programs: readonly McpServer[];
  /** Decided when the agent has said what it takes. */
  readonly addresses: Readonly<Record<string, ConfiguredServer>>;
  /** What must be visible in the sandbox of this person's agent, beside what is there for everybody. */
  readonly files: readonly string[];
  /** Servers that are not passed on, with the reason. */
  readonly left: PassedServers["left"];
};

/** Before the start of the agent, because files of a server that is not passed on must not be in its sandbox. */
export async function resolveServers(
  options: AcpOptions,
  { folder: workspace, person }: PeerWorkspace,
): Promise<ResolvedServers> {
  const { host, servers: configured = {} } = options;
  const { folder: ownerWorkspace } = await host.workspaceFor(ownerRequester);
  const places = { home: host.home, ownerWorkspace, workspace };
  const path = host.environment["PATH"] ?? "";
  const addresses: Record<string, ConfiguredServer> = {};
  const usable: Record<string, ConfiguredServer> = {};
  const left: { name: string; why: string }[] = [];
  for (const [name, server] of Object.entries(configured)) {
    if ("url" in server) {
      addresses[name] = server;
      continue;
    }
    const [program = "", ...words] = commandFor(server.command, places, existsSync);
    const command = [programIn(path, program), ...words];
    const refusals = command.filter(isFile).map((file) => pathRefusal(file, places));
    const why = refusals.find((refusal) => refusal !== null);
    if (why === undefined) usable[name] = { ...server, command };
    else left.push({ name, why });
  }
  const isWalled = (await host.sandbox.state()).type === "on";
  const passed = passServers(usable, receiverOf(options, { person, isWalled }));
  const named = passed.servers.flatMap((server) => ("command" in server ? [server.command, ...server.args] : []));
  // Other people's agents get only servers whose files are visible already.
  const files = person === ownerPerson ? named.filter(isFile) : [];
  return { programs: passed.servers, addresses, files, left: [...left, ...passed.left] };
}

function receiverOf(
  { host, program }: AcpOptions,
  { person, isWalled }: Pick<Receiver, "person" | "isWalled">,
  can: Receiver["can"] = { http: false, sse: false },
): Receiver {
  return { can, program, person, isWalled, path: host.environment["PATH"] ?? "", isFile };
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
  { programs, addresses, left }: ResolvedServers,
  { agentCapabilities }: InitializeResponse,
  receiver: Pick<Receiver, "person" | "isWalled">,
): McpServer[] {
  const { http, sse } = agentCapabilities?.mcpCapabilities ?? {};
  const passed = passServers(addresses, receiverOf(options, receiver, { http: http === true, sse: sse === true }));
  const known = reported.get(options) ?? new Set();
  reported.set(options, known);
  for (const { name, why } of [...left, ...passed.left]) {
    const line = `${name}: ${why}`;
    if (known.has(line)) continue;
    known.add(line);
    options.log("warn", "an MCP server is not passed on to the ACP agent", { server: name, why });
  }
  return [...programs, ...passed.servers];
}
