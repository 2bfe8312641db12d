// What a unit of systemd takes away from the gateway and its tools. Pure. The tools' own sandbox is the wall; this is for
// what runs outside of it. Each directive is tried under real systemd with bubblewrap inside (test/services).
//
// Left out, because the sandbox, its users or V8 need what they take away:
// - ProtectKernelTunables, ProtectKernelLogs, ProtectProc, PrivateUsers: bubblewrap mounts a /proc of its own.
// - ProtectHostname: bubblewrap names the sandbox. RestrictNamespaces, SystemCallFilter: it makes namespaces and mounts.
// - PrivateTmp: people name files in /tmp. ProtectHome: workspaces are there. PrivateDevices: MCP servers may use devices.
// - MemoryDenyWriteExecute: V8 compiles at run time.

import type { Config } from "../config/schema.ts";
import type { Place, ServiceNeeds } from "./kinds.ts";

/** What of the configuration decides whether tools need privileges of the system. */
export type TerminalSettings = { readonly sandbox: string; readonly outside: boolean };

/** sudo outside of the sandbox, and podman's newuidmap, gain privileges; without a sandbox any tool may. */
export function needsPrivileges({ sandbox, outside }: TerminalSettings): boolean {
  return outside || sandbox === "podman" || sandbox === "off";
}

export function serviceNeeds({ gateway, agent }: Config): ServiceNeeds {
  return { drainSeconds: gateway.drainSeconds, needsPrivileges: needsPrivileges(agent.tools.terminal) };
}

/** Filters of system calls: also a user's own systemd can set them. */
const filters = [
  "NoNewPrivileges=yes",
  "RestrictSUIDSGID=yes",
  "RestrictRealtime=yes",
  "LockPersonality=yes",
  "SystemCallArchitectures=native",
  "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
];

/** Mounts and capabilities: only the systemd of the whole system can set them. */
const systemOnly = ["ProtectSystem=full", "ProtectControlGroups=yes", "ProtectKernelModules=yes", "ProtectClock=yes"];

export function hardening(scope: "user" | "system", user: Place["user"]): readonly string[] {
  if (scope === "user") return filters;
  // Root reads the files of others by its capabilities; anybody else has none to lose.
  return [...filters, ...systemOnly, ...(user.uid === 0 ? [] : ["CapabilityBoundingSet="])];
}
