// A file that another process writes a line at a time, read while it does.

import { existsSync, readFileSync } from "node:fs";

/** The lines that are whole; a file may be there before its first one. */
export function linesIn(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}
