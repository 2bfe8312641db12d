// Processes of this machine by what stands in their command line: inside of a sandbox a program knows another number of
// itself than the machine has.

import { readFileSync, readdirSync } from "node:fs";

/** The command lines of those that name a text, such as a folder of the test. */
export function processesNaming(text: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(commandOf)
    .filter((command) => command.includes(text));
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch (error) {
    // It ended while we looked.
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return "";
    throw error;
  }
}
