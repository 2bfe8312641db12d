// Processes of jobs wherever they have gone: a command that makes itself a daemon leaves its group and its session, but
// keeps its environment, which names the folder of the job, or the pipe that its words went into, or its scope of systemd.
// bin/kin.js looks for the same. Only Linux tells of others; elsewhere nobody is found, and a daemon that left its group
// is not ended.

import { readFile, readdir, readlink } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Set by the holder, to the folder with links followed; it does not carry it itself. */
const markName = "EVERTURN_JOB";

export type Marked = { readonly pid: number; readonly folder: string };

/** Pure: the mark in what /proc tells of an environment. */
export function markIn(pid: number, environment: string): Marked | null {
  const mark = environment.split("\0").find((one) => one.startsWith(`${markName}=`));
  const folder = mark?.slice(markName.length + 1) ?? "";
  return folder === "" ? null : { pid, folder };
}

/** Pure: the folder in what /proc tells of where a process speaks to. */
export function pipeIn(pid: number, target: string): Marked | null {
  const pipe = target.endsWith("/pipe (deleted)") ? dirname(target) : null;
  return pipe === null ? null : { pid, folder: pipe };
}

/** Pure: the folder below `all` in what /proc tells of a control group; the scope of a job is named by its id. */
export function scopeIn(pid: number, cgroup: string, all: string): Marked | null {
  const [, id] = /\/everturn-job-([0-9a-f]{12})-[0-9a-z]+\.scope/.exec(cgroup) ?? [];
  return id === undefined ? null : { pid, folder: join(all, id) };
}

/** `all`: the folder of the jobs with links followed; without it those are not found that only their scope tells of. */
export async function markedProcesses(all: string | null = null): Promise<readonly Marked[]> {
  if (process.platform !== "linux") return [];
  // A gateway that was itself started by a command must not end itself, nor who waits for it.
  const own = [process.pid, process.ppid];
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && !own.includes(Number(name)));
  const found = await Promise.all(names.map((name) => marksOn(Number(name), all)));
  return found.filter((one) => one !== null);
}

async function marksOn(pid: number, all: string | null): Promise<Marked | null> {
  const told = (name: string) => orNothing(readFile(`/proc/${pid}/${name}`, "utf8"));
  const spoken = (fd: number) => orNothing(readlink(`/proc/${pid}/fd/${fd}`));
  const marked = markIn(pid, await told("environ")) ?? pipeIn(pid, await spoken(1)) ?? pipeIn(pid, await spoken(2));
  return marked ?? (all === null ? null : scopeIn(pid, await told("cgroup"), all));
}

async function orNothing(read: Promise<string>): Promise<string> {
  try {
    return await read;
  } catch (error) {
    // It ended while we looked, or belongs to somebody else.
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}
