// The subprocesses of tools. Each leads a session and a group of its own, so that whatever it starts can be ended with
// it, also after it has ended itself. Ending is bounded: asked first, forced after a short grace, waited for no longer
// than the system needs to take them away.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Processes } from "../ports/processes.ts";
import { killTree } from "./ending.ts";
import { isAlive } from "./identity.ts";

export type ToolProcess = {
  readonly program: string;
  readonly words: readonly string[];
  /** A job is made to outlive the gateway: it is spared where the gateway comes back. */
  readonly job?: boolean;
  readonly options?: Omit<SpawnOptions, "detached" | "shell">;
};

export type ProcessRegistry = Processes & {
  /** As `child_process.spawn`: a program that cannot be started tells so by an `error` event. */
  spawn(tool: ToolProcess): ChildProcess;
  /** Groups in which something may still live. */
  readonly count: number;
};

export type RegistryOptions = {
  readonly platform?: NodeJS.Platform;
  /** How long a group may take to end after being asked. */
  readonly graceMs?: number;
  /** How Windows ends a process with all it started. */
  readonly killTree?: (pid: number) => Promise<void>;
};

/** A polite end is a matter of milliseconds; the whole stop has seconds. */
const graceMs = 500;
/** After force, for the system to take them away. */
const goneMs = 1_000;
const lookAgainMs = 5;

type Group = { readonly child: ChildProcess; readonly pid: number; readonly job: boolean };

export function openProcesses(options: RegistryOptions = {}): ProcessRegistry {
  const { platform = process.platform } = options;
  const groups = new Set<Group>();
  const live = () => {
    for (const group of groups) if (!isGroupAlive(group, platform)) groups.delete(group);
    return groups;
  };
  return {
    get count() {
      return live().size;
    },
    spawn({ program, words, job = false, options: given = {} }) {
      const child = spawn(program, [...words], { windowsHide: true, ...given, detached: platform !== "win32" });
      if (child.pid !== undefined) {
        const group = { child, pid: child.pid, job };
        groups.add(group);
        // Its own end is not the end of what it started.
        child.once("exit", () => isGroupAlive(group, platform) || groups.delete(group));
      }
      return child;
    },
    async killAll(which) {
      const doomed = [...live()].filter((group) => which === "all" || !group.job);
      if (platform === "win32") await Promise.all(doomed.map((group) => endTree(group, options.killTree ?? killTree)));
      else await endGroups(doomed, platform, options.graceMs ?? graceMs);
      live();
      return doomed.length;
    },
  };
}

async function endTree({ pid, child }: Group, kill: (pid: number) => Promise<void>): Promise<void> {
  try {
    await kill(pid);
  } catch (error) {
    // It ended in between, or only its own handle can still reach it.
    if (child.exitCode === null && !child.kill("SIGKILL")) throw error;
  }
}

async function endGroups(doomed: readonly Group[], platform: NodeJS.Platform, grace: number): Promise<void> {
  const isAnyAlive = () => doomed.some((group) => isGroupAlive(group, platform));
  for (const [signal, patienceMs] of [
    ["SIGTERM", grace],
    ["SIGKILL", goneMs],
  ] as const) {
    for (const group of doomed) if (isGroupAlive(group, platform)) signalGroup(group.pid, signal);
    const until = performance.now() + patienceMs;
    while (isAnyAlive() && performance.now() < until) await pause(lookAgainMs);
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    // Nobody is left; or somebody is whom we may not touch, such as a program with rights of its own.
    if (error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM")) return false;
    throw error;
  }
}

function isGroupAlive({ child, pid }: Group, platform: NodeJS.Platform): boolean {
  const isLeaderGone = child.exitCode !== null || child.signalCode !== null;
  if (!isLeaderGone) return true;
  if (platform === "win32" || !signalGroup(pid, 0)) return false;
  // A group keeps its number from being used again. A process that has it now began another group after ours was empty.
  if (isAlive({ pid, startTime: null })) return false;
  return platform !== "linux" || hasLivingMember(pid);
}

/** The dead whom nobody has collected count as members too: in a container without an init they stay for ever. */
function hasLivingMember(group: number): boolean {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    const stat = statOf(name);
    const [state, , member] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(member) === group && state !== "Z" && state !== "X";
  });
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    // It ended while we looked.
    if (error instanceof Error) return "";
    throw error;
  }
}
