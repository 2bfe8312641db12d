// Who starts this process again when it ends, and the short way to a restart under systemd. Pure where it decides; what
// it asks systemd goes through a given runner.
// An inherited variable is no proof: whatever a service starts inherits its environment. Only a pid is.

import type { SupervisorKind } from "../core/lifecycle.ts";
import type { ProcessIdentity } from "./identity.ts";
import { type Run, run as runProgram } from "./command.ts";

export type SupervisorHints = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly ppid: number;
  /** Null where the system does not tell. */
  readonly parentName: string | null;
  readonly platform: NodeJS.Platform;
};

/** The label under which launchd knows a gateway begins with this. */
const launchdLabel = "dev.everturn.gateway";

export function supervisorOf({ env, pid, ppid, parentName, platform }: SupervisorHints): SupervisorKind | null {
  const said = env["EVERTURN_SUPERVISOR"];
  switch (platform) {
    case "win32":
      return said === "task" ? "task" : null;
    case "darwin": {
      const label = env["XPC_SERVICE_NAME"] ?? "";
      const isOurs = label === launchdLabel || label.startsWith(`${launchdLabel}.`);
      if (ppid === 1 && (isOurs || said === "launchd")) return "launchd";
      break;
    }
    case "linux":
      if (env["SYSTEMD_EXEC_PID"] === String(pid)) return "systemd";
      break;
  }
  return parentName === "s6-supervise" ? "s6" : null;
}

/** A unit of systemd, and whose systemd it is. */
export type Unit = { readonly name: string; readonly scope: "user" | "system" };

/** The unit of a process, from what the system tells in /proc/self/cgroup; null when it is in none. */
export function unitFromCgroup(text: string): Unit | null {
  const paths = text.split("\n").flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    return path !== undefined && (controllers === "" || controllers === "name=systemd") ? [path] : [];
  });
  for (const path of paths) {
    // Below the service that is a user's own systemd, units are that one's.
    const [, inUser] = /\/user@\d+\.service(\/.*)?$/.exec(path) ?? [];
    const isUser = /\/user@\d+\.service(?:\/|$)/.test(path);
    const name = (isUser ? (inUser ?? "") : path).split("/").findLast((part) => part.endsWith(".service"));
    if (name !== undefined && isUnitName(name)) return { name, scope: isUser ? "user" : "system" };
  }
  return null;
}

/** What may stand in the name of a unit; none of it means anything to a shell inside single quotes. */
function isUnitName(name: string): boolean {
  return /^[\w:.@\\-]+\.service$/.test(name) && name.length < 256;
}

/** How `systemctl` and `systemd-run` are told whose systemd is meant. */
export function scopeWords({ scope }: Unit): readonly string[] {
  return scope === "user" ? ["--user"] : [];
}

export type Shortcut =
  | { readonly type: "launched"; readonly unit: string }
  | { readonly type: "not-launched"; readonly why: string };

export type ShortcutRequest = {
  readonly self: ProcessIdentity;
  /** The content of /proc/self/cgroup. */
  readonly cgroup: string;
  readonly run?: Run;
};

const limitMs = 2_000;

/**
 * A transient unit that waits until we are gone, and then starts our unit without the pause that systemd makes between
 * two starts. Only where we are the process that the unit stands for: anything else would start somebody else's service.
 */
export async function launchRestartShortcut({ self, cgroup, run = runProgram }: ShortcutRequest): Promise<Shortcut> {
  const unit = unitFromCgroup(cgroup);
  if (unit === null) return { type: "not-launched", why: "this process is in no service of systemd" };
  const scope = scopeWords(unit);
  const shown = await run("systemctl", [...scope, "show", "--property=MainPID", "--value", unit.name], limitMs);
  if (shown.code !== 0) return { type: "not-launched", why: `systemctl could not show ${unit.name}${said(shown.err)}` };
  const mainPid = shown.out.trim();
  if (mainPid !== String(self.pid))
    return {
      type: "not-launched",
      why: `the main process of ${unit.name} is ${mainPid || "unknown"}, not ${self.pid}`,
    };
  const words = [
    ...scope,
    "--quiet",
    "--collect",
    `--unit=everturn-restart-${self.pid}-${self.startTime ?? 0}`,
    `--description=Starts ${unit.name} again`,
    // A gateway that does not end is not waited for beyond any stop that there is.
    "--property=RuntimeMaxSec=1h",
    "/bin/sh",
    "-c",
    restartScript(unit, self.pid),
  ];
  const started = await run("systemd-run", words, limitMs);
  if (started.code !== 0) return { type: "not-launched", why: `systemd-run was refused${said(started.err)}` };
  return { type: "launched", unit: unit.name };
}

/**
 * Without a single dollar sign, because systemd replaces variables in the words of a command. `start` does nothing to a
 * unit that still counts as running, so it comes after systemd has seen the end as well.
 */
function restartScript(unit: Unit, pid: number): string {
  const systemctl = ["systemctl", ...scopeWords(unit)].join(" ");
  const name = `'${unit.name}'`;
  return [
    `while kill -0 ${pid} 2>/dev/null; do sleep 0.05; done`,
    `while ${systemctl} show --property=MainPID ${name} | grep -qx MainPID=${pid}; do sleep 0.05; done`,
    `${systemctl} reset-failed ${name} 2>/dev/null`,
    `${systemctl} start ${name}`,
  ].join("; ");
}

function said(err: string): string {
  const text = err.trim();
  return text === "" ? "" : ` (${text})`;
}
