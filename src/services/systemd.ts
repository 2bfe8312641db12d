// The unit of systemd, for a user or for the whole system, and the commands that go with it. Pure.
//
// OOMPolicy=continue, because otherwise the death of a tool that ate the memory would stop the gateway as well. LimitCORE=0,
// because an image of the memory holds messages and tokens.

import { join } from "node:path";
import { hardening, writablePaths } from "./hardening.ts";
import {
  type Answer,
  type Command,
  type Place,
  type Service,
  type ServiceNeeds,
  type ServiceState,
  stopSeconds,
} from "./kinds.ts";

export type Scope = "user" | "system";

/** A loop that answered nothing for this long is not coming back. The gateway reports twice as often as it must. */
const watchdogSeconds = 60;
/** A start may have to migrate a large store; it is ready long before, as a rule. */
const startSeconds = 600;

export function systemdUnit(
  place: Place,
  scope: Scope,
  { drainSeconds, needsPrivileges = false, workspace }: ServiceNeeds,
): string {
  const { home, node, main, passOn, user } = place;
  const variables = { EVERTURN_HOME: home, EVERTURN_SUPERVISOR: "systemd", ...passOn };
  const isSystem = scope === "system";
  // With a hyphen a missing folder is no error.
  const writable = `ReadWritePaths=${writablePaths(home, workspace)
    .map((path) => `-${quoted(path)}`)
    .join(" ")}`;
  return lines([
    "# Written by `everturn gateway install`; with --force it is written anew.",
    `# Settings of your own belong into a drop-in: systemctl${isSystem ? "" : " --user"} edit ${place.name}.service`,
    "",
    "[Unit]",
    `Description=Everturn gateway (${specifierFree(home)})`,
    // No start waits for a network, because platforms connect when they can; but it is still there during a stop.
    isSystem && "After=network.target",
    isSystem && `RequiresMountsFor=${quoted(home)}`,
    "# A gateway that keeps dying is dealt with by itself: it takes up its work more and more carefully.",
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=notify",
    "# Reports come from a small program that the gateway starts.",
    "NotifyAccess=all",
    // The colon switches variables off, so that a dollar is a dollar.
    `ExecStart=:${startOf(node)} ${quoted(main)} gateway run`,
    "# Asks for a restart: running turns are parked and go on in the next process.",
    "ExecReload=/bin/kill -USR1 $MAINPID",
    isSystem && `User=${user.name}`,
    "WorkingDirectory=-~",
    ...Object.entries(variables).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
    "Restart=always",
    "RestartSec=500ms",
    "# 0 a restart that comes back by itself, 1 a signal that nobody announced, 75 start me again, 78 wrong configuration,",
    "# 79 stay down: a planned stop, or another gateway serves this home.",
    "SuccessExitStatus=1 75 79",
    "RestartForceExitStatus=75",
    "RestartPreventExitStatus=78 79",
    `TimeoutStartSec=${startSeconds}`,
    `WatchdogSec=${watchdogSeconds}`,
    "# A stop takes gateway.drainSeconds and 5 s at most; this is for a machine that hangs.",
    `TimeoutStopSec=${stopSeconds(drainSeconds)}`,
    "KillSignal=SIGTERM",
    "# The gateway ends its tools itself; what is left after it is killed.",
    "KillMode=mixed",
    "# A tool that eats the memory dies alone.",
    "OOMPolicy=continue",
    "# An image of the memory would hold messages and tokens.",
    "LimitCORE=0",
    "SyslogIdentifier=everturn",
    ...(needsPrivileges
      ? [
          "# Not hardened: agent.tools.terminal lets commands gain privileges, or bubblewrap itself needs them (setuid).",
        ]
      : ["# For what runs outside of the sandbox of tools.", ...hardening(scope, user), isSystem && writable]),
    "",
    "[Install]",
    `WantedBy=${isSystem ? "multi-user.target" : "default.target"}`,
  ]);
}

export function systemdService(place: Place, scope: Scope, unitFolder: string): Service {
  const label = `${place.name}.service`;
  const systemctl = (what: string, ...words: readonly string[]): Command => ({
    program: "systemctl",
    words: scope === "user" ? ["--user", ...words] : words,
    what,
  });
  return {
    kind: `systemd-${scope}`,
    label,
    title: `the systemd ${scope} service ${label}`,
    files: (needs) => [{ path: join(unitFolder, label), text: systemdUnit(place, scope, needs), mode: 0o644 }],
    check: [systemctl("reach systemd", "show", "--property=Version")],
    install: [
      systemctl("read the units again", "daemon-reload"),
      systemctl("have the service started with the system", "enable", label),
      systemctl("start the service", "start", label),
    ],
    uninstall: [systemctl("stop the service", "disable", "--now", label)],
    forget: [
      systemctl("read the units again", "daemon-reload"),
      { ...systemctl("forget how it ended", "reset-failed", label), mayFail: true },
    ],
    start: [
      { ...systemctl("forget how it ended", "reset-failed", label), mayFail: true },
      systemctl("start the service", "start", label),
    ],
    stop: [systemctl("stop the service", "stop", label)],
    // Passes SIGUSR1 on; starts it when it does not run.
    restart: [systemctl("restart the service", "reload-or-restart", label)],
    status: systemctl("ask about the service", "show", "--property=LoadState,ActiveState", label),
    stateIn: systemdState,
  };
}

export function systemdState({ code, out }: Answer): ServiceState {
  const facts = new Map(out.split("\n").map((line) => line.split("=", 2) as [string, string | undefined]));
  const active = facts.get("ActiveState");
  if (code !== 0 || active === undefined) return "unknown";
  if (facts.get("LoadState") === "not-found") return "missing";
  if (active === "failed") return "failed";
  return active === "inactive" ? "stopped" : "running";
}

/** systemd refuses programs with some signs in their path, but not arguments; `env` becomes the program it starts. */
function startOf(node: string): string {
  return /["'\\]/.test(node) ? `/usr/bin/env ${quoted(node)}` : quoted(node);
}

/** One word for systemd: in quotes, with the signs that it would replace written so that it does not. */
export function quoted(text: string): string {
  return `"${specifierFree(text).replaceAll(/[\\"]/g, "\\$&")}"`;
}

function specifierFree(text: string): string {
  return text.replaceAll("%", "%%");
}

function lines(all: readonly (string | false)[]): string {
  return `${all.filter((line) => line !== false).join("\n")}\n`;
}
