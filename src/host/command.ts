// Runs a program of the system and gives back what it said. It never rejects and never lasts longer than its limit: a
// program that is missing, refuses or hangs is an answer like any other.

import { execFile } from "node:child_process";

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
