// How a life ended that left no word of its own: what the machine, the kernel, the memory limit and systemd know about
// it, as short sentences for people. Nothing is decided by them. It takes a bounded time, never throws, and says so when
// it could not look.

import { readFile as readFromDisk } from "node:fs/promises";
import { uptime } from "node:os";
import { sentenceOf } from "../core/fault.ts";
import { type Run, run as runProgram } from "./command.ts";
import { scopeWords, unitFromCgroup } from "./supervised.ts";

export type Death = {
  readonly pid: number;
  /** Milliseconds since the epoch, as all times here. */
  readonly startedAt: number;
  readonly lastBeatAt: number;
  /** The machine has not been started again since. */
  readonly machineSame: boolean;
};

export type Investigation = Death & {
  readonly now?: () => number;
  readonly uptimeSeconds?: () => number;
  readonly platform?: NodeJS.Platform;
  readonly run?: Run;
  readonly readFile?: (path: string) => Promise<string>;
  /** For all of it together. */
  readonly limitMs?: number;
};

const sentencesMax = 10;
/** Clocks that tell when a line was written are not quite ours. */
const slackSeconds = 60;

export async function gatherEvidence(investigation: Investigation): Promise<readonly string[]> {
  const { now = Date.now, uptimeSeconds = uptime, platform = process.platform, limitMs = 3_000 } = investigation;
  const found: string[][] = [[lastSign(investigation)]];
  const look = async (place: number, what: string, work: () => Promise<readonly string[]>) => {
    try {
      found[place] = [...(await work())];
    } catch (error) {
      found[place] = [`${what} could not be looked at (${sentenceOf(error)}).`];
    }
  };
  const { machineSame } = investigation;
  const looks = [look(1, "The uptime", async () => machineSentence(investigation, now(), uptimeSeconds()))];
  if (machineSame && platform === "linux") {
    const since = Math.max(0, uptimeSeconds() - (now() - investigation.startedAt) / 1_000 - slackSeconds);
    looks.push(look(2, "The kernel's log", () => askKernel(investigation, since)));
    looks.push(look(3, "The memory limit", () => askMemoryLimit(investigation)));
    looks.push(look(4, "The journal", () => askSystemd(investigation)));
  }
  await within(limitMs, Promise.all(looks));
  const sentences = found.flat().map((one) => clip(one));
  if (machineSame && sentences.length === 1) sentences.push(nothingKnown);
  return sentences.slice(0, sentencesMax);
}

const nothingKnown =
  "Nothing on this machine says what ended it: a kill from outside (SIGKILL) or a crash of the process itself are likely.";

function lastSign({ pid, lastBeatAt }: Death): string {
  return `Its last sign of life (pid ${pid}) was at ${new Date(lastBeatAt).toISOString()}.`;
}

/** Whether it was the machine that went away. */
export function machineSentence(death: Death, now: number, uptimeSeconds: number): readonly string[] {
  if (death.machineSame) return [];
  const startedAt = now - uptimeSeconds * 1_000;
  const when = new Date(startedAt).toISOString();
  if (startedAt < death.lastBeatAt - slackSeconds * 1_000)
    return [`It ran on another machine: this one has been up since ${when}, from before that sign of life.`];
  return [`The machine was started again at about ${when}: a power cut, a reboot or a crash of the machine ended it.`];
}

async function askKernel(investigation: Investigation, since: number): Promise<readonly string[]> {
  const { pid, run = runProgram } = investigation;
  const told = await run("dmesg", [], 1_500);
  if (told.code === 0) return kernelSentences(told.out, pid, since);
  const words = ["--dmesg", "--boot", "--output=short-monotonic", "--no-pager", "--quiet", "--lines=5000"];
  const kept = await run("journalctl", words, 1_500);
  if (kept.code === 0 && kept.out.trim() !== "") return kernelSentences(kept.out, pid, since);
  return [
    `The kernel's log is not readable for this user${reason(told.err)}, so a kill for lack of memory is not excluded.`,
  ];
}

/** What the kernel says it did to this process, from lines that begin with `[seconds since the machine started]`. */
export function kernelSentences(log: string, pid: number, sinceSeconds: number): readonly string[] {
  const ofIt = log.split("\n").flatMap((line) => {
    const [, seconds, text = ""] = /^\[\s*(\d+\.\d+)\]\s*(?:\S+ kernel: )?(.*)$/.exec(line) ?? [];
    return seconds !== undefined && Number(seconds) >= sinceSeconds ? [text.trim()] : [];
  });
  const first = (pattern: RegExp) => ofIt.find((text) => pattern.test(text));
  const killed = first(new RegExp(`Killed process ${pid}\\b`));
  const crashed = first(new RegExp(`\\[${pid}\\]:? .*(?:segfault|general protection|trap |invalid opcode|bus error)`));
  return [
    ...(killed === undefined ? [] : [`The kernel killed it because memory ran out: "${killed}".`]),
    ...(crashed === undefined ? [] : [`It crashed in native code: "${crashed}".`]),
  ];
}

async function askMemoryLimit({ readFile = fromDisk }: Investigation): Promise<readonly string[]> {
  const path = memoryEventsPath(await readFile("/proc/self/cgroup"));
  if (path === null) return [];
  try {
    return memorySentences(await readFile(path));
  } catch (error) {
    // The group at the top has no limit, and hence no such file.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Where the kernel counts what the memory limit of our service or container did; both generations of cgroups. */
export function memoryEventsPath(cgroup: string): string | null {
  const old = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m.exec(cgroup)?.[1];
  if (old !== undefined) return `/sys/fs/cgroup/memory${old === "/" ? "" : old}/memory.oom_control`;
  const unified = /^0::(\/.*)$/m.exec(cgroup)?.[1];
  return unified === undefined ? null : `/sys/fs/cgroup${unified === "/" ? "" : unified}/memory.events`;
}

export function memorySentences(events: string): readonly string[] {
  const kills = Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0);
  if (kills === 0) return [];
  const what = kills === 1 ? "one process" : `${kills} processes`;
  return [
    `The memory limit of this service or container has killed ${what} so far; the gateway may have been among them.`,
  ];
}

async function askSystemd(investigation: Investigation): Promise<readonly string[]> {
  const { pid, startedAt, run = runProgram, readFile = fromDisk } = investigation;
  const unit = unitFromCgroup(await readFile("/proc/self/cgroup"));
  if (unit === null) return [];
  const since = `--since=@${Math.floor(startedAt / 1_000)}`;
  const words = [
    ...scopeWords(unit),
    `--unit=${unit.name}`,
    since,
    "--output=cat",
    "--no-pager",
    "--quiet",
    "--lines=500",
  ];
  const told = await run("journalctl", words, 1_500);
  return told.code === 0 ? systemdSentences(told.out, pid) : [];
}

/** What systemd says about the end of a unit; our own lines in the same journal are left out by their form. */
export function systemdSentences(journal: string, pid: number): readonly string[] {
  const own = new RegExp(
    `: (?:Main process exited, .*|Watchdog timeout .*|State '[^']+' timed out\\..*|Killing process ${pid} .*|` +
      `A process of this unit has been killed by the OOM killer\\.|Failed with result '(?!exit-code)[^']+'\\.)$`,
  );
  const lines = journal.split("\n").filter((line) => /^[\w:.@\\-]+\.service: /.test(line) && own.test(line));
  return [...new Set(lines)].slice(-3).map((line) => `systemd says: "${line}"`);
}

const fromDisk = (path: string) => readFromDisk(path, "utf8");

function reason(err: string): string {
  const text = err.trim().split("\n")[0] ?? "";
  return text === "" ? "" : ` (${text})`;
}

function clip(text: string): string {
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

/** Whichever comes first: the work, or the end of its time. */
async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const clock = setTimeout(resolve, limitMs);
  await Promise.race([work, late]);
  clearTimeout(clock);
}
