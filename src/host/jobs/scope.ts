// Where the holder of a job lives. systemd ends everything in the control group of a service with it, so below a service
// a holder is moved into a scope of its own, where systemd allows that. Where it does not, jobs run inside and end with
// the service; what became of them is then told as not known. The decision is pure; systemd is asked once.

import { readFile } from "node:fs/promises";
import { type Run, run as runProgram } from "../command.ts";
import { type Unit, scopeWords, unitFromCgroup } from "../supervised.ts";

export type Dwelling =
  /** A session of its own is enough: nobody ends it with us. */
  | { readonly type: "apart" }
  | { readonly type: "scope"; readonly unit: Unit }
  /** It ends with our service. */
  | { readonly type: "inside"; readonly unit: Unit; readonly why: string };

export type DwellingFacts = {
  readonly platform: NodeJS.Platform;
  readonly unit: Unit | null;
  /** What systemd said against a scope; null when it made one. */
  readonly refusal: string | null;
};

export function dwellingOf({ platform, unit, refusal }: DwellingFacts): Dwelling {
  if (platform !== "linux" || unit === null) return { type: "apart" };
  return refusal === null ? { type: "scope", unit } : { type: "inside", unit, why: refusal };
}

/** As many processes and threads as one command may have there; a fork bomb ends at it. */
const tasksMax = 4_096;

/** The words that start a program in a scope; it keeps the number of the process that they start. */
export function scopeCommand(unit: Unit, name: string): readonly string[] {
  return [
    "systemd-run",
    ...scopeWords(unit),
    "--scope",
    "--quiet",
    "--collect",
    `--unit=${name}`,
    `--description=A command of ${unit.name}`,
    `--property=TasksMax=${tasksMax}`,
    "--",
  ];
}

const askMs = 5_000;

/** Whether we may have scopes; asked for real, because only the answer tells. */
export async function findDwelling(run: Run = runProgram, platform = process.platform): Promise<Dwelling> {
  const unit = await ownUnit(platform);
  if (unit === null) return dwellingOf({ platform, unit, refusal: null });
  const [program = "", ...words] = scopeCommand(unit, `everturn-try-${process.pid}-${Date.now().toString(36)}`);
  const answer = await run(program, [...words, "true"], askMs);
  const refusal = answer.code === 0 ? null : answer.err.trim() || `it ended with ${answer.code ?? "no answer"}`;
  return dwellingOf({ platform, unit, refusal });
}

/** The service that this process belongs to; null when it is none of systemd's. */
export async function ownUnit(platform = process.platform): Promise<Unit | null> {
  return platform === "linux" ? unitFromCgroup(await cgroupOf("self")) : null;
}

/** Empty where there is no such process, or no such thing. */
export async function cgroupOf(pid: number | "self"): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/cgroup`, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}
