// Processes of jobs wherever they have gone: a command that makes itself a daemon leaves its group and its session, but
// keeps its environment, and that names the folder of the job. Only Linux shows the environment of others; elsewhere
// nobody is found, and a daemon that left its group is not ended.

import { readFile, readdir } from "node:fs/promises";

/** Set by the holder, to the folder with links followed; it does not carry it itself. */
const markName = "EVERTURN_JOB";

export type Marked = { readonly pid: number; readonly folder: string };

/** Pure: the mark in what /proc tells of an environment. */
export function markIn(pid: number, environment: string): Marked | null {
  const mark = environment.split("\0").find((one) => one.startsWith(`${markName}=`));
  const folder = mark?.slice(markName.length + 1) ?? "";
  return folder === "" ? null : { pid, folder };
}

export async function markedProcesses(): Promise<readonly Marked[]> {
  if (process.platform !== "linux") return [];
  // A gateway that was itself started by a command must not end itself, nor who waits for it.
  const own = [process.pid, process.ppid];
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && !own.includes(Number(name)));
  const found = await Promise.all(names.map(async (name) => markIn(Number(name), await environmentOf(name))));
  return found.filter((one) => one !== null);
}

async function environmentOf(pid: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/environ`, "utf8");
  } catch (error) {
    // It ended while we looked, or belongs to somebody else.
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}
