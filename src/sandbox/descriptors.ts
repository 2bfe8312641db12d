// Descriptors that this process was started with and that every program it starts would inherit. An open folder among them
// leads out of any sandbox. Node marks its own as close-on-exec, so what is not marked came from outside.

import { closeSync, readFileSync, readdirSync } from "node:fs";

const closeOnExec = 0o2000000;

/** Pure: whether a program that is started inherits it, by what /proc says about it. */
export function isInherited(fdinfo: string): boolean {
  const flags = /^flags:\s*([0-7]+)/m.exec(fdinfo)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
}

export function closeInherited(): void {
  const numbers = readdirSync("/proc/self/fd").map(Number);
  for (const fd of numbers.filter((one) => one > 2)) {
    try {
      if (isInherited(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))) closeSync(fd);
    } catch (error) {
      // The one by which the folder was read is closed by now.
      if (!(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EBADF")))
        throw error;
    }
  }
}
