// Looks after the machine while a sandboxed command runs: one that fills the disk or the table of processes is ended before
// none is left. The kernel's own limit on processes does not hold for root, and none on disk holds for a folder.
// Plain JavaScript that any Node from 20 on can read; a part of hold.js.

import fs from "node:fs";

/** Processes and threads of one command; the sandbox's own limit for other users is lower. */
const maxTasks = 2_500;
/** Of the disk, this much or this share stays free, whichever is less. */
const [minFreeBytes, minFreeShare] = [512 * 1024 * 1024, 0.02];
/** Less than this cannot be the command's doing. */
const usedBytes = 128 * 1024 * 1024;
const lookMs = 500;

/**
 * Why the command has to end; null while it may go on. `before` and `now`: bytes free on the disk, and tasks of the whole
 * machine; `own` counts the command's own tasks, which costs more. Pure.
 */
export function reasonToEnd(before, now, own) {
  const minimum = Math.min(minFreeBytes, now.totalBytes * minFreeShare);
  if (now.freeBytes < minimum && before.freeBytes - now.freeBytes > usedBytes) return "the disk was nearly full";
  if (now.tasks - before.tasks > maxTasks && own() > maxTasks) return "it started too many processes";
  return null;
}

/** Calls back once, with the reason. */
export function guard(folder, own, end) {
  const before = look(folder);
  const timer = setInterval(() => {
    const why = reasonToEnd(before, look(folder), own);
    if (why === null) return;
    clearInterval(timer);
    end(why);
  }, lookMs);
}

function look(folder) {
  try {
    const { bavail, blocks, bsize } = fs.statfsSync(folder);
    const tasks = Number(/\/(\d+) /.exec(fs.readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 0);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, tasks };
  } catch (error) {
    if (typeof error.code !== "string") throw error;
    // This system does not tell.
    return { freeBytes: Number.POSITIVE_INFINITY, totalBytes: 0, tasks: 0 };
  }
}
