// The MCP servers of the configuration as an ACP agent starts or calls them itself. Inside the sandbox a server has the
// grant of the agent and not its own, so a server that needs more than the agent has is left out, with the reason. Pure.

import { delimiter, isAbsolute, sep } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { isAddress, isPublic } from "../../core/addresses.ts";
import { ownerPerson } from "../../core/requester.ts";
import type { PeerProgram } from "../../peers/program.ts";

/** As the configuration has it, with secrets in the clear. */
export type ConfiguredServer =
  | PeerProgram
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

/** What decides about a server beside its own settings. */
export type Receiver = {
  /** `mcpCapabilities` of the agent; programs need none of them. */
  readonly can: { readonly http: boolean; readonly sse: boolean };
  readonly program: PeerProgram;
  /** PATH of the gateway. */
  readonly path: string;
  /** Whether a word of a command is the absolute path of a file. */
  readonly isFile: (word: string) => boolean;
  readonly person: string;
  readonly isWalled: boolean;
};

export type PassedServers = {
  readonly servers: readonly McpServer[];
  readonly left: readonly { readonly name: string; readonly why: string }[];
};

export function passServers(configured: Readonly<Record<string, ConfiguredServer>>, receiver: Receiver): PassedServers {
  const servers: McpServer[] = [];
  const left: { name: string; why: string }[] = [];
  for (const [name, server] of Object.entries(configured)) {
    const passed = "url" in server ? passAddress(name, server, receiver) : passProgram(name, server, receiver);
    if (typeof passed === "string") left.push({ name, why: passed });
    else servers.push(passed);
  }
  return { servers, left };
}

/** A text is the reason why not. */
function passProgram(name: string, server: PeerProgram, receiver: Receiver): McpServer | string {
  const { program, person, isWalled } = receiver;
  const { command, cwd, env = {}, unsafe = false } = server;
  if (cwd !== undefined) return "it has a cwd, which the protocol cannot carry";
  if (person !== ownerPerson) {
    // Everything in the sandbox of a person can be read by that person's agent, the variables of a server included.
    if (Object.keys(env).length > 0) return "its env is for the owner's agent only";
    if (!isWalled && !unsafe) return "without a sandbox it is for the owner's agent only";
    const file = isWalled ? ownersFile(command, receiver) : undefined;
    if (file !== undefined)
      return `its command names ${file}, which is for the owner's agent only. Install it in a folder of PATH, or add its folder to agent.acp.paths.`;
  }
  const missing = isWalled ? missingGrant(server, program) : null;
  if (missing !== null) return missing;
  const [first = "", ...args] = command;
  return { name, command: first, args, env: pairsOf(env) };
}

const systemFolders = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /nix/store /gnu/store".split(" ");

/** The first file of a command that the sandbox does not show to everybody anyway. */
function ownersFile(command: readonly string[], { program, path, isFile }: Receiver): string | undefined {
  const inPath = path.split(delimiter).filter((folder) => isAbsolute(folder) && folder !== sep);
  const shown = [...systemFolders, ...inPath, ...(program.paths ?? []).map((one) => one.path)];
  return command.find((file) => isFile(file) && !shown.some((one) => file === one || file.startsWith(`${one}${sep}`)));
}

/** Only hosts and paths that are written down count: a server without any runs with those of the agent. */
function missingGrant({ hosts = [], paths = [] }: PeerProgram, agent: PeerProgram): string | null {
  const { hosts: reached = ["*"], paths: seen = [] } = agent;
  const host = hosts.find((one) => !reached.includes("*") && !reached.includes(one));
  if (host !== undefined) return `it needs the host ${host}; add it to agent.acp.hosts`;
  const path = paths.find(
    (one) => !seen.some((own) => own.path === one.path && (own.access === "write" || one.access === "read")),
  );
  if (path === undefined) return null;
  return `it needs the path ${path.path}${path.access === "write" ? ":rw" : ""}; add it to agent.acp.paths`;
}

function passAddress(
  name: string,
  { url, headers = {} }: { readonly url: string; readonly headers?: Readonly<Record<string, string>> },
  { can, person, isWalled }: Receiver,
): McpServer | string {
  const { hostname, pathname, username, password, search } = new URL(url);
  if (person !== ownerPerson) {
    if (Object.keys(headers).length > 0) return "its headers are for the owner's agent only";
    // Both may hold a key.
    if (username + password + search !== "") return "the login or query in its url is for the owner's agent only";
  }
  if (isWalled && (hostname === "localhost" || (isAddress(hostname) && !isPublic(hostname))))
    return "it is at a private address, which the sandbox of the agent does not reach";
  const server = { name, url, headers: pairsOf(headers) };
  // The configuration does not say which of the two it is, but servers of the older kind are mostly at this path.
  if (/\/sse\/?$/.test(pathname) && can.sse) return { type: "sse", ...server };
  if (can.http) return { type: "http", ...server };
  return "the agent takes no servers over HTTP";
}

function pairsOf(values: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
