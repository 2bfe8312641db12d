// The folder of a service under s6, as it stands in a scan folder, and the commands that go with it. Pure.
// s6 asks the `finish` script what an end means, so the exit codes that mean "leave me down" are turned there.

import { join } from "node:path";
import {
  type Answer,
  type Command,
  type Place,
  type Service,
  type ServiceFile,
  type ServiceState,
  stopSeconds,
} from "./kinds.ts";

/** Where s6 tells readiness: the run script hands the number on. */
const readyDescriptor = 3;

export function s6Files(place: Place, folder: string, drainSeconds: number): readonly ServiceFile[] {
  const { home, node, main, passOn } = place;
  const variables = {
    EVERTURN_HOME: home,
    EVERTURN_SUPERVISOR: "s6",
    EVERTURN_READY_FD: String(readyDescriptor),
    ...passOn,
  };
  const run = [
    "#!/bin/sh",
    "# Written by `everturn gateway install` or `everturn gateway autostart`.",
    ...Object.entries(variables).map(([name, value]) => `export ${name}=${shellWord(value)}`),
    `exec ${shellWord(node)} ${shellWord(main)} gateway run`,
  ];
  const finish = [
    "#!/bin/sh",
    "# $1 is the exit code. 0 a planned stop, 78 wrong configuration, 79 another gateway serves this home: it stays down,",
    "# which s6 understands by 125. After anything else, 75 (a restart) and a crash among them, s6 starts it again.",
    'case "$1" in',
    "  0 | 78 | 79) exit 125 ;;",
    "esac",
    "exit 0",
  ];
  const file = (name: string, lines: readonly string[], mode: number): ServiceFile => ({
    path: join(folder, name),
    text: `${lines.join("\n")}\n`,
    mode,
  });
  return [
    file("run", run, 0o755),
    file("finish", finish, 0o755),
    file("type", ["longrun"], 0o644),
    file("notification-fd", [String(readyDescriptor)], 0o644),
    file("timeout-kill", [String(stopSeconds(drainSeconds) * 1000)], 0o644),
  ];
}

/** The file whose presence makes s6 wait for an order to start. */
export function downFile(folder: string): string {
  return join(folder, "down");
}

export function s6Service(place: Place, scan: string): Service {
  const folder = join(scan, place.name);
  const s6 = (what: string, tool: string, ...words: readonly string[]): Command => ({
    program: `s6-${tool}`,
    words,
    what,
  });
  return {
    kind: "s6",
    label: folder,
    title: `the s6 service ${folder}`,
    files: ({ drainSeconds }) => s6Files(place, folder, drainSeconds),
    check: [s6("reach s6", "svscanctl", scan)],
    install: [s6("have s6 look for services", "svscanctl", "-a", scan)],
    uninstall: [s6("stop the service", "svc", "-wD", "-d", folder)],
    folder,
    forget: [s6("have s6 forget the service", "svscanctl", "-an", scan)],
    start: [s6("start the service", "svc", "-u", folder)],
    stop: [s6("stop the service", "svc", "-wD", "-d", folder)],
    // SIGUSR1; one that is down is not reached by it, and is brought up.
    restart: [s6("restart the service", "svc", "-1u", folder)],
    status: s6("ask about the service", "svstat", "-o", "up", folder),
    stateIn: s6State,
  };
}

export function s6State({ code, out }: Answer): ServiceState {
  // 1: no supervisor for that folder.
  if (code === 1) return "missing";
  if (code !== 0) return "unknown";
  return out.trim() === "true" ? "running" : "stopped";
}

/** One word for a shell, whatever is in it. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
