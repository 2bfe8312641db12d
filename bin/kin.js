// The processes of a job, wherever they have gone. Most stay in the group of their command. Who leaves it still carries its
// environment, or says what it says into its pipe, or is in its scope of systemd; and who sheds all that was seen below
// the command before its parent left, if it took long enough to be seen. Only Linux tells any of this.
// Plain JavaScript that any Node from 20 on can read; a part of hold.js.

import fs from "node:fs";

const isLinux = process.platform === "linux";
/** A command that starts others without end is not followed to its last one; its group and its marks still are. */
const seenMax = 1_000;
const countMax = 10_000;
const scopeName = /\/everturn-job-[\w-]+\.scope/;

/** `mark`: the folder of the job with links followed; `group`: the first process of the command. */
export function openKin(mark, group) {
  /** Numbers with the time that each began at, because numbers are used again. */
  const seen = new Map();
  const scope = scopeName.exec(read("/proc/self/cgroup"))?.[0] ?? null;

  function carries(pid) {
    const leads = [1, 2].some((fd) => follow(`/proc/${pid}/fd/${fd}`) === `${mark}/pipe (deleted)`);
    if (leads || (scope !== null && read(`/proc/${pid}/cgroup`).includes(scope))) return true;
    return read(`/proc/${pid}/environ`).split("\0").includes(`EVERTURN_JOB=${mark}`);
  }

  return {
    /** Looks once below the command and all who were seen there; answers who lives outside of its group. */
    strays() {
      const next = [group, ...seen.keys()];
      for (let pid = next.pop(); pid !== undefined && seen.size < seenMax; pid = next.pop()) {
        const found = childrenOf(pid).filter((child) => !seen.has(child));
        for (const child of found) seen.set(child, startTimeOf(child));
        next.push(...found);
      }
      for (const [pid, startTime] of seen) if (!isThere(pid, startTime)) seen.delete(pid);
      const away = [...seen].filter(([pid]) => Number(statOf(pid)[2]) !== group);
      return away.map(([pid, startTime]) => ({ pid, startTime }));
    },
    /** How many tasks there are below the command. */
    count() {
      let tasks = 0;
      for (const next = [group]; next.length > 0 && tasks < countMax; ) {
        const pid = next.pop();
        tasks += (attempt(() => fs.readdirSync(`/proc/${pid}/task`)) ?? []).length;
        next.push(...childrenOf(pid));
      }
      return tasks;
    },
    /** Everybody but ourselves. */
    all() {
      if (!isLinux) return [];
      const found = fs.readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
      return found.filter(
        (pid) => pid !== process.pid && (carries(pid) || (seen.has(pid) && isThere(pid, seen.get(pid)))),
      );
    },
  };
}

/** The dead whom nobody has collected count as members too: in a container without an init they stay for ever. */
export function isGroupAlive(group) {
  if (process.platform === "win32") return false;
  try {
    process.kill(-group, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
  if (!isLinux) return true;
  return fs.readdirSync("/proc").some((pid) => {
    const [state, , member] = /^\d+$/.test(pid) ? statOf(pid) : [];
    return Number(member) === group && state !== "Z" && state !== "X";
  });
}

/** As src/host/identity.ts has it. */
export function startTimeOf(pid) {
  const ticks = Number(statOf(pid)[19]);
  return isLinux && Number.isSafeInteger(ticks) ? ticks * 10 : null;
}

function isThere(pid, startTime) {
  const [state] = statOf(pid);
  return state !== "Z" && state !== "X" && startTime !== null && startTimeOf(pid) === startTime;
}

/** Each thread has children of its own. */
function childrenOf(pid) {
  if (!isLinux) return [];
  const threads = attempt(() => fs.readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.flatMap((one) => read(`/proc/${pid}/task/${one}/children`).split(" ").filter(Boolean).map(Number));
}

/** The fields of a process from its state on; its name may hold anything, a closing bracket too. */
function statOf(pid) {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Empty where it has ended, or is somebody else's. */
const read = (path) => attempt(() => fs.readFileSync(path, "utf8")) ?? "";
const follow = (path) => attempt(() => fs.readlinkSync(path));

/** What the work gave; null when the system refused. */
function attempt(work) {
  try {
    return work();
  } catch (error) {
    if (typeof error.code !== "string") throw error;
    return null;
  }
}
