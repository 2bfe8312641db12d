// Runs a program of the system and gives back what it said. It never rejects and never lasts longer than its limit: a
// program that is missing, refuses or hangs is an answer like any other.

import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

export type Answer = {
  /** Null when it could not be started, or was ended because its time was up. */
  readonly code: number | null;
  readonly out: string;
  /** What it said about a failure, or why it did not run. */
  readonly err: string;
};

export type Run = (program: string, words: readonly string[], limitMs: number) => Promise<Answer>;

/** More than a kernel log holds. */
const mostBytes = 8 * 1_024 * 1_024;

export const run: Run = (program, words, limitMs) =>
  new Promise((answer) => {
    const options = { timeout: limitMs, killSignal: "SIGKILL", maxBuffer: mostBytes, windowsHide: true } as const;
    try {
      const child = execFile(program, [...words], options, (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
        answer({ code, out, err: code === null && err === "" ? (error?.message ?? "") : err });
      });
      child.stdin?.end();
    } catch (error) {
      // Arguments that no program can be given.
      answer({ code: null, out: "", err: error instanceof Error ? error.message : String(error) });
    }
  });

/** Whether a program of that name can be started from a folder; a bare name is looked for where the system looks. */
export function isProgram(name: string, from: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const isWindows = process.platform === "win32";
  const places = /[\\/]/.test(name)
    ? [resolve(from, name)]
    : (env["PATH"] ?? env["Path"] ?? "").split(delimiter).map((folder) => join(folder, name));
  const endings = isWindows ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD;.BAT;.COM").split(";")] : [""];
  return places.some((place) => endings.some((ending) => canRun(`${place}${ending}`)));
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch (error) {
    // Not there, or not for us to run.
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}
