// Whether the unit of systemd that runs us gives a stop the time it may take. Asked once at the start, beside
// everything else; whatever cannot be found out is no answer, never an exception.

import { readFile } from "node:fs/promises";
import { type StopTiming, parseDuration, stopTiming } from "../../core/forensics.ts";
import { type Run, run as runProgram } from "../command.ts";
import { scopeWords, unitFromCgroup } from "../supervised.ts";

export type TimingQuestion = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly drainSeconds: number;
  readonly run?: Run;
  readonly readCgroup?: () => Promise<string>;
};

export type UnitTiming = StopTiming & { readonly unit: string };

const limitMs = 2_000;

/** Null when no systemd runs us, or when it does not say. */
export async function checkStopTiming(question: TimingQuestion): Promise<UnitTiming | null> {
  const { env, drainSeconds, run = runProgram, readCgroup = () => readFile("/proc/self/cgroup", "utf8") } = question;
  if (!env["INVOCATION_ID"]) return null;
  try {
    const unit = unitFromCgroup(await readCgroup());
    if (unit === null) return null;
    const words = [...scopeWords(unit), "show", "--property=TimeoutStopUSec", "--value", unit.name];
    const shown = await run("systemctl", words, limitMs);
    const timeoutUs = shown.code === 0 ? parseDuration(shown.out) : null;
    return timeoutUs === null ? null : { unit: unit.name, ...stopTiming(timeoutUs, drainSeconds) };
  } catch (error) {
    // No such file, or a runner that failed: the same as no systemd.
    if (error instanceof Error) return null;
    throw error;
  }
}
