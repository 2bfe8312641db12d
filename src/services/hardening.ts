// What a unit of systemd takes away from the gateway and its tools. Pure but for the look at bubblewrap. The tools' own
// sandbox is the wall; this is for what runs outside of it. Each directive is tried under real systemd with bubblewrap
// inside (test/services).
//
// Left out, because the sandbox, its users or V8 need what they take away:
// - ProtectKernelTunables, ProtectKernelLogs, ProtectProc, PrivateUsers: bubblewrap mounts a /proc of its own.
// - ProtectHostname: bubblewrap names the sandbox. RestrictNamespaces, SystemCallFilter: it makes namespaces and mounts.
// - PrivateTmp: people name files in /tmp. ProtectHome: workspaces are there. PrivateDevices: MCP servers may use devices.
// - MemoryDenyWriteExecute: V8 compiles at run time.
// - ProtectClock: older versions of systemd close all devices but the clock with it.

import { existsSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Place, ServiceNeeds } from "./kinds.ts";

/** What of the configuration decides whether tools need privileges of the system. */
export type TerminalSettings = { readonly sandbox: string; readonly outside: boolean };

/** sudo outside of the sandbox, and podman's newuidmap, gain privileges; without a sandbox any tool may. */
export function needsPrivileges({ sandbox, outside }: TerminalSettings): boolean {
  return outside || sandbox === "podman" || sandbox === "off";
}

export function serviceNeeds({ gateway, agent }: Config, env: Environment): ServiceNeeds {
  const { terminal, workspace } = agent.tools;
  const isBubblewrap = terminal.sandbox === "auto" || terminal.sandbox === "bwrap";
  return {
    drainSeconds: gateway.drainSeconds,
    needsPrivileges: needsPrivileges(terminal) || (isBubblewrap && isBubblewrapSetuid(env["PATH"] ?? "")),
    ...(workspace === undefined ? {} : { workspace }),
  };
}

/** Where users may not make namespaces, bubblewrap is setuid, and NoNewPrivileges would switch that off. */
function isBubblewrapSetuid(path: string): boolean {
  const folders = [...path.split(delimiter), "/usr/bin", "/usr/local/bin"].filter((one) => isAbsolute(one));
  const found = folders.map((folder) => join(folder, "bwrap")).find((file) => existsSync(file));
  return found !== undefined && (statSync(found).mode & 0o4000) !== 0;
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
const systemOnly = ["ProtectSystem=full", "ProtectControlGroups=yes", "ProtectKernelModules=yes"];

export function hardening(scope: "user" | "system", user: Place["user"]): readonly string[] {
  if (scope === "user") return filters;
  // Root reads the files of others by its capabilities; anybody else has none to lose.
  return [...filters, ...systemOnly, ...(user.uid === 0 ? [] : ["CapabilityBoundingSet="])];
}

/** ProtectSystem makes /usr, /etc and /boot read-only, and the home or the workspace may be there. */
export function writablePaths(home: string, workspace: string | undefined): readonly string[] {
  const folder = resolve(home, workspace ?? ".");
  // A line break would end the setting.
  const isOther = folder !== home && !folder.startsWith(`${home}/`) && !/\p{Cc}/u.test(folder);
  return isOther ? [home, folder] : [home];
}
